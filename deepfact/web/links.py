"""Sign-in links: one secret an auditor, of which only the hash is kept.

A secret is 256 random bits, so a plain SHA-256 of it cannot be guessed back. It is shown once, to
whoever starts the server; ``links.json`` in the run's folder holds hashes. This module writes
that file and nothing else, and never puts a secret into a message.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from deepfact.records import FileRecord, Hash, sha256_of
from deepfact.store.files import read_record, write_text
from deepfact.store.journal import Journal

FILE = "links.json"


class AuditLinks(FileRecord):
    """``links.json``: the hash of each auditor's secret, by name."""

    hashes: dict[str, Hash] = {}


def read_links(folder: Path) -> AuditLinks:
    """The links of a run; none when there is no file."""
    path = folder / FILE
    return read_record(path, AuditLinks) if path.is_file() else AuditLinks()


def make_links(folder: Path, names: Iterable[str], *, anew: bool = False) -> Mapping[str, str]:
    """Secrets for the auditors who have none, or for all of them.

    Args:
        folder: the run's.
        names: the auditors.
        anew: replace the secrets that there are; the old links stop working.

    Returns:
        The new secrets by auditor. This is the only time that they can be seen.

    Raises:
        ResultsExistError: another process is writing to the run right now.
    """
    with Journal(folder):  # whoever opens a journal clears half-written files: hold it meanwhile
        known = read_links(folder).hashes
        made = {name: secrets.token_urlsafe(32) for name in names if anew or name not in known}
        if made:
            hashes = {**known, **{name: sha256_of(secret) for name, secret in made.items()}}
            links = AuditLinks(hashes=hashes)
            write_text(folder / FILE, links.model_dump_json(indent=1) + "\n")
    return made


def who_has(links: AuditLinks, secret: str) -> str | None:
    """The auditor whose secret this is. Takes as long whether there is one or not."""
    given, found = sha256_of(secret.encode("utf-8", "surrogateescape")), None
    for name, known in links.hashes.items():
        if hmac.compare_digest(given, known):
            found = name
    return found


def form_token(secret: str) -> str:
    """What a form must carry to come from a page of this session: it can only be worked out by
    who has the cookie, and does not give the cookie away."""
    key = secret.encode("utf-8", "surrogateescape")
    return hmac.new(key, b"deepfact audit form", hashlib.sha256).hexdigest()
