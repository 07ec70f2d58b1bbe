"""What is wrong with a prompt, before it costs anything. Reads prompt files; changes nothing.

Convention that makes the check of words possible: in a prompt's text, field names and
enumerated words stand in backticks, and nothing else does but tags, codes and source ids.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterator, Literal

from deepfact.errors import InputError, did_you_mean
from deepfact.prompts.fence import FENCES
from deepfact.prompts.library import Prompt, files_in, read_lock, read_prompt
from deepfact.prompts.render import ROLES, VARIABLE, Role, variables
from deepfact.prompts.schema import unknown_keywords, words_of
from deepfact.prompts.steps import STEPS, parts_of

ANSWER_FIELDS = {
    "verifier": frozenset(
        ("claim_id", "claim", "rationale", "grounds", "contradiction", "qualifications", "found",
         "evidence")
    ),
    "auditor": frozenset(
        ("claim_id", "claim", "rationale", "queries", "contradiction", "evidence", "label",
         "divergence")
    ),
}  # fmt: skip
"""By role: fields of an answer that are read, beside the one that carries verdict or decision."""
NEEDED = {
    "verifier": ("claim_id", "claim", "rationale", "grounds", "evidence"),
    "auditor": ("claim_id", "claim", "rationale", "contradiction", "evidence", "label"),
}
_TAG = re.compile(r"<(/?[a-z_]+)>")
_BACKTICKED = re.compile(r"`([^`\n]+)`")
_NO_WORD = re.compile(r"</?[a-z_]+>|&[a-z]+;|&#x[0-9A-F]+;|[SEQ]\d+|true|false|null")


@dataclass(frozen=True)
class Problem:
    """One finding of the lint."""

    prompt: str
    check: str
    what: str
    fix: str = ""
    level: Literal["error", "warning"] = "error"

    def as_dict(self) -> dict[str, str]:
        """For JSON output."""
        return asdict(self)


def lint_folder(folder: Path) -> list[Problem]:
    """All problems of the prompts of a folder and of its lock."""
    try:
        lock = read_lock(folder)
    except InputError as error:
        return [Problem("", "lock", error.what, "restore it from version control")]
    problems: list[Problem] = []
    files = files_in(folder)
    for identity, path in files:
        try:
            prompt = read_prompt(path, folder)
        except InputError as error:
            problems.append(Problem(identity, "form", error.what, error.fix))
            continue
        problems.extend(lint_prompt(prompt, identity, lock))
    present = {identity for identity, _ in files}
    problems.extend(
        Problem(identity, "lock", "a released version is gone", "restore it from version control")
        for identity in lock
        if identity not in present
    )
    return problems


def lint_prompt(prompt: Prompt, identity: str, lock: dict[str, str]) -> list[Problem]:
    """All problems of one prompt.

    Args:
        identity: what its path says that it is.
        lock: hashes of released versions by id.
    """
    found = [
        *_identity(prompt, identity),
        *_lock(prompt, lock),
        *_variables(prompt),
        *_schema(prompt),
        *_words(prompt),
    ]
    return [Problem(identity, *finding) for finding in found]


Finding = tuple[str, str, str, Literal["error", "warning"]]


def _identity(prompt: Prompt, identity: str) -> Iterator[Finding]:
    if prompt.id != identity:
        yield "identity", f"the file is {identity}, its front matter says {prompt.id}", "", "error"
    if not prompt.front.changed.strip():
        yield "changed", "the front matter does not say what changed", "", "error"


def _lock(prompt: Prompt, lock: dict[str, str]) -> Iterator[Finding]:
    released = lock.get(prompt.id)
    if released is None:
        fix = f"release it with: deepfact prompts release {prompt.id}"
        yield "lock", "this version is a draft: it is not in the lock", fix, "warning"
    elif released != prompt.hash:
        fix = f"put it back, and write the change as v{prompt.front.version + 1}.md"
        yield "lock", "a released version was changed", fix, "error"


def _variables(prompt: Prompt) -> Iterator[Finding]:
    role = ROLES.get(prompt.role)
    if prompt.front.step:
        if prompt.front.step not in STEPS:
            hint = did_you_mean(prompt.front.step, STEPS)
            yield "step", f"there is no step {prompt.front.step!r}", hint, "error"
            return
        role = STEPS[prompt.front.step].role
    if role is None:
        yield "role", f"unknown role {prompt.role!r}", did_you_mean(prompt.role, ROLES), "error"
        return
    used = variables(prompt.system + "\n" + prompt.user)
    for name in dict.fromkeys(used):
        if name not in role.known:
            hint = did_you_mean(name, role.known)
            yield "unknown-variable", f"unknown variable {{{{{name}}}}}", hint, "error"
    for name in sorted(role.required - set(used)):
        fix = "without it the model does not see what it is asked about"
        yield "missing-variable", f"the variable {{{{{name}}}}} is missing", fix, "error"
    yield from _fences(prompt, role)


def _fences(prompt: Prompt, role: Role) -> Iterator[Finding]:
    """Data in the system part, or in the user part outside the element of its name."""
    for name in sorted(role.data & set(variables(prompt.system))):
        fix = "move it to the user part: the system part is shared by all claims"
        yield "outside-fence", f"{{{{{name}}}}} stands in the system part", fix, "error"
    for match in VARIABLE.finditer(prompt.user):
        name, enclosing = match.group(1), _enclosing(prompt.user, match)
        if name in role.data and (enclosing != name or name not in FENCES):
            fix = f"write <{name}>, then {{{{{name}}}}}, then </{name}>, each on a line of its own"
            what = f"{{{{{name}}}}} stands outside <{name}> ... </{name}>"
            yield "outside-fence", what, fix, "error"
        elif name == "persona" and enclosing:
            yield "outside-fence", "{{persona}} stands inside a data fence", "", "error"


def _enclosing(text: str, match: re.Match[str]) -> str:
    """The element that directly encloses a variable, or an empty string."""
    before = _TAG.findall(text[: match.start()])
    after = _TAG.search(text, match.end())
    opened = str(before[-1]) if before else ""
    return opened if after is not None and after.group(1) == f"/{opened}" else ""


def _schema(prompt: Prompt) -> Iterator[Finding]:
    schema: dict[str, Any] = prompt.front.output_schema
    for word in unknown_keywords(schema):
        yield "schema", f"the output schema uses {word}, which is not checked", "", "error"
        return
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        fix = "type: object and additionalProperties: false"
        yield "schema", "the output schema must be a closed object", fix, "error"
    if prompt.front.step:
        yield from _step_parts(prompt)
        return
    properties = schema.get("properties", {})
    table = prompt.front.verdict or prompt.front.decision
    if table is None or prompt.role not in ANSWER_FIELDS:
        return  # the role is unknown, which is said elsewhere
    if (prompt.front.decision is not None) != (prompt.role == "auditor"):
        needs = "decision" if prompt.role == "auditor" else "verdict"
        yield "schema", f"a prompt of this role needs a {needs} table", "", "error"
        return
    for name in (*NEEDED[prompt.role], table.field):
        if name not in properties or name not in schema.get("required", ()):
            yield "schema", f"the output schema does not require {name!r}", "", "error"
    known_fields = ANSWER_FIELDS[prompt.role]
    for name in properties:
        if name not in known_fields and name != table.field:
            hint = did_you_mean(name, {*known_fields, table.field})
            yield "schema", f"nothing reads the field {name!r}", hint, "error"
    yield from _table(prompt, properties.get(table.field, {}), table.field)


def _step_parts(prompt: Prompt) -> Iterator[Finding]:
    """Parts of the answer that the step needs and the schema does not require, or nobody reads."""
    step = STEPS.get(prompt.front.step)
    if step is None:
        return  # said elsewhere
    parts = dict(parts_of(prompt.front.output_schema))
    for name in sorted(step.reads):
        if not parts.get(name, False):
            yield "schema", f"the output schema does not require {name!r}", "", "error"
    for name in sorted(parts.keys() - step.reads):
        yield "schema", f"nothing reads {name!r}", did_you_mean(name, step.reads), "error"


def _table(prompt: Prompt, field: dict[str, Any], name: str) -> Iterator[Finding]:
    """Words of the table that the schema does not know, and the other way round."""
    kind = "decision's moves" if prompt.front.decision is not None else "verdict's labels"
    words = _table_words(prompt)
    values = {"true", "false"} if field.get("type") == "boolean" else set(field.get("enum", ()))
    for word in sorted(set(words) ^ values):
        where = f"the {kind}" if word in values else f"the schema's {name!r}"
        yield "labels", f"{word!r} is not among {where}", did_you_mean(word, values), "error"
    for word in sorted(set(prompt.front.verdict.refuting if prompt.front.verdict else ())):
        if word not in words:
            hint = did_you_mean(word, words)
            yield "labels", f"refuting: {word!r} is not among the verdict's labels", hint, "error"


def _table_words(prompt: Prompt) -> list[str]:
    """The words that a verdict or a decision may be."""
    if prompt.front.verdict is not None:
        return list(prompt.front.verdict.labels)
    return list(prompt.front.decision.moves) if prompt.front.decision is not None else []


def _words(prompt: Prompt) -> Iterator[Finding]:
    """Words in backticks that the schema does not have, and verdicts nobody explains."""
    known = words_of(prompt.front.output_schema)
    text = f"{prompt.system}\n{prompt.user}"
    mentioned = _BACKTICKED.findall(text)
    for word in dict.fromkeys(mentioned):
        if word not in known and not _NO_WORD.fullmatch(word):
            hint = did_you_mean(word, known)
            yield "labels", f"`{word}` is not a word of the output schema", hint, "error"
    what = "verdict" if prompt.front.verdict is not None else "decision"
    for word in _table_words(prompt):
        if word not in mentioned:
            fix = "say in the text when it applies, with the word in backticks"
            yield "labels", f"the {what} `{word}` is never explained", fix, "warning"
