"""What the files of a version hold as text: the manifest, and its line in the changelog.

Pure; says nothing about where or when they are written.
"""

from __future__ import annotations

from deepfact.records import Manifest, Revision, sha256_of

CHANGELOG_HEAD = (
    "# Changelog\n\nOne line a version; written by deepfact, checked by `bench verify`.\n\n"
)


def sources_of(revision: Revision) -> set[str]:
    """Ids of all sources that a revision refers to."""
    found: set[str] = set()
    if revision.claim:
        found.update(revision.claim.cites)
        if revision.claim.origin and revision.claim.origin.document:
            found.add(revision.claim.origin.document)
    if revision.annotation:
        found.update(evidence.source for evidence in revision.annotation.evidence)
        found.update(q.source for q in revision.annotation.qualifications if q.source)
        found.update(c.source for c in revision.annotation.contradictions)
    return found


def render_manifest(manifest: Manifest) -> str:
    """A manifest as it lies on disk. Only a merge has the fields of one: the bytes of manifests
    that were written before there were merges, and so their hashes, stay what they are."""
    absent = {"merged", "merged_manifest"} if manifest.merged is None else set()
    return manifest.model_dump_json(indent=1, exclude=absent) + "\n"


def changelog_line(manifest: Manifest) -> str:
    """The line of CHANGELOG.md that a version has.

    It ends with the start of the manifest's hash: the newest manifest has no child whose
    ``parent_manifest`` covers it.
    """
    parent = f", from {manifest.parent}" if manifest.parent else ""
    parent += f" and {manifest.merged}" if manifest.merged else ""
    return (
        f"- **{manifest.version}** ({manifest.date:%Y-%m-%d}, {manifest.author}{parent}; "
        f"{manifest.revisions} revisions, {manifest.counts.claims} claims): {manifest.note} "
        f"`{sha256_of(render_manifest(manifest))[:19]}`\n"
    )
