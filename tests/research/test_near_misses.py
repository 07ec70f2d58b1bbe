"""How often the skeptic is right on the near misses; the figures are printed."""

from __future__ import annotations

from deepfact.core.skeptic import examine
from deepfact.store.ledger import ledger_of
from deepfact.store.ledger_records import LedgerDocument


def test_precision_and_recall_on_the_near_misses(near_misses, capsys):
    right = wrong = missed = 0
    for case in near_misses:
        document = LedgerDocument.model_validate(case["ledger"])
        found = examine(ledger_of(document, where=case["name"], flags=lambda _: ()))
        ids = {tuple(sorted(one.claims)) for one in found.contradictions}
        expected = {tuple(sorted(claims)) for claims in case["contradictions"]}
        right += len(ids & expected)
        wrong += len(ids - expected)
        missed += len(expected - ids)
    with capsys.disabled():
        print(
            f"\nskeptic on {len(near_misses)} near misses: precision {right}/{right + wrong}, "
            f"recall {right}/{right + missed}"
        )
    assert right + missed >= 15
    assert wrong == 0
    assert right / (right + missed) >= 0.9
