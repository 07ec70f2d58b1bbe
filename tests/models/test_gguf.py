"""Reading the header of a GGUF file, whole and broken."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from deepfact.errors import InputError
from deepfact.models.gguf import read_header


def test_the_header_says_what_the_file_is(make_gguf) -> None:
    path = make_gguf(
        metadata={
            "general.name": "A  toy\nmodel",
            "general.license": "mit",
            "toy.context_length": 512,
            "split.count": 3,
        }
    )
    header = read_header(path)
    assert (header.name, header.architecture, header.licence) == ("A toy model", "toy", "mit")
    assert (header.context, header.parts) == (512, 3)


def test_a_header_without_metadata_leaves_blanks(make_gguf) -> None:
    header = read_header(make_gguf())
    assert (header.name, header.licence, header.context, header.parts) == ("", "", 0, 1)


def test_a_file_cut_off_anywhere_is_refused(make_gguf) -> None:
    path = make_gguf(weights=64)
    whole = path.read_bytes()
    for length in range(5, len(whole), 3):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="damaged or cut off"):
            read_header(path)
    path.write_bytes(whole)
    assert read_header(path).architecture == "toy"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"PK\3\4 a zip file", "not a GGUF file"),
        (b"GG", "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 is not known"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "more than it has room for"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "more than it has room for"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63) + b"x" * 40, "within its header"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_header(path)
    assert str(path) in str(caught.value)


def test_nested_arrays_cannot_exhaust_the_stack(tmp_path: Path) -> None:
    deep = struct.pack("<IQ", 9, 1) * 5000
    path = tmp_path / "m.gguf"
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k"
        + struct.pack("<I", 9) + deep
    )  # fmt: skip
    with pytest.raises(InputError, match="metadata value of type 9"):
        read_header(path)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_header(tmp_path / "no.gguf")
    with pytest.raises(InputError, match="this is a folder"):
        read_header(tmp_path)
