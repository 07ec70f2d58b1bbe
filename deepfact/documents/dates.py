"""Dates as reference lists give them, English and Chinese, as ISO 8601. Pure."""

from __future__ import annotations

import re

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NAME = "|".join(f"{month[:3]}(?:{month[3:]})?" if month != "may" else "may" for month in _MONTHS)
_LOOKED_AT = (
    r"檢索日期|检索日期|訪問日期|访问日期|存取日期|取用日期|查閱日期|查阅日期|引用日期|访问时间|"
    r"アクセス日|閲覧日|(?:last\s+)?(?:accessed|retrieved|visited|viewed)(?:\s+on)?|"
    r"abgerufen\s+am|zugriff\s+am|consulté\s+le|consultado\s+el"
)
_FORMS = (
    r"(?P<y1>\d{4})\s?年\s?(?P<m1>\d{1,2})\s?月(?:\s?(?P<d1>\d{1,2})\s?[日号號])?",
    r"(?P<m2>\d{1,2})\s?月\s?(?P<d2>\d{1,2})\s?[日号號]?\s?[,，]\s?(?P<y2>\d{4})年?",
    rf"(?P<m3>{_NAME})\.?\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y3>\d{{4}})",
    rf"(?P<d4>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?P<m4>{_NAME})\.?,?\s+(?P<y4>\d{{4}})",
    r"(?P<y5>(?:19|20)\d{2})[-/.](?P<m5>\d{1,2})[-/.](?P<d5>\d{1,2})",
    rf"(?P<m6>{_NAME})\.?\s+(?P<y6>(?:19|20)\d{{2}})",
)
_DATE = re.compile(
    rf"(?P<looked>(?:{_LOOKED_AT})\s?[:：]?\s*)?(?<![\w/])(?:{'|'.join(_FORMS)})(?!\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)[(（,]\s?((?:19|20)\d{2})[a-z]?\s?[)）,.]")


def find_date(text: str) -> tuple[str, bool, tuple[int, int]] | None:
    """The date of an entry: ISO 8601, whether it says when the source was looked at, and where
    it stands. A bare year counts only in brackets or between commas, and stays in the title."""
    found: tuple[str, bool, tuple[int, int]] | None = None
    for match in _DATE.finditer(text):
        iso = _iso(match)
        if iso and (found is None or match.group("looked")):
            found = iso, bool(match.group("looked")), match.span()
            if match.group("looked"):
                break
    if found is None and (year := _YEAR.search(text)):
        return year.group(1), False, (0, 0)
    return found


def _iso(match: re.Match[str]) -> str:
    parts = {key[0]: value for key, value in match.groupdict().items() if value and key[0] in "ymd"}
    month = parts.get("m", "")
    number = int(month) if month.isdecimal() else _month(month)
    day = int(parts.get("d") or 0)
    if not 1 <= number <= 12 or day > 31:
        return ""
    return f"{parts['y']}-{number:02d}" + (f"-{day:02d}" if day else "")


def _month(name: str) -> int:
    starts = [month[:3] for month in _MONTHS]
    return starts.index(name[:3].lower()) + 1 if name[:3].lower() in starts else 0
