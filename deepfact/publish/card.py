"""The dataset card of a snapshot: the benchmark's own card, then what deepfact knows of it.

Figures come from the store, words from the benchmark's README. Names, notes and labels are
escaped by the environment of `deepfact.reports.templating`; none of them is ever a template.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepfact.measure_records import Estimate
from deepfact.publish.facts import Facts
from deepfact.publish.metadata import front_matter
from deepfact.publish.selection import Selection
from deepfact.publish.tables import CLAIMS, SOURCES, Row
from deepfact.records import Label

LABELS = (*Label, "unlabelled")


def render_card(selection: Selection, rows: Mapping[str, Sequence[Row]], facts: Facts) -> str:
    """README.md of a snapshot, front matter included."""
    from jinja2 import FileSystemLoader
    from markupsafe import Markup

    from deepfact.reports.templating import markdown_environment, rate_words, visible

    name, claims = selection.version.store.name, rows["claims"]
    environment = markdown_environment().overlay(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8")
    )
    environment.filters |= {"rate": rate_words, "estimate": _estimate_words}
    # No line of JSON can end a fence: each begins with a brace, a bracket, a quote or a number.
    example = visible(json.dumps(claims[0], ensure_ascii=False, indent=2))
    address = json.dumps(facts.repo or "path/to/this/folder")
    details = environment.get_template("card.md.j2").render(
        name=name,
        manifest=selection.version.manifest,
        selection=selection,
        claims=len(claims),
        licence=facts.licence,
        labels=[str(label) for label in LABELS],
        distribution=distribution(claims),
        qualified=sum(bool(row["qualifications"]) for row in claims),
        microgold=facts.microgold,
        rounds=facts.rounds,
        simulated=any(one.simulated for one in facts.rounds),
        claim_columns=[(column, about) for column, (_, about) in CLAIMS.items()],
        source_columns=[(column, about) for column, (_, about) in SOURCES.items()],
        example=Markup(example),  # noqa: S704 -- inside a fence that it cannot end
        address=Markup(address),  # noqa: S704 -- a repository id, checked, or our own words
    )
    sizes = {config: len(found) for config, found in rows.items()}
    front = front_matter(
        facts.stated, facts.licence, name=name, languages=facts.languages, sizes=sizes
    )
    body = facts.body.strip("\n") or f"# {name}"
    return f"{front}\n{body}\n{details}"


def _estimate_words(estimate: Estimate) -> str:
    """A coefficient with all that it may not be shown without."""
    if estimate.value is None:
        return f"not defined (n = {estimate.n})"
    known = estimate.low is not None and estimate.high is not None
    interval = (
        f"95 % interval {estimate.low:.2f} to {estimate.high:.2f}" if known else "no interval"
    )
    return f"{estimate.value:.2f} (n = {estimate.n}, {interval})"


def distribution(rows: Sequence[Row]) -> list[tuple[str, list[int]]]:
    """Claims by label, in all and then by domain. The counts are in the order of `LABELS`."""
    domains: dict[str, Counter[str]] = {}
    for row in rows:
        domains.setdefault(row["domain"], Counter())[row["label"] or "unlabelled"] += 1
    whole = sum(domains.values(), Counter[str]())
    shown = [("all claims", whole)]
    if len(domains) > 1:
        shown += [
            (f"domain: {name}" if name else "no domain", domains[name]) for name in sorted(domains)
        ]
    return [(of, [counts[str(label)] for label in LABELS]) for of, counts in shown]
