"""How long auditors take for a case, and which decided cases are worth a second look. Pure.

A time is what the auditor's page or terminal counted; where nothing counted, the time since the
auditor's last decision or withdrawal. Such a gap of more than `BREAK` is a break and of less than
`AT_ONCE` a file that was handed in whole: neither is a time. Quartiles are shown and no mean, so
that one case that somebody slept over moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median, quantiles

from deepfact.core.agreement import voices
from deepfact.core.revise import decided_label, sides
from deepfact.core.standing import Made, standing_adjudications
from deepfact.measure_records import Pace, SecondLook
from deepfact.records import Adjudication, CaseKind, Label
from deepfact.run_records import Adjudicated, JournalEvent, RoundRecord, Withdrawn

BREAK = 1800.0
"""Seconds between two decisions from which on there was a break in between."""
AT_ONCE = 1.0
"""Seconds below which two decisions were handed in together."""
FAST = 0.25
"""A decision is fast in less than this share of the auditor's own median."""
ENOUGH = 8
"""Decisions with a time that make a median a pace to be fast against."""


def times_of(events: Sequence[JournalEvent]) -> dict[Made, float | None]:
    """Seconds that each standing decision took; None where that is not known.

    Args:
        events: of the journal, oldest first.
    """
    standing = standing_adjudications(events)
    times: dict[Made, float | None] = {}
    last: dict[tuple[int, str], datetime] = {}
    for event in events:
        if isinstance(event, Withdrawn):
            last[event.round, event.auditor] = event.at
        if not isinstance(event, Adjudicated):
            continue
        made = event.adjudication
        who = (event.round, made.auditor)
        gap = (event.at - last[who]).total_seconds() if who in last else None
        last[who] = event.at
        at = (event.round, made.case_id, made.auditor)
        if standing.get(at) is made:
            timed = gap if gap is not None and AT_ONCE <= gap <= BREAK else None
            times[at] = made.seconds if made.seconds is not None else timed
    return times


def paces(times: Mapping[Made, float | None]) -> tuple[Pace, ...]:
    """Each auditor's median and quartiles by round."""
    found: dict[tuple[int, str], list[float | None]] = {}
    for (number, _, auditor), seconds in times.items():
        found.setdefault((number, auditor), []).append(seconds)
    result = []
    for (number, auditor), all_of in sorted(found.items()):
        known = [seconds for seconds in all_of if seconds is not None]
        q1, middle, q3 = _quartiles(known)
        result.append(
            Pace(
                auditor=auditor, round=number, n=len(known), untimed=len(all_of) - len(known),
                q1=q1, median=middle, q3=q3,
            )
        )  # fmt: skip
    return tuple(result)


def _quartiles(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    if not values:
        return None, None, None
    if len(values) == 1:
        return values[0], values[0], values[0]
    q1, middle, q3 = quantiles(values, n=4, method="inclusive")
    return q1, middle, q3


def second_look(
    rounds: Sequence[RoundRecord],
    times: Mapping[Made, float | None],
    microgold: Mapping[str, Label],
) -> tuple[SecondLook, ...]:
    """Decided cases that are worth a second look, each with its reasons; most reasons first.

    Args:
        rounds: whose audit is closed, and of a run that has no round open: reasons tell which
            cases are controls and micro-gold.
        times: seconds by round, case and auditor.
        microgold: known label by claim id.
    """
    found = []
    hasty = _hasty(times)
    for done in rounds:
        made: dict[str, list[Adjudication]] = {case.id: [] for case in done.cases}
        for one in done.adjudications:
            made[one.case_id].append(one)
        for case, key in zip(done.cases, done.keys, strict=True):
            said = [voice for one in made[case.id] for voice in voices(one)]
            decided = {one.auditor: decided_label(case, one) for one in said}
            answer, what = microgold.get(key.claim_id), "the known answer (micro-gold)"
            if answer is None and key.kind is CaseKind.CONTROL:
                answer = sides(case, key)[0].label
                what = "the label that verifier and benchmark share"
            reasons = [
                *_split(decided),
                *_against(decided, answer, what),
                *(hasty[at] for name in decided if (at := (done.round, case.id, name)) in hasty),
            ]
            if reasons:
                found.append(
                    SecondLook(
                        round=done.round, case_id=case.id, claim_id=key.claim_id,
                        claim=case.claim.text, reasons=tuple(reasons),
                    )
                )  # fmt: skip
    return tuple(sorted(found, key=lambda case: -len(case.reasons)))


def _split(decided: Mapping[str, Label | None]) -> Iterable[str]:
    if len(set(decided.values())) > 1:
        words = ", ".join(f"{name}: {label or 'cannot tell'}" for name, label in decided.items())
        yield f"split ({words})"


def _against(decided: Mapping[str, Label | None], answer: Label | None, what: str) -> Iterable[str]:
    for name, label in decided.items():
        if None not in (answer, label) and label != answer:
            yield f"{name} decided {label} against {what}, {answer}"


def _hasty(times: Mapping[Made, float | None]) -> dict[Made, str]:
    """Why each decision that was made fast counts as such."""
    by_auditor: dict[str, list[float]] = {}
    for (_, _, auditor), seconds in times.items():
        if seconds is not None:
            by_auditor.setdefault(auditor, []).append(seconds)
    usual = {name: median(taken) for name, taken in by_auditor.items() if len(taken) >= ENOUGH}
    return {
        made: f"fast: {seconds:.1f} s by {made[2]}, who takes {usual[made[2]]:.0f} s as a rule"
        for made, seconds in times.items()
        if seconds is not None and made[2] in usual and seconds < FAST * usual[made[2]]
    }
