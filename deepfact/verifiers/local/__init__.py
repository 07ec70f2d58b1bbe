"""The local verifier: what `deepfact.reading` finds of a claim, weighed by a small model."""

from deepfact.verifiers.local.verifier import LocalVerifier

__all__ = ["LocalVerifier"]
