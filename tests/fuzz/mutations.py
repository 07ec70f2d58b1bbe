"""Ways in which a file goes wrong, drawn from a seeded generator: the same seed, the same bytes.

Half of them are accidents (cut off, a bit flipped, another encoding), half of them malice (deep
nesting, aliases of aliases, numbers that no machine holds). Bytes in, bytes out; no file is read
or written here.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**64), 10**400, 0.5, -0.0, 1e308, "", " ", "\x00",
    "\ud800", "a" * 5_000, "𝕏\u202e\u2028", "../../etc/passwd", "2026-13-45T99:99:99Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "sha256:" + "0" * 64, "=1+1", "c1",
    [], {}, [[]], [None], {"": None}, [0] * 300, {"a": {"b": {"c": []}}}, {"schema_version": 2},
)  # fmt: skip
"""What may stand in a JSON document where something else was meant."""

ODD_TEXTS = (
    b"NaN", b"-Infinity", b"1e999999", b"9" * 5_000, b"-" + b"9" * 400, b"\\ud800", b"\\u0000",
    b"{{", b"}}", b"{% for x in y %}", b"!!python/object/apply:os.system [true]", b"&a [*a, *a]",
    b"*missing", b"<<: *a", b"- - - -", b"? :", b"%YAML 9.9", b"\t", b"---\n", b"...\n", b"\"\"\"",
    b"<!ENTITY a 'b'>", b"<![CDATA[", b"</script>", b"[1](", b"[" * 40, b"(" * 40, b"[^1]: ",
    b"| - | - |\n", b"```\n", b"\r", b"\x0b\x0c\x1c", b"\xe2\x80\xa8", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"12345678901234567890123456789012345",
)  # fmt: skip
"""What may turn up anywhere in a text."""


def _spot(data: bytes, draw: random.Random) -> int:
    return draw.randint(0, len(data))


def flip_bits(data: bytes, draw: random.Random) -> bytes:
    """One to eight bits are the other way round."""
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8)) if made else 0):
        made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)
    return bytes(made)


def cut_off(data: bytes, draw: random.Random) -> bytes:
    """The end is missing, or the beginning."""
    spot = _spot(data, draw)
    return data[:spot] if draw.random() < 0.8 else data[spot:]


def splice(data: bytes, draw: random.Random) -> bytes:
    """A stretch stands somewhere else, a second time, or in place of another."""
    start = _spot(data, draw)
    stretch = data[start : start + draw.choice((1, 4, 30, 300))]
    spot = _spot(data, draw)
    return data[:spot] + stretch + data[spot + draw.choice((0, len(stretch), 200)) :]


def remove(data: bytes, draw: random.Random) -> bytes:
    """A stretch in the middle is gone."""
    spot = _spot(data, draw)
    return data[:spot] + data[spot + draw.choice((1, 2, 10, 200)) :]


def lines(data: bytes, draw: random.Random) -> bytes:
    """A line is there twice, is gone, stands elsewhere, or goes on in the next one."""
    parts = data.split(b"\n")
    one, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    kind = draw.randrange(4)
    if kind == 0:
        parts.insert(other, parts[one])
    elif kind == 1:
        del parts[one]
    elif kind == 2:
        parts[one], parts[other] = parts[other], parts[one]
    else:
        parts[one : one + 2] = [b"".join(parts[one : one + 2])]
    return b"\n".join(parts)


def insert(data: bytes, draw: random.Random) -> bytes:
    """Something odd stands somewhere."""
    spot = _spot(data, draw)
    return data[:spot] + draw.choice(ODD_TEXTS) + data[spot:]


def garble(data: bytes, draw: random.Random) -> bytes:
    """Bytes that are no UTF-8, NULs, or control codes."""
    spot = _spot(data, draw)
    junk = draw.choice((b"\x00" * draw.randint(1, 600), draw.randbytes(draw.randint(1, 80))))
    return data[:spot] + junk + data[spot + draw.choice((0, len(junk))) :]


def encode(data: bytes, draw: random.Random) -> bytes:
    """Saved by another program: a byte-order mark, CRLF, UTF-16, Windows-1252."""
    kind = draw.randrange(6)
    if kind == 0:
        return b"\xef\xbb\xbf" + data
    if kind == 1:
        return data.replace(b"\n", b"\r\n")
    if kind == 2:
        return data.replace(b"\n", b"\r")
    if kind == 3:
        return data + b"\x1a"
    name = "utf-16" if kind == 4 else "cp1252"
    return data.decode("utf-8", "replace").encode(name, "replace")


def number(data: bytes, draw: random.Random) -> bytes:
    """A number is another one."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return insert(data, draw)
    match = draw.choice(found)
    odd = draw.choice((b"0", b"-1", b"1e400", b"9" * 25, b"9" * 5_000, b"0x10", b"NaN", b"007",
                       b"1_000", b".", b"1.5", b"\xd9\xa1\xd9\xa2"))  # fmt: skip
    return data[: match.start()] + odd + data[match.end() :]


def nest(data: bytes, draw: random.Random) -> bytes:
    """Brackets, quotes, lists or tags, deeper than anybody meant."""
    depth = draw.choice((50, 2_000, 100_000))
    left, right = draw.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"- ", b""), (b"> ", b""),
                               (b"<div>", b"</div>"), (b"**", b"**"), (b"![", b"](a)"),
                               (b"(", b")"), (b"* ", b""), (b"a: {", b"}")))  # fmt: skip
    spot = _spot(data, draw)
    core = draw.choice((b"", b"1", b'"a"'))
    if draw.random() < 0.3:
        return left * depth + core + (right * depth if draw.random() < 0.7 else b"")
    value = re.compile(rb'"[^"\n]*"|\d+').search(data, spot)
    start, end = value.span() if value else (spot, spot)
    return data[:start] + left * depth + core + right * depth + data[end:]


def json_value(data: bytes, draw: random.Random) -> bytes:
    """In a JSON document, or in one line of JSON Lines, a value is of another kind, a key is
    gone, there twice, or unknown. Otherwise as `insert`."""
    whole = _parsed(data)
    if whole is not None:
        return _dumped(_swapped(whole, draw), draw)
    parts = data.split(b"\n")
    place = draw.randrange(len(parts))
    line = _parsed(parts[place])
    if line is None:
        return insert(data, draw)
    parts[place] = _dumped(_swapped(line, draw), draw)
    return b"\n".join(parts)


def _parsed(data: bytes) -> Any:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _dumped(value: Any, draw: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=draw.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")


def _swapped(value: Any, draw: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        one = pending.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            places.append((one, key))
            if isinstance(one[key], dict | list):
                pending.append(one[key])
    if not places:
        return draw.choice(ODD_VALUES)
    holder, key = draw.choice(places)
    kind = draw.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(("", "x", "schema_version", "id", "\ud800"))] = holder[key]
    elif kind == 2:
        other, from_key = draw.choice(places)
        try:
            holder[key] = json.loads(json.dumps(other[from_key]))
        except (KeyError, IndexError):
            holder[key] = None
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = draw.choice(ODD_VALUES)
    return value


def alias_bomb(data: bytes, draw: random.Random) -> bytes:
    """YAML in which a few lines stand for a billion values, or which holds itself."""
    levels = draw.choice((6, 9, 30))
    bomb = ["&b0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        alias = f"*b{level - 1}"
        bomb.append(f"&b{level} [{', '.join([alias] * 9)}]")
    bombs = (f"[{', '.join(bomb)}]", "&r [*r]", "&r {a: *r}", "&r {<<: *r}", "{<<: [*b, &b {}]}")
    text = draw.choice((bombs[0], bombs[0], *bombs[1:]))
    found = list(re.finditer(rb"(?m)^([ \t]*-?[ \t]*[\w-]+:)[ \t]*[^\n]*$", data))
    if not found or draw.random() < 0.3:
        return data + f"\nbomb: {text}\n".encode()
    match = draw.choice(found)
    return data[: match.end(1)] + f" {text}".encode() + data[match.end() :]


def repeat(data: bytes, draw: random.Random) -> bytes:
    """Much too long: the file many times over, or one stretch."""
    if len(data) * 50 < 200_000 and draw.random() < 0.5:
        return data * 50
    spot = _spot(data, draw)
    stretch = data[spot : spot + draw.choice((1, 3, 20))] or b"a"
    return data[:spot] + stretch * (draw.choice((1_000, 100_000)) // len(stretch)) + data[spot:]


def nothing(data: bytes, draw: random.Random) -> bytes:
    """Empty, blank, or something else altogether."""
    return draw.choice((b"", b"\n", b" ", b"\n\n\n", b"{}", b"[]", b"null", b"0", b'""', b"{}\n{}",
                        draw.randbytes(draw.randint(1, 300)), b"\x00" * 4096))  # fmt: skip


COMMON: tuple[Mutation, ...] = (
    flip_bits, cut_off, splice, remove, lines, insert, garble, encode, number, nest, json_value,
    json_value, json_value, repeat, nothing,
)  # fmt: skip
YAML: tuple[Mutation, ...] = (*COMMON, alias_bomb, alias_bomb)
BINARY: tuple[Mutation, ...] = (flip_bits, flip_bits, cut_off, splice, remove, garble, nothing)


def mutate(data: bytes, draw: random.Random, among: tuple[Mutation, ...]) -> tuple[str, bytes]:
    """A file gone wrong, and how: mostly in one way, at times in two or three at once."""
    names = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        mutation = draw.choice(among)
        names.append(mutation.__name__)
        data = mutation(data, draw)
    return "+".join(names), data
