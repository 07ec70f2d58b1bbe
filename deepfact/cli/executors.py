"""``--executor`` and what goes with it: where a command's verifiers are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deepfact.executors.base import Executor

Kind = Annotated[
    str,
    typer.Option("--executor", help="Where verifiers are asked: local, or ray (a cluster)."),
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        help="With --executor ray: the cluster, such as auto or 10.0.0.1:6379.  [default: one "
        "started on this machine for this run]",
        show_default=False,
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--executor-option",
        metavar="NAME=VALUE",
        help="An option of the executor, such as workers=8, num_cpus=2 or num_gpus=1; may be "
        "repeated.",
        show_default=False,
    ),
]


def executor_of(kind: str, address: str, options: list[str] | None) -> Executor | None:
    """The executor that the options of a command describe; None for the local one.

    Raises:
        InputError: unknown kind or option, or one that is not written as ``NAME=VALUE``.
        MissingExtraError: what it needs is not installed.
    """
    if kind == "local" and not address and not options:
        return None
    from deepfact.errors import ConfigError, InputError
    from deepfact.executors.base import build_executor

    if kind == "local":
        raise InputError("these are options of a cluster", fix="add --executor ray", where=address)
    given: dict[str, str] = {"address": address} if address else {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name or name in given:
            raise ConfigError(
                f"{option!r} is not one NAME=VALUE", where="--executor-option",
                fix="such as --executor-option workers=8, each name once",
            )  # fmt: skip
        given[name] = value
    return build_executor(kind, given)
