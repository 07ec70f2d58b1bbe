"""Label mappings: ours to and from binary, ours to and from each data set's. In one place.

Every mapping is an explicit table. A word that is in no table is an error with a suggestion,
never a guess: no prefixes, no substrings, no "everything else". Pure; no I/O.

| data set           | supported          | contradictory        | inconclusive             |
|--------------------|--------------------|----------------------|--------------------------|
| scifact            | SUPPORT            | CONTRADICT, REFUTE   | no evidence, NEI         |
| citation-integrity | SUPPORT            | REFUTE               | no evidence, NEI         |
| factcheck-bench    | true               | false                | unknown, NA,             |
|                    |                    |                      | not_enough_evidence      |
| expertqa           | Definitely correct,| Likely incorrect,    | Unsure                   |
|                    | Probably correct   | Definitely incorrect |                          |
| expertqa-support   | Complete           |                      | Partial, Incomplete,     |
|                    |                    |                      | Missing                  |
| factscore          | S                  |                      | NS                       |
| wice               | supported          |                      | partially_supported,     |
|                    |                    |                      | not_supported            |
| veriscore          | Supported.         | Contradicted.        | Inconclusive.            |
| veriscore-verdicts | supported          |                      | unsupported              |
| averitec           | Supported          | Refuted              | Not Enough Evidence,     |
|                    |                    |                      | Conflicting              |
|                    |                    |                      | Evidence/Cherrypicking   |
| halueval           | no                 | yes                  |                          |
| openfactcheck      | True               | False                |                          |
| deepfact-bench     | supported          | contradictory,       | inconclusive             |
|                    |                    | contradicted, false, |                          |
|                    |                    | incorrect, refuted   |                          |
| deepfact           | supported          | contradictory        | inconclusive             |

Binary follows DeepFact's rule, supported against the rest. There is no way back from the
rest: it is two labels, so `FROM_BINARY` gives both. Where a data set has one word for the rest
(`ONE_WORD_FOR_THE_REST`), that word says no more than that support is missing, so three-way
scores mean little there; read the binary ones.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Mapping

from deepfact.errors import InputError, did_you_mean
from deepfact.records import Label

TO_BINARY: Mapping[Label, bool] = MappingProxyType(
    {Label.SUPPORTED: True, Label.CONTRADICTORY: False, Label.INCONCLUSIVE: False}
)
"""DeepFact's rule: True is supported, False is everything else that is known."""

FROM_BINARY: Mapping[bool, tuple[Label, ...]] = MappingProxyType(
    {True: (Label.SUPPORTED,), False: (Label.CONTRADICTORY, Label.INCONCLUSIVE)}
)
"""The labels that a binary value stands for. False stands for two, so it maps to no single one."""

NO_EVIDENCE = "no evidence"
"""What SciFact and Citation-Integrity say by publishing an empty ``evidence``: they have no
word for it, so this one is recorded."""

DATA_SETS: Mapping[str, Mapping[str, Label]] = MappingProxyType(
    {
        "scifact": MappingProxyType(
            {
                "SUPPORT": Label.SUPPORTED,
                "CONTRADICT": Label.CONTRADICTORY,
                "REFUTE": Label.CONTRADICTORY,
                NO_EVIDENCE: Label.INCONCLUSIVE,
                "NEI": Label.INCONCLUSIVE,
            }
        ),
        "citation-integrity": MappingProxyType(
            {
                "SUPPORT": Label.SUPPORTED,
                "REFUTE": Label.CONTRADICTORY,
                NO_EVIDENCE: Label.INCONCLUSIVE,
                "NEI": Label.INCONCLUSIVE,
            }
        ),
        "factcheck-bench": MappingProxyType(
            {
                "true": Label.SUPPORTED,
                "false": Label.CONTRADICTORY,
                "unknown": Label.INCONCLUSIVE,
                "NA": Label.INCONCLUSIVE,
                "not_enough_evidence": Label.INCONCLUSIVE,
            }
        ),
        # Is it true? "Probably" is as far as an expert goes who has looked.
        "expertqa": MappingProxyType(
            {
                "Definitely correct": Label.SUPPORTED,
                "Probably correct": Label.SUPPORTED,
                "Unsure": Label.INCONCLUSIVE,
                "Definitely incorrect": Label.CONTRADICTORY,
                "Likely incorrect": Label.CONTRADICTORY,
            }
        ),
        # Does the cited source back it? An axis of its own: nobody was asked for contradictions.
        "expertqa-support": MappingProxyType(
            {
                "Complete": Label.SUPPORTED,
                "Partial": Label.INCONCLUSIVE,
                "Incomplete": Label.INCONCLUSIVE,
                "Missing": Label.INCONCLUSIVE,
            }
        ),
        "factscore": MappingProxyType({"S": Label.SUPPORTED, "NS": Label.INCONCLUSIVE}),
        "wice": MappingProxyType(
            {
                "supported": Label.SUPPORTED,
                "partially_supported": Label.INCONCLUSIVE,
                "not_supported": Label.INCONCLUSIVE,
            }
        ),
        # The full stop is part of the published label.
        "veriscore": MappingProxyType(
            {
                "Supported.": Label.SUPPORTED,
                "Contradicted.": Label.CONTRADICTORY,
                "Inconclusive.": Label.INCONCLUSIVE,
            }
        ),
        "veriscore-verdicts": MappingProxyType(
            {"supported": Label.SUPPORTED, "unsupported": Label.INCONCLUSIVE}
        ),
        # The fourth label: evidence that conflicts does not settle the claim, and a picked truth
        # is qualified, not refuted. See docs/decisions/0050.
        "averitec": MappingProxyType(
            {
                "Supported": Label.SUPPORTED,
                "Refuted": Label.CONTRADICTORY,
                "Not Enough Evidence": Label.INCONCLUSIVE,
                "Conflicting Evidence/Cherrypicking": Label.INCONCLUSIVE,
            }
        ),
        # Whether the answer hallucinates: a whole answer takes the label of its worst claim.
        "halueval": MappingProxyType({"no": Label.SUPPORTED, "yes": Label.CONTRADICTORY}),
        "openfactcheck": MappingProxyType({"True": Label.SUPPORTED, "False": Label.CONTRADICTORY}),
        # In lower case: the data set writes them in any case.
        "deepfact-bench": MappingProxyType(
            {
                "supported": Label.SUPPORTED,
                "contradictory": Label.CONTRADICTORY,
                "contradicted": Label.CONTRADICTORY,
                "incorrect": Label.CONTRADICTORY,
                "refuted": Label.CONTRADICTORY,
                "false": Label.CONTRADICTORY,
                "inconclusive": Label.INCONCLUSIVE,
            }
        ),
        "deepfact": MappingProxyType({label.value: label for label in Label}),
    }
)
"""``data set -> published label -> ours``. Where several published labels mean one of ours, the
first is the one that `to_data_set` writes."""

ONE_WORD_FOR_THE_REST = frozenset(
    {"expertqa-support", "factscore", "wice", "veriscore-verdicts", "halueval"}
)
"""Data sets whose words do not tell contradictory from inconclusive: only scores of supported
against the rest are meant by their labels."""


def to_binary(label: Label) -> bool:
    """Whether a label is the positive class of DeepFact's binary scores."""
    return TO_BINARY[label]


def from_data_set(data_set: str, published: str, *, where: str = "") -> Label:
    """Our label for a label as a data set publishes it, case and all.

    Args:
        data_set: a key of `DATA_SETS`.
        published: the data set's own word.
        where: file and line, for the error.

    Raises:
        InputError: no such data set, or a label that its table does not have.
    """
    return lookup(_table(data_set), published, where=where)


def to_data_set(data_set: str, label: Label) -> str:
    """The word that a data set publishes for our label; the reverse of `from_data_set`.

    Raises:
        InputError: no such data set, or it has no word for the label.
    """
    for published, ours in _table(data_set).items():
        if ours is label:
            return published
    raise InputError(
        f"{data_set} has no word for {label}",
        fix=f"its words: {', '.join(_table(data_set))}",
    )


def lookup(table: Mapping[str, Label], published: str, *, where: str = "", fix: str = "") -> Label:
    """Our label for ``published`` in a table of a data set or of a mapping file.

    Args:
        fix: added to the suggestion, such as where the table can be extended.

    Raises:
        InputError: the label is not in the table.
    """
    if published in table:
        return table[published]
    known = ", ".join(table)
    hint = did_you_mean(published, table)
    advice = [hint if hint.startswith("did") else "", f"labels known here: {known}", fix]
    raise InputError(
        f"unknown label {published!r}", where=where, fix="; ".join(part for part in advice if part)
    )


def _table(data_set: str) -> Mapping[str, Label]:
    if data_set not in DATA_SETS:
        raise InputError(
            f"no label table for the data set {data_set!r}", fix=did_you_mean(data_set, DATA_SETS)
        )
    return DATA_SETS[data_set]
