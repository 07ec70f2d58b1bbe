"""The benchmark of a cross-audit: the claims of the key and no others, with all the sources.

It is made once, in the cross-audit's folder, of one version; the pairs' rounds run on copies of it
that hold no key. Nothing of it goes back to the benchmark.
"""

from __future__ import annotations

from pathlib import Path

from deepfact.crossaudit_records import CrossAuditSpec
from deepfact.errors import BenchmarkError
from deepfact.records import Revision, RevisionKind
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.files import jsonl, write_text

KEYS = ("author", "microgold")


def claims_of_key(version: BenchmarkVersion, spec: CrossAuditSpec) -> list[str]:
    """Ids of the live, labelled claims that the key has an answer to, in order.

    Raises:
        BenchmarkError: there is none.
    """
    key = version.store.key(spec.key)
    found = [entry.claim.id for entry in version.state if entry.claim.id in key and entry.label]
    if not found:
        raise BenchmarkError(
            f"{version} has no labelled claim that its key {spec.key!r} has an answer to",
            fix="add some with: deepfact microgold add, or name the other key",
        )
    return found


def cut_down(version: BenchmarkVersion, spec: CrossAuditSpec, folder: Path) -> BenchmarkVersion:
    """The claims of the key as a benchmark of its own in ``folder``, which may hold it already."""
    if (folder / "versions" / "1").is_dir():
        return BenchmarkStore(folder).load(1)
    wanted = set(claims_of_key(version, spec))
    revisions = [
        Revision(
            kind=RevisionKind.ADD,
            claim_id=entry.claim.id,
            who="crossaudit",
            when=version.manifest.date,
            why=f"a claim of {version} whose answer is known",
            claim=entry.claim,
            annotation=entry.annotation,
        )
        for entry in version.state
        if entry.claim.id in wanted
    ]
    if not (folder / "versions").is_dir():
        BenchmarkStore.create(
            folder, card=f"# {folder.name}\n\nClaims of {version} with answers.\n"
        )
    store = BenchmarkStore(folder)
    for which in KEYS:
        known = [answer for i, answer in version.store.key(which).items() if i in wanted]
        if known:
            text = jsonl(answer.canonical() for answer in known)
            write_text(folder / "keys" / f"{which}.jsonl", text)
    seal.record(folder, who="crossaudit", why=f"the answers to the claims of {version}")
    return store.commit(
        revisions,
        parent=None,
        author="crossaudit",
        date=version.manifest.date,
        note=f"{len(revisions)} claims of {version}",
        sources=list(version.sources.values()),
    )
