"""deepfact: revisable factuality benchmarks, Audit-then-Score rounds, verifier regression.

The names below are all of the public API; each is imported when it is first used.
"""

from __future__ import annotations

from typing import Any

from deepfact.version import VERSION

__version__ = VERSION

__all__ = ["__version__", "ab", "load", "read_run", "run_round", "score", "verify"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from deepfact import api

        return getattr(api, name)
    raise AttributeError(f"module 'deepfact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
