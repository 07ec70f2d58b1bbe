"""How the command line starts: fast, in any locale, with help whose examples are true."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from deepfact.cli.app import part, whole

Run = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = {
    "anthropic", "bm25s", "datasets", "httpx", "jinja2", "matplotlib", "numpy", "opentelemetry",
    "pandas", "pyarrow", "scipy", "sklearn", "xllamacpp",
}  # fmt: skip
ROOT: Any = typer.main.get_command(whole())


def commands(group: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands())


def examples(command: Any) -> list[str]:
    """The example lines of a command's help."""
    after = re.split(r"^Examples?:", command.epilog or "", maxsplit=1, flags=re.MULTILINE)
    return [line.strip() for line in after[-1].splitlines() if line.strip()] if after[1:] else []


# --- what is imported ---------------------------------------------------------------------


def imported(*words: str) -> set[str]:
    """Top-level modules that a command has loaded when it ends."""
    code = (
        "import sys\nfrom deepfact.cli.app import main\n"
        f"sys.argv = ['deepfact', *{list(words)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print('MODULES', *{name.partition('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    return set(done.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_help_imports_nothing_heavy(desk: Path, words: tuple[str, ...]) -> None:
    modules = imported(*words)
    assert "typer" in modules  # the list is read at all
    assert modules & (HEAVY | {"yaml", "filelock", "pydantic", "rich"}) == set()


def test_a_command_imports_no_other() -> None:
    code = "import sys\nfrom deepfact.cli.app import part\npart(['doctor'])\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    modules = done.stdout.split()
    assert "deepfact.cli.doctor" in modules
    assert not {"deepfact.cli.bench", "deepfact.cli.ab", "deepfact.cli.research"} & set(modules)


@pytest.mark.parametrize(
    "words",
    [("bench", "--help"), ("round", "run", "--help"), ("bench", "log", "small"),
     ("bench", "show", "small", "fin-1-01"), ("bench", "list"), ("bench", "verify", "small")],
)  # fmt: skip
def test_looking_at_a_benchmark_imports_nothing_heavy(desk: Path, words: tuple[str, ...]) -> None:
    assert imported(*words) & HEAVY == set()


def test_the_log_of_the_shipped_benchmark_imports_nothing_heavy(desk: Path) -> None:
    assert imported("bench", "log", "deepfact-mini") & HEAVY == set()


# --- only what is asked for is put together ------------------------------------------------


def names(words: list[str]) -> set[str]:
    """The commands and groups that there are for such words, groups' own commands included."""
    found: set[str] = set()
    todo = [("", typer.main.get_command(part(words)))]
    while todo:
        before, group = todo.pop()
        for name, command in getattr(group, "commands", {}).items():
            found.add(f"{before}{name}")
            todo.append((f"{before}{name} ", command))
    return found


def test_only_what_is_asked_for_is_put_together() -> None:
    top = set(ROOT.commands)
    assert names(["bench", "log", "x"]) == {"bench", "bench log"}
    assert names(["score", "bench"]) == {"score"}
    assert names(["bench"]) == {"bench"} | {n for n in COMMANDS if n.startswith("bench ")}
    for words in ([], ["--help"], ["-h"], ["--version"], ["benc"]):
        assert names(words) == top
    assert names(["--log-json", "bench", "score"]) == top | set(COMMANDS), "a value may be a name"


@pytest.mark.parametrize(
    "words",
    [["--help"], ["benc"], ["bench"], ["bench", "-h"], ["bench", "shw"], ["bench", "log", "--help"],
     ["bench", "log", "--jsn"], ["score", "--help"], ["--log-level", "bench", "score"]],
)  # fmt: skip
def test_what_is_asked_for_is_as_in_the_whole(words: list[str]) -> None:
    all_of_it, asked = (CliRunner().invoke(one, words) for one in (whole(), part(words)))
    assert (asked.output, asked.exit_code) == (all_of_it.output, all_of_it.exit_code)
    assert asked.output


# --- help ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_and_shows_examples(name: str) -> None:
    command = COMMANDS[name]
    assert len((command.help or "").split()) >= 4, "no help"
    shown = examples(command)
    assert shown, "no examples"
    assert any(line.startswith(f"deepfact {name}") for line in shown)
    for option in command.params:
        if option.param_type_name == "option" and option.name != "help":
            assert option.help, f"{option.name} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_parse(name: str) -> None:
    """Each example reaches a command that takes its options and arguments."""
    for line in examples(COMMANDS[name]):
        if not line.startswith("deepfact "):
            continue
        words = shlex.split(line.split("  #")[0].split(" | ")[0].split(" > ")[0])[1:]
        group = ROOT
        while hasattr(group, "commands"):
            assert words and words[0] in group.commands, line
            group = group.commands[words.pop(0)]
        group.make_context(group.name, words)


@pytest.mark.parametrize("words", [(), *[tuple(name.split()) for name in COMMANDS][:3]])
def test_help_can_be_asked_for_with_h_or_help(
    desk: Path, deepfact: Run, words: tuple[str, ...]
) -> None:
    assert deepfact(*words, "-h").stdout == deepfact(*words, "--help").stdout != ""


def test_exit_codes_are_in_the_help(deepfact: Run) -> None:
    said = " ".join(deepfact("--help").stdout.split())
    assert "0 done" in said and "2 wrong input" in said and "3 answers" in said


def test_a_wrong_option_is_exit_code_2_with_a_hint(deepfact: Run) -> None:
    done = deepfact("round", "run", "x.yaml", "--dryrun")
    assert done.returncode == 2 and "--dry-run" in done.stderr


# --- shell completion -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deepfact ", {"bench", "round", "audit", "score", "verify", "model"}),
        ("deepfact bench ", {"init", "import", "list", "show", "log", "diff", "blame", "verify",
                             "export", "revert", "merge", "seal"}),
        ("deepfact round re", {"resume", "report"}),
        ("deepfact round run --d", {"--dry-run"}),
    ],
)  # fmt: skip
def test_bash_completion_gives_the_subcommands(
    deepfact: Run, line: str, expected: set[str]
) -> None:
    words = line.split()
    at = len(words) if line.endswith(" ") else len(words) - 1
    done = deepfact(
        env={"_DEEPFACT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(at)}
    )
    assert done.returncode == 0, done.stderr
    assert expected <= set(done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_can_be_shown(deepfact: Run, shell: str) -> None:
    done = deepfact(env={"_DEEPFACT_COMPLETE": f"source_{shell}"})
    assert done.returncode == 0 and "_DEEPFACT_COMPLETE" in done.stdout


# --- locales --------------------------------------------------------------------------------

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "", "LANG": "C"}
ROWS = [
    {"id": "mühle-1", "text": "Die Mühle schloss 1931 – endgültig.", "label": "supported",
     "cites": ["s1"], "rationale": "steht so in der Chronik: „endgültig“"},
    {"id": "工場-2", "text": "工場は1931年に閉鎖された。", "label": "contradictory",
     "cites": ["s1"]},
    {"id": "μύλος-3", "text": "Ο μύλος έκλεισε 🏭.", "label": "inconclusive", "cites": ["s1"]},
]  # fmt: skip
SOURCE = {"id": "s1", "title": "Chronik – 年代記", "text": "Die Mühle schloss 1931. 終わり"}
SPEC = (
    "name: ätna\nbenchmark: welt\nchallenger: {kind: quoting, name: zitierend-é}\n"
    "auditors: [zoë]\ncommit_to: run\ncontrols: {agreed: 1}\n"
)


def test_this_locale_is_no_utf8(desk: Path) -> None:
    code = "import locale; print(locale.getpreferredencoding(False))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **ASCII}, capture_output=True, text=True
    )
    if "utf" in done.stdout.lower():
        pytest.skip("this system has no locale other than UTF-8")
    assert done.stdout.strip()


def test_files_are_utf8_whatever_the_locale(desk: Path, deepfact: Run) -> None:
    """Import, show, a round with a person who types umlauts, verdicts and export."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    Path("données.jsonl").write_text(text, "utf-8")
    Path("sources.jsonl").write_text(json.dumps(SOURCE, ensure_ascii=False) + "\n", "utf-8")
    Path("auditors/zoë.yaml").write_text("name: zoë\nkind: human\nabout: Zoë\n", "utf-8")
    Path("runde.yaml").write_text(SPEC, "utf-8")

    def ascii_only(*words: str, said: str | None = None, code: int = 0) -> str:
        done = deepfact(*words, said=said, env=ASCII)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    ascii_only("bench", "import", "jsonl", "données.jsonl", "--name", "welt",
               "--sources", "sources.jsonl", "--author", "Zoë Müller")  # fmt: skip
    shown = ascii_only("bench", "show", "welt", "mühle-1")
    assert ROWS[0]["text"] in shown and "„endgültig“" in shown and "年代記" in shown
    assert "工場は1931年に閉鎖された。" in ascii_only("bench", "show", "welt")
    assert "Zoë Müller" in ascii_only("bench", "log", "welt")
    assert json.loads(ascii_only("bench", "show", "welt", "工場-2", "--json"))

    ascii_only("round", "run", "runde.yaml", code=3)
    ascii_only("audit", "review", "results/ätna", said="a\nweil’s stimmt – ja 🏭\n" * 3)
    assert "ätna: complete" in ascii_only("round", "resume", "results/ätna")
    record = Path("results/ätna/record.json").read_text("utf-8")
    assert "weil’s stimmt – ja 🏭" in record and "zitierend-é" in record
    ascii_only("verify", "welt", "--verifier", "overlap", "--out", "verdikte-é.jsonl")
    ascii_only("score", "verdikte-é.jsonl", "--benchmark", "welt")
    ascii_only("bench", "export", "welt", "--to", "aus.csv", "--sources", "quellen.jsonl")
    assert "工場は1931年に閉鎖された。" in Path("aus.csv").read_text("utf-8")

    report = Path("results/ätna/report.html").read_text("utf-8")
    assert "Die Mühle schloss 1931" in report
    again = deepfact("bench", "show", "welt", "mühle-1")
    assert again.stdout == shown
    assert deepfact("bench", "verify", "welt").returncode == 0


def test_python_can_run_it_as_a_module() -> None:
    words = [sys.executable, "-m", "deepfact", "--version"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("deepfact ")
