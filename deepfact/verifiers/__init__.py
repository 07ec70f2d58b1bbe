"""Verifiers: what reads sources and concludes on claims. They never see keys or labels."""

from deepfact.verifiers.base import Context, Verifier, build_verifier, verifier_kinds

__all__ = ["Context", "Verifier", "build_verifier", "verifier_kinds"]
