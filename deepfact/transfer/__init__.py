"""Transfer: verifiers on public data sets, and whether a disagreement is theirs or the label's.

`run` is the loop, `data` reads the data sets, `opening` checks and begins, `concluding` counts,
`planning` says what it would ask.
"""

from deepfact.transfer.run import run_transfer

__all__ = ["run_transfer"]
