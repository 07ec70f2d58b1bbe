"""JUnit XML of a regression check: one test case for each pin and gate, and one for whether all
answers are there.

What fails is a ``failure``; what cannot be decided because answers are missing is an ``error``,
never a pass and never skipped. Characters that XML cannot hold are made visible or removed.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from deepfact.regression_records import PinResult, RegressGates, RegressRecord
from deepfact.reports.regress_report import gate_text, pin_text, report_lines, shortage_text
from deepfact.reports.templating import visible

ANSWERS = "every answer is there"
"""Name of the case that fails by error while answers are missing."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an XML 1.0 document cannot hold, not even escaped (W3C, Extensible Markup Language 1.0,
5th ed., production 2)."""


def render_junit(record: RegressRecord) -> str:
    """The check as a JUnit XML document."""
    suite = ET.Element("testsuite", name=_clean(f"deepfact regress {record.name}"))
    classname = f"deepfact.regress.{record.name}"
    undecided = shortage_text(record.shortage)
    cases = [_case(suite, classname, ANSWERS)]
    if record.shortage is not None:
        _add(cases[0], "error", "answers are missing", undecided)
    for pin in record.pins:
        case = _case(suite, classname, pin.pin.title)
        cases.append(case)
        _judge_pin(case, record, pin)
    gates = {gate.gate: gate for gate in record.gates}
    measured = gates if record.shortage is None else _set_gates(record.spec.gates)
    for name in measured:
        case = _case(suite, classname, f"gate {name}")
        cases.append(case)
        if record.shortage is not None:
            _add(case, "error", "not decided: answers are missing", undecided)
        elif not gates[name].holds:
            _add(case, "failure", gates[name].words, gate_text(record, gates[name]))
    for tag, key in (("failure", "failures"), ("error", "errors")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("skipped", "0")
    ET.SubElement(suite, "system-out").text = _clean("\n".join(report_lines(record)))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root, " ")
    text: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _judge_pin(case: ET.Element, record: RegressRecord, pin: PinResult) -> None:
    if pin.holds is None:
        _add(case, "error", "not decided: answers are missing", pin_text(record, pin))
    elif not pin.holds:
        _add(case, "failure", f"{pin.pin.title}, and is {pin.found}", pin_text(record, pin))


def _set_gates(gates: RegressGates) -> list[str]:
    """The gates that are switched on."""
    return [name for name, limit in gates if limit is not None]


def _case(suite: ET.Element, classname: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_clean(classname), name=_clean(name))


def _add(case: ET.Element, tag: str, message: str, text: str) -> None:
    found = ET.SubElement(case, tag, message=_clean(message), type=tag)
    found.text = _clean(text)


def _clean(text: str) -> str:
    """``text`` as XML can hold it: hidden characters as their code points, the rest removed."""
    return _NOT_XML.sub("", visible(text))
