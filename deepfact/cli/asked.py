"""The part of a group that is asked for: typer reads every parameter of every command it knows
before it runs one, which takes longer than `bench log` does.

Only leaves out; what is asked for is exactly as in the whole.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from typer.main import get_command_name


def asked_for(app: Any, words: Sequence[str]) -> Any:
    """``app`` with the one command or group that ``words`` begin with, and so on within a group.
    Where they begin with no name that is known, every name at this level is kept, for help and
    hints, but nothing in the groups.

    Args:
        app: a `typer.Typer`; it stays as it is.
        words: as typed, without the names of the program and of the groups around.
    """
    first = words[0] if words else ""
    groups = [info for info in app.registered_groups if _name(info) == first]
    commands = [info for info in app.registered_commands if _name(info) == first]
    if groups:
        inner = asked_for(groups[0].typer_instance, words[1:])
        return _with(app, [], [_holding(groups[0], inner)])
    if commands:
        return _with(app, commands, [])
    bare = [_holding(info, _with(info.typer_instance, [], [])) for info in app.registered_groups]
    return _with(app, app.registered_commands, bare)


def _with(app: Any, commands: list[Any], groups: list[Any]) -> Any:
    made = copy.copy(app)
    made.registered_commands, made.registered_groups = commands, groups
    return made


def _holding(group: Any, inner: Any) -> Any:
    made = copy.copy(group)
    made.typer_instance = inner
    return made


def _name(info: Any) -> str:
    return str(info.name or get_command_name(info.callback.__name__))
