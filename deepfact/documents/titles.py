"""What a line that stands alone is called: a title, the title of a reference list. Pure."""

from __future__ import annotations

import re

from deepfact.documents.views import HARD_BREAK

SHORT = 80
"""Longest line, in characters, that may be taken for a heading without a mark."""
LINE_END = re.compile(r"[.!?:;,…。！？：；，、|]$")

_REFERENCES = (
    "references|references and notes|reference list|list of references|sources|sources cited|"
    "cited sources|sources and references|references and sources|key sources|works cited|"
    "bibliography|citations|literature|literature cited|footnotes|endnotes|notes|"
    "notes and references|"
    "参考文献|參考文獻|参考资料|參考資料|参考来源|參考來源|引用的著作|引用文献|引用文獻|引用来源|引用來源|"
    "资料来源|資料來源|数据来源|來源|来源|文献|注释|脚注|"
    "literatur|literaturverzeichnis|quellen|références|bibliographie|referencias|bibliografía|"
    "fuentes|referências|riferimenti|bibliografia|источники|список литературы|литература|"
    "出典|参照|참고문헌|출처"
)
_REFERENCE_TITLE = re.compile(
    r"\W*(?:(?:\d{1,2}|[ivxIVX]{1,5}|[一二三四五六七八九十]{1,3})(?:[.)、．]|\s)\s*)?"
    rf"(?:{_REFERENCES})(?:\s*[(（][^()（）]{{1,40}}[)）])?\s*[:：]?\W*",
    re.IGNORECASE,
)


def is_reference_title(line: str) -> bool:
    """Whether a line is the title of a reference list, in a language that is known here."""
    return len(line) <= SHORT and _REFERENCE_TITLE.fullmatch(line) is not None


def looks_like_heading(line: str) -> bool:
    """Whether a line that stands alone is a title: short, with letters, without an end mark,
    a URL or a citation."""
    return (
        0 < len(line) <= SHORT
        and not re.search(rf"[\n{HARD_BREAK}]", line)
        and "://" not in line
        and not LINE_END.search(line)
        and not re.search(r"\]\s*$", line)
        and len(line.split()) <= 12
        and re.match(r"[\W\d_]*[^\W\d_]", line) is not None
        and re.match(r"\W*[a-z]|\W*\[?\d{1,3}\]", line) is None
    )
