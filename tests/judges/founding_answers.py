"""Makes the stored answers of ``configs/ab-founding.yaml`` with the rule-following stand-in.

    python tests/judges/founding_answers.py

Writes ``results/reference/founding/responses.jsonl``. To be run again when a prompt's text, the
way of rendering, or the benchmark changes; a test says so when it is due.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from rule_following import RuleFollowingJudge, passages_of

from deepfact.experiment import build_arms, load_claims
from deepfact.experiment_records import AbSpec
from deepfact.model_records import Completion
from deepfact.store.locate import open_benchmark, split_reference
from deepfact.store.response_exports import export_responses
from deepfact.store.responses import ResponseStore, StoredResponse
from deepfact.store.specs import read_yaml

HOME = Path(__file__).parents[2]
CONFIG = HOME / "configs" / "ab-founding.yaml"
ANSWERS = HOME / "results" / "reference" / "founding" / "responses.jsonl"


def write_answers(to: Path, *, root: Path) -> int:
    """The stand-in's answer to every request of the founding A/B, as an export.

    Args:
        to: the file to write.
        root: folder that holds the shipped benchmark.
    """
    spec = read_yaml(CONFIG, AbSpec)
    claims = load_claims(spec, root)
    key = open_benchmark(split_reference(spec.benchmark)[0], root).key(spec.key)
    judge = RuleFollowingJudge(passages_of(claims.claims, key))
    stored: dict[str, StoredResponse] = {}
    for arm in build_arms(spec.verifiers()):
        for claim in claims.claims:
            for request, vote in arm.prompted.requests(claim, claims.context):
                text = judge.answer(request)
                answer = Completion(
                    text=text,
                    stop_reason="end_turn",
                    model="rule-following-stand-in",
                    input_tokens=len(request.system + request.messages[0].content) // 4,
                    output_tokens=len(text) // 4,
                )
                stored[request.key(vote)] = StoredResponse(request.key(vote), vote, request, answer)
    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseStore(Path(folder) / "r.sqlite") as store,
    ):
        store.put_many(list(stored.values()))
        return export_responses(store, to)


if __name__ == "__main__":
    print(f"{write_answers(ANSWERS, root=HOME / 'benchmarks')} answers written to {ANSWERS}")
