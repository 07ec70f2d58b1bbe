"""The `nli` verifier: any sequence-classification model that the user has reads the sources."""

from deepfact.verifiers.nli.verifier import NliVerifier

__all__ = ["NliVerifier"]
