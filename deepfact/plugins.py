"""How a kind named in a spec becomes an object: built-ins and third parties' entry points.

Every extension point (verifiers, auditors, ...) is a table of ``kind -> "module:class"`` plus
an entry-point group of the same meaning. Modules are imported when a kind is used, never
before. A class is called with the options of the spec as keyword arguments, checked against
its signature, so that a third party needs no base class and no schema.

This module knows nothing of any particular extension point.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Mapping, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from deepfact.errors import ConfigError, did_you_mean

_ANY_NAME = inspect.Parameter.VAR_KEYWORD


def build(
    group: str,
    built_in: Mapping[str, str],
    kind: str,
    options: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
) -> Any:
    """The object that ``kind`` and ``options`` describe.

    Args:
        group: entry-point group that third parties use, such as ``deepfact.verifiers``.
        built_in: ``kind -> "module:class"``.
        kind: the kind asked for.
        options: keyword arguments of its class.
        given: further arguments that deepfact supplies, to a class that asks for them by name;
            a spec cannot set these.

    Raises:
        ConfigError: unknown kind, unknown or missing option, option of the wrong type.
    """
    factory = _resolve(group, built_in, kind)
    given = given or {}
    asked = inspect.signature(factory).parameters
    supplied = {name: value for name, value in given.items() if name in asked}
    what = f"{group.removeprefix('deepfact.')} kind {kind!r}"
    return factory(**_checked(factory, what, options, given), **supplied)


def kinds(group: str, built_in: Mapping[str, str]) -> list[str]:
    """All kinds that can be built, sorted."""
    return sorted({*built_in, *(point.name for point in entry_points(group=group))})


def _resolve(group: str, built_in: Mapping[str, str], kind: str) -> Any:
    if kind in built_in:
        module, _, name = built_in[kind].partition(":")
        return getattr(import_module(module), name)
    point: EntryPoint | None = next(iter(entry_points(group=group, name=kind)), None)
    if point is None:
        hint = did_you_mean(kind, kinds(group, built_in))
        raise ConfigError(f"unknown kind {kind!r} of {group.removeprefix('deepfact.')}", fix=hint)
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"kind {kind!r} of {group.removeprefix('deepfact.')} cannot be loaded: {error}",
            where=f"entry point {point.value!r}",
            fix="install the package that brings it again, or tell its author",
        ) from error


def _checked(
    factory: Any, what: str, options: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The options, converted to the types that the factory's signature asks for."""
    signature = inspect.signature(factory).parameters
    named = {
        name: parameter
        for name, parameter in signature.items()
        if name not in given and parameter.kind not in (parameter.VAR_POSITIONAL, _ANY_NAME)
    }
    takes_any = any(parameter.kind is _ANY_NAME for parameter in signature.values())
    for name in options:
        if name not in named and (name in given or not takes_any):
            raise ConfigError(f"{what} has no option {name!r}", fix=did_you_mean(name, named))
    for name, parameter in named.items():
        if parameter.default is parameter.empty and name not in options:
            raise ConfigError(f"{what} needs the option {name!r}")
    target = factory.__init__ if inspect.isclass(factory) else factory
    hints = get_type_hints(target, include_extras=True)
    types = {name: hints.get(name, Any) if name in named else Any for name in options}
    return {name: _converted(types[name], what, name, options[name]) for name in options}


def _converted(wanted: Any, what: str, name: str, value: Any) -> Any:
    """One option's value. Each is checked on its own, so that it may have any name."""
    config = ConfigDict(arbitrary_types_allowed=True)
    option = create_model("Option", __config__=config, value=(wanted, ...))
    try:
        made: Any = option(value=value)
    except ValidationError as error:
        raise ConfigError(f"{what}, option {name!r}: {error.errors()[0]['msg']}") from None
    return made.value
