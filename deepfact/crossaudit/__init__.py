"""Cross-audit: several auditors audit several agents, on claims whose answer is known.

`run` is the loop, `stored` finds what need not be asked again, `claims` cuts the benchmark down to
the claims of the key, `planning` says what it would ask.
"""

from deepfact.crossaudit.run import run_crossaudit

__all__ = ["run_crossaudit"]
