"""The panel verifier: one prompt, n votes, one outcome that says how it came about."""

from deepfact.verifiers.panel.verifier import PanelVerifier

__all__ = ["PanelVerifier"]
