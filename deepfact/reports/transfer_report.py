"""The report of a transfer run, as HTML and as Markdown: whose error a disagreement is.

Shows what the record holds; every share with its n, its interval and what was unverified, every
reason word for word. Works out nothing.
"""

from __future__ import annotations

from pathlib import Path

from deepfact.measure_records import Estimate
from deepfact.records import DivergenceKind, canonical_json, sha256_of
from deepfact.reports import study
from deepfact.reports.round_report import without_secrets
from deepfact.reports.stacked import Part, StackedBar, StackedBars
from deepfact.reports.study import Section, Study, Table
from deepfact.reports.templating import rate_words
from deepfact.store.files import write_text
from deepfact.transfer_records import CaseFinding, Finding, Share, TransferRecord

SIMULATED = (
    "An auditor is a simulation that knows the answers and errs at a stated rate. The figures show "
    "how a transfer run reads, and say nothing of people or models."
)
LISTED = 400
"""Cases that a report lists; the record holds all."""

KINDS = {
    DivergenceKind.EVIDENCE_MISMATCH: "evidence and label don't match",
    DivergenceKind.NOT_VERIFIABLE: "not verifiable or ambiguous",
    DivergenceKind.SUBJECTIVE: "subjective or underspecified",
    DivergenceKind.NO_RATIONALE: "no gold rationale to settle it",
}
FINDINGS = {
    Finding.AGREEMENT: "agreement",
    Finding.DIVERGENCE: "annotation divergence",
    Finding.MODEL_ERROR: "likely model error",
    Finding.UNDECIDED: "undecided",
    Finding.WAITING: "waiting for a decision",
    Finding.UNVERIFIED: "unverified",
}

_LETTERS: dict[tuple[Finding, DivergenceKind | None], tuple[str, str]] = {
    (Finding.AGREEMENT, None): ("A", "pale"),
    (Finding.DIVERGENCE, DivergenceKind.EVIDENCE_MISMATCH): ("E", "rising"),
    (Finding.DIVERGENCE, DivergenceKind.NOT_VERIFIABLE): ("V", "falling"),
    (Finding.DIVERGENCE, DivergenceKind.SUBJECTIVE): ("S", "upright"),
    (Finding.DIVERGENCE, DivergenceKind.NO_RATIONALE): ("R", "level"),
    (Finding.DIVERGENCE, None): ("D", "crossed"),
    (Finding.MODEL_ERROR, None): ("M", "solid"),
    (Finding.UNDECIDED, None): ("U", "dotted"),
    (Finding.WAITING, None): ("W", "grid"),
    (Finding.UNVERIFIED, None): ("F", "empty"),
}
"""Letter and pattern of each part."""


def write_reports(record: TransferRecord, folder: Path) -> None:
    """``record.json``, ``report.html`` and ``report.md`` of a transfer run, in its folder."""
    page = page_of(record)
    write_text(folder / "record.json", record.model_dump_json(indent=1) + "\n")
    write_text(folder / "report.html", study.render_html(page))
    write_text(folder / "report.md", study.render_markdown(page))


def part_words(share: Share | CaseFinding) -> str:
    """What a part is: the finding, of a divergence with its kind."""
    words = FINDINGS[share.finding]
    if share.finding is not Finding.DIVERGENCE:
        return words
    return f"{words}: {KINDS[share.kind] if share.kind else 'no kind given'}"


def page_of(record: TransferRecord) -> Study:
    """What the report shows."""
    banners = [SIMULATED] if record.simulated else []
    if record.waiting:
        banners.append(
            f"{len(record.waiting)} of {len(record.cases)} cases wait for a decision: the bars "
            "are not final."
        )
    if record.spec.policy.allow_self_judging:
        banners.append("Auditors may judge what their own model said (allow_self_judging).")
    claims = sum(one.sampled for one in record.data_sets)
    return Study(
        kind="transfer",
        name=record.name,
        lede=f"{len(record.spec.verifiers)} verifiers on {claims} labelled claims of "
        f"{len(record.data_sets)} data sets; {len(record.cases)} disagreements put before auditors",
        banners=tuple(banners),
        sections=(
            _bars(record),
            _shares(record),
            _scores(record),
            _cases(record),
            _data_sets(record),
        ),
        facts=(
            ("Hash of the spec", sha256_of(record.spec.canonical())),
            *((f"Data set {one.name}", one.fingerprint) for one in record.data_sets),
            *(
                (f"Auditor {one.name}", f"{one.kind}. {one.about}".strip())
                for one in record.auditors
            ),
        ),
        spec=canonical_json(without_secrets(record.spec.model_dump(mode="json"))),
        deepfact=record.deepfact,
    )


def _bars(record: TransferRecord) -> Section:
    parts = tuple(
        Part(*_part_of(share)) for share in (record.bars[0].shares if record.bars else ())
    )
    plot = StackedBars(
        "What becomes of every claim, by data set and verifier",
        parts,
        tuple(
            StackedBar(
                bar.data_set,
                bar.verifier,
                tuple(share.rate.k for share in bar.shares),
                ", ".join(
                    f"{part_words(share)} {share.rate.k} of {bar.n}"
                    for share in bar.shares
                    if share.rate.k
                ),
            )
            for bar in record.bars
        ),
    )
    return Section(
        "bars",
        "Agreement, annotation divergence, likely model error",
        (
            "Every labelled claim of the sample is in exactly one part of a bar. Where a verifier "
            "disagrees with the data set's label, auditors decide blind. If they hold the data "
            "set's label, the verifier is likely wrong; if they hold another one, or say why none "
            "can be settled, the annotation diverges from its evidence. A claim without a verdict "
            "is unverified, never wrong or right.",
        ),
        plots=(plot,),
    )


def _shares(record: TransferRecord) -> Section:
    tables = [_parts_table(record, one.name) for one in record.data_sets]
    return Section(
        "shares",
        "The figures of the bars",
        ("Letters are those of the bars. Parts that hold no claim are left out.",),
        (*tables, _decided_table(record)),
    )


def _part_of(share: Share) -> tuple[str, str, str]:
    letter, pattern = _LETTERS[share.finding, share.kind]
    return letter, part_words(share), pattern


def _parts_table(record: TransferRecord, data_set: str) -> Table:
    bars = [bar for bar in record.bars if bar.data_set == data_set]
    rows = []
    for at, share in enumerate(bars[0].shares):
        if any(bar.shares[at].rate.k for bar in bars):
            cells = (rate_words(bar.shares[at].rate) for bar in bars)
            rows.append((f"{_part_of(share)[0]}  {part_words(share)}", *cells))
    return Table(
        f"{data_set}: shares of all sampled claims [95 % Wilson interval]",
        ("Part", *(bar.verifier for bar in bars)),
        tuple(rows),
    )


def _decided_table(record: TransferRecord) -> Table:
    rows = tuple(
        (
            f"{bar.verifier} on {bar.data_set}",
            rate_words(bar.of_disagreements),
            str(bar.both_wrong),
        )
        for bar in record.bars
    )
    return Table(
        "Of the disagreements that are decided: the annotation's [95 % Wilson interval]",
        ("Verifier and data set", "Annotation divergence", "of these, verifier wrong too"),
        rows,
    )


def _scores(record: TransferRecord) -> Section:
    rows = []
    for bar in record.bars:
        sheet = bar.sheet
        rows.append(
            (
                f"{bar.verifier} on {bar.data_set}",
                str(sheet.n),
                str(sheet.unverified),
                rate_words(sheet.accuracy),
                _estimate(sheet.macro_f1),
                rate_words(sheet.binary),
            )
        )
    return Section(
        "scores",
        "Scores on the labels as they are",
        (
            "Before any audit: what a leaderboard would show. Unverified claims count as wrong. "
            "Binary is supported against the rest.",
        ),
        (
            Table(
                "Accuracy [95 % Wilson], macro-F1 [95 % bootstrap by report], binary",
                ("Verifier and data set", "n", "Unverified", "Accuracy", "Macro-F1", "Binary"),
                tuple(rows),
            ),
        ),
    )


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return "none"
    if found.low is None or found.high is None:
        return f"{found.value:.3f}, no interval"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _cases(record: TransferRecord) -> Section:
    reasons = {ruling.case_id: (ruling.reason, ruling.auditors) for ruling in record.rulings}
    texts = {case.id: case.claim.text for case in record.cases}
    rows = []
    for one in record.findings[:LISTED]:
        reason, auditors = reasons.get(one.case_id, ("", ()))
        rows.append(
            (
                f"{one.case_id} ({one.data_set}, {one.claim_id})",
                texts[one.case_id],
                one.annotation.value,
                f"{one.verdict} ({', '.join(one.verifiers)})",
                one.decided.value if one.decided else "none",
                part_words(one),
                f"{reason} ({', '.join(auditors)})" if auditors else "",
            )
        )
    left = len(record.findings) - len(rows)
    words = [
        f"{record.withheld} annotations came with a reason that names its data set; auditors did "
        "not see these reasons, which would have told them whose side it is."
    ]
    if left:
        words.append(f"The first {LISTED} cases; {left} more are in record.json.")
    return Section(
        "cases",
        "Every disagreement",
        tuple(words),
        (
            Table(
                "Cases, with the deciding auditor's reason",
                ("Case", "Claim", "Data set's label", "Verdict", "Auditors hold", "Finding",
                 "Reason"),
                tuple(rows),
            ),
        ),
    )  # fmt: skip


def _data_sets(record: TransferRecord) -> Section:
    rows = tuple(
        (
            one.name, one.of, str(one.claims), str(one.labelled), str(one.sampled),
            str(one.sources), str(one.skipped), _evidence(record, one.name),
        )
        for one in record.data_sets
    )  # fmt: skip
    notes = tuple(f"{one.name}: {note}" for one in record.data_sets for note in one.notes)
    return Section(
        "data-sets",
        "Data sets",
        notes,
        (
            Table(
                "What the run took of each",
                ("Name", "Of", "Claims", "With a label", "Sampled", "Sources", "Rows left out",
                 "Evidence"),
                rows,
            ),
        ),
    )  # fmt: skip


def _evidence(record: TransferRecord, name: str) -> str:
    evidence = next(one.evidence for one in record.spec.data_sets if one.name == name)
    if not evidence.retriever:
        return "the sources that a claim cites"
    return f"{evidence.documents} documents found by {evidence.retriever} among all sources"
