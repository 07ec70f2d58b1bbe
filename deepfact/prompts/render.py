"""A prompt with its variables filled in, once and by plain substitution.

Nothing is evaluated: a value that holds ``{{claim}}`` stays as it is. Every value is escaped
here, in the one place where data enters a prompt, so a caller cannot forget it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Sequence

from deepfact.errors import ConfigError, did_you_mean
from deepfact.prompts.fence import escape, one_line
from deepfact.prompts.library import Prompt
from deepfact.records import Source

VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


@dataclass(frozen=True)
class Role:
    """Which variables the prompts of a role may and must use."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    """Those that carry text from outside: only inside a fence, only in the user part."""

    @property
    def known(self) -> frozenset[str]:
        """All variables."""
        return self.required | self.optional


ROLES: Mapping[str, Role] = {
    "verifier": Role(
        required=frozenset(("claim_id", "claim", "sources")),
        optional=frozenset(("context", "persona")),
        data=frozenset(("claim", "context", "sources")),
    ),
    "auditor": Role(
        required=frozenset(("claim_id", "claim", "side_a", "side_b", "sources")),
        optional=frozenset(("context", "searches")),
        data=frozenset(("claim", "context", "side_a", "side_b", "sources", "searches")),
    ),
}


@dataclass(frozen=True)
class Shown:
    """A source, or passages of it, as a prompt shows it."""

    tag: str
    """The short id that the model uses for it, such as ``S1``."""
    source: Source
    text: str
    """What is shown of its text; omissions are marked."""
    cited: bool = True
    because: str = ""
    """Why a source that is not cited is shown; found by search when empty."""


def source_block(shown: Shown) -> str:
    """One source as it stands inside the fence, every field escaped."""
    source = shown.source
    about = f"role: {source.role}; trust: {source.trust}"
    if source.published:
        about += f"; published: {source.published}"
    why = shown.because or "found by search"
    about += "; cited by the claim's author" if shown.cited else f"; not cited, {why}"
    return (
        f'<source id="{shown.tag}">\n<title>{one_line(source.title)}</title>\n'
        f"<about>{one_line(about)}</about>\n<text>\n{escape(shown.text)}\n</text>\n</source>"
    )


def render(
    prompt: Prompt,
    *,
    claim_id: str,
    claim: str,
    context: str,
    sources: Sequence[Shown],
    persona: str = "",
) -> tuple[str, str]:
    """System and user part of a verifier prompt for one claim.

    Args:
        claim_id: goes in as it is; give a safe one.
        persona: trusted text of the config, put where the prompt says.

    Raises:
        ConfigError: the prompt uses a variable that its role does not have, or a persona is
            given and the prompt has no place for it.
    """
    values = {
        "claim_id": one_line(claim_id),
        "claim": escape(claim),
        "context": escape(context) if context.strip() else "(none)",
        "sources": "\n".join(source_block(shown) for shown in sources),
        "persona": persona,
    }
    if persona and "persona" not in variables(prompt.system + prompt.user):
        raise ConfigError(
            f"{prompt.id} has no place for a persona",
            where=str(prompt.path),
            fix="leave the personas out, or use a prompt with {{persona}} in it",
        )
    return fill(prompt, values)


def fill(prompt: Prompt, values: Mapping[str, str]) -> tuple[str, str]:
    """System and user part with values filled in as they are: whoever gives them escapes them.

    Raises:
        ConfigError: the prompt uses a variable that is not among them.
    """
    return _filled(prompt, prompt.system, values), _filled(prompt, prompt.user, values)


def variables(text: str) -> list[str]:
    """The variables of a prompt's text, in order, repeats included."""
    return [match.group(1) for match in VARIABLE.finditer(text)]


def _filled(prompt: Prompt, text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise ConfigError(
                f"{prompt.id} uses an unknown variable {name!r}",
                where=str(prompt.path),
                fix=did_you_mean(name, values),
            )
        return values[name]

    return VARIABLE.sub(value, text).strip()
