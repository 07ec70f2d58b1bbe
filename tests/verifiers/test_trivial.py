"""The trivial verifiers: they do the little that they say, and fail rather than guess."""

from __future__ import annotations

import pytest

from deepfact.records import Claim, Label, Source, SourceRole, Verdict, VerificationFailure
from deepfact.run_records import VerifierSpec
from deepfact.verifiers.base import Context, build_verifier
from deepfact.verifiers.trivial import MajorityVerifier, OverlapVerifier, RetrievalVerifier

SOURCE = Source.create(
    title="river", text="Nitrate rose in the Varn river. The mayor of Halden resigned in May."
)
CONTEXT = Context(sources={SOURCE.id: SOURCE})
NEAR = Claim(id="near", text="The mayor of Halden resigned.", cites=(SOURCE.id,))
FAR = Claim(id="far", text="A comet struck the observatory in Oslo.", cites=(SOURCE.id,))


@pytest.mark.parametrize("verifier", [OverlapVerifier(), RetrievalVerifier()])
def test_more_shared_words_decide(verifier: OverlapVerifier | RetrievalVerifier) -> None:
    near, far = verifier.verify(NEAR, CONTEXT), verifier.verify(FAR, CONTEXT)
    assert isinstance(near, Verdict) and isinstance(far, Verdict)
    assert (near.label, far.label) == (Label.SUPPORTED, Label.INCONCLUSIVE)
    assert near.evidence[0].quote == "The mayor of Halden resigned in May."
    assert near.claim_id == "near"


@pytest.mark.parametrize("verifier", [OverlapVerifier(), RetrievalVerifier()])
def test_generated_text_is_not_read(verifier: OverlapVerifier | RetrievalVerifier) -> None:
    source = Source.create(title="a", role=SourceRole.GENERATED, text=NEAR.text)
    claim = NEAR.model_copy(update={"cites": (source.id,)})
    found = verifier.verify(claim, Context(sources={source.id: source}))
    assert isinstance(found, VerificationFailure) and found.reason == "no_source"


def test_majority_gives_its_label() -> None:
    assert MajorityVerifier().verify(FAR, CONTEXT).label is Label.SUPPORTED
    spec = VerifierSpec(kind="majority", options={"label": "inconclusive"})
    found = build_verifier(spec).verify(NEAR, CONTEXT)
    assert isinstance(found, Verdict) and found.label is Label.INCONCLUSIVE


def test_thresholds_are_options() -> None:
    spec = VerifierSpec(kind="overlap", options={"threshold": 1.1})
    found = build_verifier(spec).verify(NEAR, CONTEXT)
    assert isinstance(found, Verdict) and found.label is Label.INCONCLUSIVE
