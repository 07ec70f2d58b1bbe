"""CITATION.cff and CHANGELOG.md of a snapshot.

Citation File Format 1.2.0 (https://citation-file-format.github.io). Both say what the manifests
of the version and its ancestors say, and nothing of later versions.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepfact.publish.facts import Facts
from deepfact.publish.metadata import as_yaml
from deepfact.records import Manifest


def render_citation(facts: Facts) -> str:
    """CITATION.cff."""
    manifest, licence = facts.manifest, facts.licence
    data = {
        "cff-version": "1.2.0",
        "message": "If you use this benchmark, cite it with its version: labels can be revised.",
        "type": "dataset",
        "title": f"{facts.title}, version {manifest.version}",
        "authors": [{"name": author} for author in facts.authors],
        "version": str(manifest.version),
        "date-released": f"{manifest.date:%Y-%m-%d}",
        **({"license": licence.spdx} if licence.spdx else {"license-url": licence.link}),
        **({"url": facts.url} if facts.url else {}),
        "keywords": ["factuality", "fact-checking", "benchmark"],
        "identifiers": [
            {
                "type": "other",
                "value": manifest.state_hash,
                "description": "hash of the whole version's state",
            }
        ],
    }
    return as_yaml(data)


def render_changelog(lineage: Sequence[Manifest]) -> str:
    """CHANGELOG.md: one line for each version that led to this one."""
    from deepfact.reports.templating import markdown_escape

    lines = [
        "# Changelog\n\nOne line a version, oldest first, up to the one published here. Counts are "
        "of the whole version, private claims included.\n\n"
    ]
    for manifest in lineage:
        parent = f", from {manifest.parent}" if manifest.parent else ""
        parent += f" and {manifest.merged}" if manifest.merged else ""
        lines.append(
            f"- **{manifest.version}** ({manifest.date:%Y-%m-%d}, "
            f"{markdown_escape(manifest.author)}{parent}; {manifest.revisions} revisions, "
            f"{manifest.counts.claims} claims): {markdown_escape(manifest.note)}\n"
        )
    return "".join(lines)
