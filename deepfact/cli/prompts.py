"""``deepfact prompts``: list, show and compare prompts, check them, release a version.

Only the shell: what the commands do is in `deepfact.prompts`, imported when a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json
from deepfact.cli.output import print_json, print_table
from deepfact.cli.pages import App
from deepfact.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from deepfact.prompts.library import Prompt
    from deepfact.prompts.lint import Problem

app = App(
    "The prompts that verifiers and auditors use: versioned, locked once released.",
)

Folder = Annotated[
    Path | None,
    typer.Option(
        envvar="DEEPFACT_PROMPTS",
        help="Folder of your own prompts, looked in before the shipped ones.  [default: prompts]",
        show_default=False,
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="PROMPT",
        help="role/name/vN, role/name for the newest version, or a path to a .md file.",
    ),
]


def _extra(folder: Path | None) -> list[Path]:
    if folder is not None and not folder.is_dir():
        raise InputError("no such folder", where=str(folder))
    return [folder] if folder is not None else []


@app.command(
    "list",
    epilog="Examples:\n\ndeepfact prompts list\n\n"
    "deepfact prompts list --folder configs/prompts --json",
)
def list_(folder: Folder = None, as_json: Json = False) -> None:
    """List all prompts that a config can name."""
    from deepfact.prompts.library import find_prompts, read_prompt

    prompts = [read_prompt(path, path.parents[2]) for path in find_prompts(_extra(folder)).values()]
    if as_json:
        print_json([_card(prompt) for prompt in prompts])
        return
    rows = [(p.id, _status(p), p.hash[7:19], p.front.changed) for p in prompts]
    print_table(("prompt", "status", "sha256", "what changed"), rows)


@app.command(
    epilog="Examples:\n\ndeepfact prompts show verifier/split\n\n"
    "deepfact prompts show verifier/bundled/v1 --json",
)
def show(prompt: Name, folder: Folder = None, as_json: Json = False) -> None:
    """Show one prompt: its text as it is stored, or everything about it as JSON."""
    from deepfact.prompts.library import load_prompt

    found = load_prompt(prompt, _extra(folder))
    if as_json:
        print_json(
            {
                **_card(found),
                "about": found.front.about,
                **found.front.model_dump(
                    mode="json", include={"verdict", "decision"}, exclude_none=True
                ),
                "output_schema": found.front.output_schema,
                "system": found.system,
                "user": found.user,
            }
        )
        return
    typer.echo(found.text.rstrip("\n"))


@app.command(
    epilog="Examples:\n\ndeepfact prompts diff verifier/bundled verifier/split\n\n"
    "deepfact prompts diff verifier/split/v1 prompts/verifier/mine/v2.md",
)
def diff(one: Name, other: Name, folder: Folder = None, as_json: Json = False) -> None:
    """Show what differs between two prompts, line by line."""
    import difflib

    from deepfact.prompts.library import load_prompt

    a, b = (load_prompt(name, _extra(folder)) for name in (one, other))
    lines = list(
        difflib.unified_diff(
            a.text.splitlines(), b.text.splitlines(), fromfile=a.id, tofile=b.id, lineterm=""
        )
    )
    if as_json:
        schemas_differ = a.front.output_schema != b.front.output_schema
        print_json(
            {
                "from": _card(a),
                "to": _card(b),
                "same": not lines,
                "output_schema_differs": schemas_differ,
                "diff": lines,
            }
        )
        return
    typer.echo("\n".join(lines) if lines else f"{a.id} and {b.id} are the same")


@app.command(
    epilog="Examples:\n\ndeepfact prompts lint\n\n"
    "deepfact prompts lint prompts/verifier/mine/v2.md\n\n"
    "deepfact prompts lint --folder configs/prompts --json",
)
def lint(
    prompts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROMPT]...", help="Which; all of all folders when left out."),
    ] = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Check prompts: variables, labels, data fences, schema, and that released ones are unchanged.

    Exit code 1 when there is an error; warnings alone pass.
    """
    from deepfact.prompts.library import folders
    from deepfact.prompts.lint import lint_folder

    extra = _extra(folder)
    if prompts:
        problems = [problem for name in prompts for problem in _lint_one(name, extra)]
    else:
        problems = [problem for place in folders(extra) for problem in lint_folder(place)]
    errors = sum(problem.level == "error" for problem in problems)
    if as_json:
        print_json({"errors": errors, "problems": [problem.as_dict() for problem in problems]})
    for problem in problems if not as_json else ():
        advice = f"\n  {problem.fix}" if problem.fix else ""
        typer.echo(f"{problem.prompt}: {problem.level}: {problem.what} [{problem.check}]{advice}")
    if errors:
        raise CheckFailed(f"{errors} error{'s' if errors > 1 else ''} in prompts")
    if not problems and not as_json:
        typer.echo("no problems")


@app.command(
    epilog="Examples:\n\ndeepfact prompts release verifier/mine/v2\n\n"
    "deepfact prompts release prompts/verifier/mine/v2.md",
)
def release(prompt: Name, folder: Folder = None, as_json: Json = False) -> None:
    """Put a version into its folder's lock: from then on its file may not change."""
    from deepfact.prompts.library import load_prompt
    from deepfact.prompts.library import release as put_in_lock

    extra = _extra(folder)
    problems = [one for one in _lint_one(prompt, extra) if one.level == "error"]
    if problems:
        raise CheckFailed(
            f"{prompt} has errors, the first: {problems[0].what}",
            fix=f"see them all with: deepfact prompts lint {prompt}",
        )
    found = load_prompt(prompt, extra)
    new = put_in_lock(found)
    if as_json:
        print_json({**_card(found), "new": new})
    else:
        typer.echo(f"{found.id}: {'released' if new else 'had been released already'}")


def _lint_one(name: str, extra: list[Path]) -> list[Problem]:
    """Problems of one prompt, found by the rules of `load_prompt` but read whatever its lock."""
    from deepfact.prompts.library import locate, read_lock, read_prompt
    from deepfact.prompts.lint import lint_prompt

    path, folder = locate(name, extra)
    prompt = read_prompt(path, folder)
    identity = path.resolve().relative_to(folder.resolve()).with_suffix("").as_posix()
    return lint_prompt(prompt, identity, read_lock(folder))


def _status(prompt: Prompt) -> str:
    from deepfact.prompts.library import read_lock

    released = read_lock(prompt.folder).get(prompt.id)
    if released is None:
        return "draft"
    return "released" if released == prompt.hash else "released, then changed"


def _card(prompt: Prompt) -> dict[str, Any]:
    return {
        "prompt": prompt.id,
        "name": prompt.front.name,
        "version": prompt.front.version,
        "status": _status(prompt),
        "hash": prompt.hash,
        "changed": prompt.front.changed,
        "path": str(prompt.path),
    }
