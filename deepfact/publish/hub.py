"""Sending a snapshot to the Hub, through its official client.

The token comes from the environment or from the client's login, and is never shown: errors are
scrubbed of it. Nothing is deleted on the Hub; each push is a commit.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.errors import DeepFactError, InputError
from deepfact.publish.build import Snapshot
from deepfact.publish.folder import write_snapshot
from deepfact.store.secrets import MASK, scrub

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def check_repo(repo: str) -> str:
    """``repo`` if a repository may be called that: ``owner/name``, or ``name`` for one's own.

    Raises:
        InputError: it may not.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
    except HFValidationError:
        raise InputError(
            f"{repo!r} is no name of a repository on the Hub",
            where="--to",
            fix="write it like hub:owner/name, with letters, digits, '.', '-' and '_'",
        ) from None
    return repo


def endpoint() -> str:
    """Address of the Hub: ``HF_ENDPOINT``, or the public one."""
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def has_token() -> bool:
    """Whether the client knows a token."""
    from huggingface_hub import get_token

    return bool(get_token())


def full_name(repo: str) -> str:
    """``repo`` with its owner: the account that the token is of, when none is named.

    Raises:
        InputError: no token.
        DeepFactError: the Hub cannot be reached, or refuses.
    """
    if "/" in repo:
        return repo
    with _client(repo) as api:
        return f"{api.whoami()['name']}/{repo}"


def push_snapshot(snapshot: Snapshot, repo: str, *, private: bool = False) -> str:
    """Upload a snapshot as one commit, making the repository first when it is not there.

    Args:
        snapshot: its files.
        repo: as `check_repo` let it pass.
        private: whether a new repository is a private one.

    Returns:
        Address of the repository.

    Raises:
        InputError: no token.
        DeepFactError: the Hub cannot be reached, or refuses.
    """
    record = snapshot.record
    with (
        _client(repo) as api,
        tempfile.TemporaryDirectory(prefix="deepfact-publish-") as folder,
    ):
        write_snapshot(Path(folder) / "snapshot", snapshot.files)
        # None leaves it to the Hub, where an organisation may have a default of its own.
        made = api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        api.upload_folder(
            repo_id=made.repo_id,
            repo_type="dataset",
            folder_path=Path(folder) / "snapshot",
            commit_message=f"{record.benchmark}@{record.version}",
        )
        return str(made)


@contextmanager
def _client(repo: str) -> Iterator[HfApi]:
    """The official client; what goes wrong while it is used is told without the token."""
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    token = get_token()
    if not token:
        raise InputError(
            "there is no token for the Hub",
            fix="set HF_TOKEN to a token that may write, or log in with: hf auth login",
        )
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        yield HfApi(endpoint=endpoint(), token=token, library_name="deepfact")
    except DeepFactError:
        raise
    except Exception as error:  # of the client, its transport, its uploader: no base in common
        said = scrub(str(error).replace(token, MASK)).strip() or type(error).__name__
        raise DeepFactError(
            f"the Hub did not take it: {said}",
            where=repo,
            fix="what was sent does no harm; run the same command again",
        ) from None
