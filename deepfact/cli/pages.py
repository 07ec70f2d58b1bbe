"""How help is laid out: plain text, one line for a command, examples as they would be typed.

Plain, because a page of help is read in logs and searched as often as on a terminal, and because
drawing boxes costs more time than all the rest of the command line. Only the layout: what a command
says of itself stands in its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command whose examples are not wrapped, so that they can be copied."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the epilog: commands are left as they are."""
        for paragraph in (self.epilog or "").split("\n\n"):
            if paragraph.startswith("deepfact "):
                formatter.write(f"    {paragraph}\n")
            elif paragraph:
                formatter.write_paragraph()
                formatter.write_text(paragraph)


class Group(TyperGroup):
    """A group that lists each command with its whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, command.get_short_help_str(limit=formatter.width * 4))
            for name, command in named
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class App(typer.Typer):
    """A group of commands that shows its help when none is asked for."""

    def __init__(self, about: str, **settings: Any) -> None:
        super().__init__(
            help=about, cls=Group, no_args_is_help=True, rich_markup_mode=None, **settings
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """As `typer.Typer.command`, with this layout."""
        return super().command(name, cls=Command, **settings)
