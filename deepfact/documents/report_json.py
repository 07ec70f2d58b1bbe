"""Files that hold reports as JSON, and the records that an import wrote.

DeepFact-Bench, joined (``sentences_info``) or as separate files (``X_reports.json``, and the rows
``X.json`` beside it); and JSON Lines with a report on each line (``article``, ``response``,
``report`` or ``text``, with ``id`` and ``prompt``). A report that is wrong is told, the others are
read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deepfact.documents.drafts import Given, Report
from deepfact.documents.files import Bounds, decoded, read_bytes
from deepfact.documents.records import Original
from deepfact.errors import InputError
from deepfact.records import sha256_of

TEXTS = ("article", "response", "report", "text", "content")
QUESTIONS = ("prompt", "topic", "question", "query")
_IDS = ("report_id", "id")
_NOT_IN_AN_ID = re.compile(r"[\s/\\\x00-\x1f\x7f]+")


def report_id(name: str) -> str:
    """A name as a report's id."""
    return _NOT_IN_AN_ID.sub("_", name.strip())[:120] or "report"


def read_json_reports(path: Path, bounds: Bounds) -> Iterator[Report | InputError]:
    """The reports of a ``.json`` or ``.jsonl`` file, or why one of them cannot be read.

    Raises:
        InputError: the file as a whole is wrong, or holds no report.
    """
    data = read_bytes(path, bounds)
    text, _, _ = decoded(data, "json", bounds.encoding or "utf-8", where=str(path))
    original = Original(
        name=path.name,
        format="jsonl" if path.suffix.lower() == ".jsonl" else "json",
        size=len(data),
        hash=sha256_of(data),
    )
    text = text.removeprefix("\ufeff")
    items = _lines(text, path) if original.format == "jsonl" else _items(text, path, bounds)
    found = False
    for name, item in items:
        if isinstance(item, InputError):
            yield item
            continue
        found = True
        try:
            yield _report(name, item, original, path)
        except InputError as error:
            yield error
    if not found:
        raise InputError(
            "there is no report in it",
            where=str(path),
            fix=f"a report is an object with one of {', '.join(TEXTS)}",
        )


Item = tuple[str, "Mapping[str, Any] | InputError"]


def _lines(text: str, path: Path) -> Iterator[Item]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield "", InputError(f"not JSON: {error}", where=where)
            continue
        if not isinstance(value, dict) or not any(value.get(key) for key in TEXTS):
            fix = f"one of {', '.join(TEXTS)} holds it"
            yield "", InputError("no report on this line", where=where, fix=fix)
        else:
            yield f"{path.stem}-{_named(value, str(number))}", value


def _named(value: Mapping[str, Any], otherwise: str) -> str:
    for key in _IDS:
        if isinstance(value.get(key), str | int) and str(value[key]).strip():
            return str(value[key])
    return otherwise


def _items(text: str, path: Path, bounds: Bounds) -> Iterable[Item]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if isinstance(value, dict) and any(isinstance(value.get(key), str) for key in TEXTS):
        return [(_named(value, path.stem), value)]
    if isinstance(value, dict) and value and all(isinstance(one, dict) for one in value.values()):
        rows = path.with_name(path.name.replace("_reports.json", ".json"))
        by_report: dict[str, dict[int, Any]] = {}
        if rows != path and rows.is_file():
            by_report = _rows(rows, bounds)
        return [(name, _joined(one, by_report.get(name, {}))) for name, one in value.items()]
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        if any("sentence_idx" in one for one in value):
            beside = path.with_name(f"{path.stem}_reports.json")
            raise InputError(
                "these are sentences; their reports are in another file",
                where=str(path),
                fix=f"import {beside.name}; the sentences beside it are read with it",
            )
        return [(f"{path.stem}-{_named(one, str(n))}", one) for n, one in enumerate(value, 1)]
    raise InputError("there is no report in it", where=str(path))


def _rows(path: Path, bounds: Bounds) -> dict[str, dict[int, Any]]:
    """The annotated sentences of a file of rows, by report and place."""
    try:
        rows = json.loads(read_bytes(path, bounds))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    found: dict[str, dict[int, Any]] = {}
    for row in rows if isinstance(rows, list) else []:
        place = row.get("sentence_idx") if isinstance(row, dict) else None
        if isinstance(place, int) or (isinstance(place, str) and place.strip().isdecimal()):
            found.setdefault(str(row.get("report_id")), {})[int(place)] = row
    return found


def _joined(report: Mapping[str, Any], rows: Mapping[int, Any]) -> Mapping[str, Any]:
    """A report with the rows of its sentences."""
    if not rows or not isinstance(report.get("sentences"), list):
        return report
    infos = []
    for place, sentence in enumerate(report["sentences"]):
        info = dict(sentence) if isinstance(sentence, dict) else {"sentence": sentence}
        infos.append({**info, **rows.get(place, {})})
    return {**report, "sentences_info": infos}


def _report(name: str, item: Mapping[str, Any], original: Original, path: Path) -> Report:
    where = f"{path}, report {name}"
    text = next((item[key] for key in TEXTS if isinstance(item.get(key), str) and item[key]), "")
    if not text.strip():
        raise InputError("the report has no text", where=where)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"the text has half a character at {error.start}"
        raise InputError(what, where=where, fix="write the file again as UTF-8") from None
    try:
        json.dumps([name, item], ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        what = "its id, or a field of it, has half a character"
        raise InputError(what, where=str(path), fix="write the file again as UTF-8") from None
    question = next((item[k] for k in QUESTIONS if isinstance(item.get(k), str) and item[k]), "")
    author = item.get("model") or item.get("author") or ""
    sentences = item.get("sentences_info") or item.get("sentences") or []
    return Report(
        id=report_id(name),
        text=text,
        original=original.model_copy(update={"item": name}),
        form="markdown",
        question=question,
        title=item["title"] if isinstance(item.get("title"), str) else "",
        author=author if isinstance(author, str) else "",
        given=tuple(_given(sentences, where)),
    )


def _given(sentences: Any, where: str) -> Iterator[Given]:
    if not isinstance(sentences, list):
        raise InputError("its sentences are no list", where=where)
    for place, one in enumerate(sentences):
        if isinstance(one, str):
            yield Given(one)
            continue
        if not isinstance(one, dict) or not isinstance(one.get("sentence"), str):
            raise InputError(f"sentence {place} has no text", where=where)
        rating = str(one.get("relevance") or "").strip()
        if rating and rating not in ("1", "2", "3", "4", "5"):
            raise InputError(f"sentence {place}: relevance {rating!r} is not 1 to 5", where=where)
        reason = one.get("relevance_reason")
        verdicts = (one.get("human_verdict"), one.get("agent_verdict"))
        yield Given(
            one["sentence"],
            int(rating) if rating else None,
            reason if isinstance(reason, str) else "",
            any(isinstance(verdict, str) and verdict.strip() for verdict in verdicts),
        )
