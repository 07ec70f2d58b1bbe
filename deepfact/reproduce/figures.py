"""The figures that can be recomputed: which files each needs, which importer, which scheme.

A figure's id says what it is, such as ``multivers/scifact-checkpoint/scifact-test``, so one that
no list names can be asked for as well. Everything goes through `deepfact.importers` and
`deepfact.core.schemes`; nothing is read or counted here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable, Mapping

from deepfact.core.labels import DATA_SETS, lookup, to_binary
from deepfact.core.schemes import SCHEMES, SchemeScore
from deepfact.core.schemes.thresholds import best_threshold
from deepfact.errors import InputError
from deepfact.importers import factscore, importer, scifact
from deepfact.importers.base import Imported
from deepfact.importers.predictions import (
    deep_research,
    frank,
    multivers,
    openfactcheck,
    subtasks,
    wice,
)

_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Importers date their annotations; here they are only compared."""


@dataclass(slots=True)
class Data:
    """The folder of data sets, each file or data set read once."""

    folder: Path
    imported: dict[tuple[str, ...], Imported] = field(default_factory=dict)

    def file(self, name: str) -> Path:
        """A file of the folder.

        Raises:
            InputError: it is missing.
        """
        path = self.folder / name
        if not path.is_file():
            raise InputError("a file that this figure needs is missing", where=str(path))
        return path

    def claims(self, format: str, folder: str, split: str) -> Imported:
        """A split of a data set, by its importer."""
        key = (format, folder, split)
        if key not in self.imported:
            read = importer(format)
            self.imported[key] = read(self.folder / folder, when=_UNDATED, split=split)
        return self.imported[key]

    def names(self, pattern: str, cut: str) -> list[str]:
        """What ``cut`` captures in the names of the files that match a glob pattern."""
        found = [re.fullmatch(cut, path.name) for path in sorted(self.folder.glob(pattern))]
        return [match[1] for match in found if match]


@dataclass(frozen=True, slots=True)
class Family:
    """Figures that are computed alike."""

    pattern: str
    """Of the id; its groups are the arguments of ``compute``."""
    compute: Callable[..., SchemeScore]
    """``(data, *groups) -> score``."""
    known: Callable[[Data], list[str]]
    """The ids whose files are there."""
    order: tuple[str, ...] = ()
    """Names of values that a list gives by position; the first is that of a single number."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names of values."""
    licence: str = ""
    """What must be said of the data when it is used."""


def family(figure: str) -> tuple[Family, tuple[str, ...]]:
    """Which family a figure belongs to, and the parts of its id.

    Raises:
        InputError: none.
    """
    for found in FAMILIES:
        if match := re.fullmatch(found.pattern, figure):
            return found, match.groups()
    shapes = ", ".join(sorted({found.pattern.split("/")[0] + "/..." for found in FAMILIES}))
    raise InputError(
        f"nobody knows how to compute the figure {figure!r}", fix=f"ids start with: {shapes}"
    )


# --- OpenFactCheck ------------------------------------------------------------------------

_OFC = "openfactcheck-predictions/nc/predictions_765.jsonl"


def _openfactcheck(data: Data, name: str, source: str) -> SchemeScore:
    system = openfactcheck.system(name)
    claims = [c for c in openfactcheck.read(data.file(_OFC), name) if source in (c.source, "all")]
    if not claims:
        raise InputError(f"no claim is from {source!r}", where=str(data.folder / _OFC))
    return SCHEMES["binary"].function(
        [c.gold for c in claims], [c.answer for c in claims], unanswered=system.unanswered
    )


def _openfactcheck_known(data: Data) -> list[str]:
    if not (data.folder / _OFC).is_file():
        return []
    return [
        f"ofc/{name}/{source}"
        for name in openfactcheck.SYSTEMS
        for source in ("factool-qa", "felm-wk")
    ]


# --- SciFact, Citation-Integrity ----------------------------------------------------------

_CLAIM_SETS = {
    "scifact": ("scifact", "scifact", "scifact-"),
    "citint": ("citation-integrity", "citation-integrity", "citint-{split}-"),
}
"""Importer, folder, and what stands before the number in a claim's id."""


def _multivers(data: Data, checkpoint: str, name: str, split: str) -> SchemeScore:
    format, folder, prefix = _CLAIM_SETS[name]
    stored = f"{folder}/predictions_multivers/{checkpoint}_{name}_{split}.jsonl"
    answers = multivers.read(data.file(stored), format)
    imported = data.claims(format, folder, split)
    before = prefix.format(split=split)
    numbers = [int(claim.id.removeprefix(before)) for claim, _ in imported.claims]
    score = SCHEMES["document-labels"].function(
        [[annotation.label] if annotation else [] for _, annotation in imported.claims],
        [
            [found.label for found in answers[number].values()] if number in answers else None
            for number in numbers
        ],
    )
    left_out = {
        "claims without a label of their own": len(imported.skipped),
        "answers to other claims": len(set(answers) - set(numbers)),
    }
    return _leaving_out(score, left_out)


def _abstracts(data: Data, checkpoint: str, name: str, split: str) -> SchemeScore:
    format, folder, _ = _CLAIM_SETS[name]
    stored = data.file(f"{folder}/predictions_multivers/{checkpoint}_{name}_{split}.jsonl")
    answers = multivers.read(stored, format)
    names = scifact.CLAIM_FILES[split] if name == "scifact" else (f"claims_{split}.jsonl",)
    files = [data.folder / folder / name for name in names]
    there = next((file for file in files if file.is_file()), files[0])
    key = multivers.read_key(there, format)
    score = SCHEMES["abstracts"].function(list(key.values()), [answers.get(n) for n in key])
    return _leaving_out(score, {"answers to other claims": len(set(answers) - set(key))})


def _multivers_known(data: Data) -> list[str]:
    found = []
    for name, (_, folder, _) in _CLAIM_SETS.items():
        cut = rf"(\w+_{name}_(?:dev|test))\.jsonl"
        for stem in data.names(f"{folder}/predictions_multivers/*.jsonl", cut):
            checkpoint, _, split = stem.rpartition(f"_{name}_")
            found.append(f"multivers/{checkpoint}-checkpoint/{name}-{split}")
    return found


# --- FActScore, WiCE ----------------------------------------------------------------------


def _factscore(data: Data, system: str) -> SchemeScore:
    out = Imported()
    responses = list(factscore.responses(data.file(f"factscore/{system}.jsonl"), out))
    table = DATA_SETS["factscore"]
    score = SCHEMES["factscore"].function(
        [
            None
            if response.facts is None
            else [
                fact.word != factscore.IRRELEVANT and to_binary(lookup(table, fact.word))
                for fact in response.facts
            ]
            for response in responses
        ]
    )
    return _leaving_out(score, {"rows that cannot be read": len(out.skipped)})


def _wice(data: Data, model: str, split: str | None, chosen: str | None) -> SchemeScore:
    split = split or "test"
    scores = wice.read_scores(
        data.file(f"wice/model_outputs/{model}.{split}.entailment_score.json")
    )
    gold, found = _wice_pairs(data, scores, split)
    if chosen:
        stored = data.file(f"wice/model_outputs/{model}.dev.entailment_score.json")
        threshold = best_threshold(*_wice_pairs(data, wice.read_scores(stored), "dev"))
    else:
        stored = data.file("wice/model_outputs/stored_evaluation_supported_vs_rest.json")
        threshold = wice.read_threshold(stored, model)
    score = SCHEMES["threshold"].function(gold, found, threshold)
    missing = len(data.claims("wice", "wice", split).claims) - len(gold)
    return _leaving_out(score, {"claims without a score": missing})


def _wice_pairs(
    data: Data, scores: Mapping[str, float], split: str
) -> tuple[list[bool], list[float]]:
    pairs = [
        (to_binary(annotation.label), scores[claim.id.removeprefix("wice-")])
        for claim, annotation in data.claims("wice", "wice", split).claims
        if annotation is not None and claim.id.removeprefix("wice-") in scores
    ]
    return [gold for gold, _ in pairs], [score for _, score in pairs]


def _wice_known(data: Data) -> list[str]:
    models = data.names("wice/model_outputs/*.json", r"(.+)\.test\.entailment_score\.json")
    tuned = data.names("wice/model_outputs/*.json", r"(.+)\.dev\.entailment_score\.json")
    return [f"wice/oracle-claim/{model}" for model in models] + [
        f"wice/oracle-claim/{model}/dev-threshold" for model in tuned
    ]


# --- DeepResearch Bench, FRANK, Factcheck-Bench -------------------------------------------

_DRB = "deep-research-reports"
_FRANK = "frank/frank_human_and_metrics.csv"
_SUBTASKS = {
    "subtask1": "factcheck-bench/subtask1_sentence_checkworthiness.jsonl",
    "subtask2": "factcheck-bench/subtask2_claim_checkworthiness.jsonl",
    "subtask4": "factcheck-bench/subtask4_claim_factuality.jsonl",
}


def _fact(data: Data, name: str) -> SchemeScore:
    path = data.file(f"{_DRB}/drb_fork/fact_{name}.validated.no-page-text.jsonl")
    return SCHEMES["citation-accuracy"].function(deep_research.read_citations(path))


def _race(data: Data, name: str) -> SchemeScore:
    path = data.file(f"{_DRB}/race/{name}.raw_results.jsonl")
    return SCHEMES["task-means"].function(deep_research.read_scores(path))


def _frank(data: Data, metric: str, part: str | None) -> SchemeScore:
    rows = frank.read(data.file(_FRANK), metric)
    kept = [row for row in rows if part in (None, "all", row.split, row.data_set)]
    if not kept:
        raise InputError(f"no summary is of {part!r}", where=str(data.folder / _FRANK))
    return SCHEMES["partial-correlation"].function(
        [row.metric for row in kept],
        [row.judged for row in kept],
        [row.summarizer for row in kept],
    )


def _frank_known(data: Data) -> list[str]:
    path = data.folder / _FRANK
    if not path.is_file():
        return []
    return [f"frank/partial-correlation/{metric}" for metric in frank.metrics(path)]


def _baseline(data: Data, subtask: str, word: str) -> SchemeScore:
    gold = subtasks.read(data.file(_SUBTASKS[subtask]), subtask)
    classes = subtasks.COLUMNS[subtask][1]
    if subtask == "subtask1":  # scored as yes against anything else
        word = {"checkworthy": "yes"}.get(word, word)
        gold = [label if label == "yes" else "no" for label in gold]
        classes = ("yes", "no")
    if word not in classes:
        raise InputError(f"{word!r} is no label of {subtask}", fix=f"labels: {', '.join(classes)}")
    return SCHEMES["constant"].function(gold, word, classes)


def _baseline_known(data: Data) -> list[str]:
    words = {"subtask1": "checkworthy", "subtask2": "factual", "subtask4": "true"}
    return [
        f"factcheck-bench/{subtask}-all-{word}"
        for subtask, word in words.items()
        if (data.folder / _SUBTASKS[subtask]).is_file()
    ]


# --- the table ----------------------------------------------------------------------------


def _leaving_out(score: SchemeScore, more: Mapping[str, int]) -> SchemeScore:
    """The score with further units that do not count, where there are any."""
    found: dict[str, Any] = {why: count for why, count in more.items() if count}
    return replace(score, left_out={**score.left_out, **found})


def _named(prefix: str, pattern: str, cut: str) -> Callable[[Data], list[str]]:
    return lambda data: [f"{prefix}/{name}" for name in data.names(pattern, cut)]


FAMILIES: tuple[Family, ...] = (
    Family(
        r"ofc/([\w-]+)/([\w-]+)",
        _openfactcheck,
        _openfactcheck_known,
        order=tuple(f"{what}/{side}" for side in ("true", "false")
                    for what in ("precision", "recall", "f1")),
        licence="532 of its 765 claims are FELM's: CC BY-NC-SA 4.0, non-commercial",
    ),
    Family(
        r"multivers/([\w-]+)-checkpoint/(scifact|citint)-(train|dev|test)",
        _multivers,
        _multivers_known,
        order=("macro_f1",),
        also={"REFUTE": "f1/REFUTE", "NEI": "f1/NEI", "SUPPORT": "f1/SUPPORT",
              "macro": "macro_f1", "micro": "accuracy"},
    ),
    Family(
        r"multivers/([\w-]+)-checkpoint/(scifact|citint)-(train|dev|test)/abstracts",
        _abstracts,
        lambda data: [f"{name}/abstracts" for name in _multivers_known(data)],
    ),
    Family(
        r"factscore/human/([\w-]+)",
        _factscore,
        _named("factscore/human", "factscore/*.jsonl", r"(\w+)\.jsonl"),
        order=("score_pct",),
    ),
    Family(
        r"wice/oracle-claim/([^/]+?)(?:/(dev|test))?(?:/(dev-threshold))?",
        _wice,
        _wice_known,
        order=("f1",),
    ),
    Family(
        r"drb/fact/([\w.-]+)",
        _fact,
        _named("drb/fact", f"{_DRB}/drb_fork/fact_*.jsonl",
               r"fact_(.+)\.validated\.no-page-text\.jsonl"),
        order=("valid_rate",),
    ),
    Family(
        r"drb/race/([\w.-]+)",
        _race,
        _named("drb/race", f"{_DRB}/race/*.jsonl", r"(.+)\.raw_results\.jsonl"),
        order=deep_research.DIMENSIONS,
    ),
    Family(
        r"frank/partial-correlation/([^/]+)(?:/(\w+))?",
        _frank,
        _frank_known,
        order=("pearson", "spearman"),
    ),
    Family(
        r"factcheck-bench/(subtask1|subtask2|subtask4)-all-(\w+)",
        _baseline,
        _baseline_known,
        order=("accuracy", "macro_f1"),
    ),
)  # fmt: skip
"""In the order in which they are tried and listed."""
