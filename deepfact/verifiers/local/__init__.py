"""The local verifier and its parts.

`elements`, `compare` and `findings` are pure and free of labels, so that auditors can use the
same checks and draw their own conclusions. `training/` is for developers; nothing at run time
imports it.
"""

from deepfact.verifiers.local.verifier import LocalVerifier

__all__ = ["LocalVerifier"]
