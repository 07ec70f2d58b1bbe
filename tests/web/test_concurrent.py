"""Many clients at once on a server that is killed again and again: what was acknowledged is in the
journal, exactly once."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx

from deepfact.round import resume
from deepfact.run_records import Adjudicated, RunStatus
from deepfact.store.journal import read_events

CASES, KILLS, CLIENTS = 50, 10, 3


class Client(threading.Thread):
    """Decides cases of one auditor, from a list that it shares with the auditor's other clients,
    until all are acknowledged; tries again whatever happens."""

    def __init__(self, server: Any, name: str, cases: list[str], acknowledged: list[Any]) -> None:
        super().__init__(daemon=True)
        self.server, self.auditor, self.cases, self.acknowledged = server, name, cases, acknowledged
        self.told: Counter[int] = Counter()

    def run(self) -> None:
        with httpx.Client(base_url=self.server.address, timeout=20) as http:
            self.safely(lambda: http.get(self.server.links[self.auditor]))
            for case_id in self.cases:
                self.safely(lambda case_id=case_id: self.decide(http, case_id))

    def safely(self, step: Callable[[], Any]) -> None:
        while True:
            try:
                return step()
            except httpx.TransportError:
                time.sleep(0.05)

    def decide(self, http: httpx.Client, case_id: str) -> None:
        """Until the answer says that a decision stands."""
        page = http.get(f"/case/{case_id}").text
        if "You decided" in page:
            return
        form = dict(re.findall(r'type="hidden" name="(token|steps)" value="([^"]*)"', page))
        reason = f"{self.auditor} on {case_id}, said by {self.name}"
        answer = http.post(
            f"/case/{case_id}/decide",
            data={**form, "decision": "b", "rationale": reason},
            headers={"origin": self.server.address},
        )
        self.told[answer.status_code] += 1
        if answer.status_code == 303:
            self.acknowledged.append((case_id, self.auditor, reason))
        else:
            assert answer.status_code == 409, answer.text  # another client of this auditor won


def decided() -> int:
    """Decisions that are on disk."""
    return Path("run/journal.jsonl").read_bytes().count(b'"event":"adjudicated"')


def test_every_acknowledged_decision_is_there_exactly_once(
    begin: Callable[..., Any], benchmark_of: Any, make: Any, server: Any
) -> None:
    source = make.source()
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(90)]
    record = begin("ada", "ben", benchmark=benchmark_of(claims, [source]), rule="majority")
    cases = list(record.waiting)[:CASES]
    assert len(cases) == CASES
    server.start()
    acknowledged: list[tuple[str, str, str]] = []
    clients = [
        Client(server, name, cases[turn:] + cases[:turn], acknowledged)
        for name in ("ada", "ben")
        for turn in range(0, CASES, CASES // CLIENTS + 1)
    ]
    for client in clients:
        client.start()
    for kill in range(1, KILLS + 1):
        # Each life of the server sees decisions, and the last one leaves some to do.
        until = time.monotonic() + 60
        while decided() < kill * (2 * CASES - 10) // KILLS:
            assert time.monotonic() < until
            time.sleep(0.005)
        server.kill()
        server.start()
    for client in clients:
        client.join(120)
        assert not client.is_alive()
    events = read_events(Path("run/journal.jsonl"))
    made = [event.adjudication for event in events if isinstance(event, Adjudicated)]
    assert Counter((each.case_id, each.auditor) for each in made) == Counter(
        (case_id, name) for case_id in cases for name in ("ada", "ben")
    )
    on_disk = {(each.case_id, each.auditor, each.rationale) for each in made}
    assert set(acknowledged) <= on_disk
    assert len(acknowledged) >= CASES // 2, "many were acknowledged, not only kept"
    assert sum(client.told[303] for client in clients) == len(acknowledged)
    waiting = resume(Path("run"))
    assert waiting.status is RunStatus.PENDING
    assert set(waiting.waiting) == set(record.waiting) - set(cases)
