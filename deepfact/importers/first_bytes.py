"""What a file is by its first bytes, where its name says otherwise. Reads no more than those."""

from __future__ import annotations

from pathlib import Path

from deepfact.errors import InputError

_FIRST_BYTES = (
    (
        b"PK\x03\x04",
        "a zip archive (.xlsx, .docx and .zip all are)",
        "unpack it, or save it as CSV",
    ),
    (b"PAR1", "a Parquet file", "import it with: deepfact bench import parquet"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip"),
    (b"BZh", "compressed with bzip2", "unpack it first: bunzip2"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd"),
    (b"%PDF", "a PDF", "import reports with: deepfact report import"),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "save it as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file", "fetch it: git lfs pull"),
)


def refuse_other_format(path: Path, wanted: str) -> None:
    """Raise if a file begins as one of another format does. One that cannot be opened passes: who
    reads it says why.

    Args:
        wanted: what it should be, such as ``CSV``.

    Raises:
        InputError: it is something else.
    """
    try:
        with path.open("rb") as file:
            head = file.read(32)
    except OSError:
        return
    for first, what, fix in _FIRST_BYTES:
        if head.startswith(first) and what != f"a {wanted} file":
            raise InputError(f"not {wanted}: this is {what}", where=str(path), fix=fix)
