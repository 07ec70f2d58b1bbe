"""Makes the judges and the kit importable; test folders here are not packages."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_HERE = Path(__file__).parent
_SHARED = {
    "rule_following": _HERE.parents[1] / "judges" / "rule_following.py",
    "document_steps": _HERE.parents[1] / "judges" / "document_steps.py",
    "document_kit": _HERE / "document_kit.py",
}

for _name, _path in _SHARED.items():
    if _name not in sys.modules:
        _spec = spec_from_file_location(_name, _path)
        assert _spec is not None
        assert _spec.loader is not None
        sys.modules[_name] = module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])
