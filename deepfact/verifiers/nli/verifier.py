"""The `nli` verifier: a sequence-classification model of the user's own reads a claim's sources.

Sources are read in overlapping windows, or by their best sentences; what the model says of each
becomes what it says of the claim by a stated rule, and its probabilities stay with the verdict. It
learns nothing, and asks the network for nothing unless the spec says so. A model says how a text
bears on a claim, and not which words of the claim are wrong: where close reading finds them they
are named, and else the whole claim is, with a flag. Generated text is never read as evidence.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Iterator, Literal, Sequence

from pydantic import Field

from deepfact.errors import ConfigError
from deepfact.records import (
    Claim,
    Contradiction,
    Evidence,
    FailureReason,
    Label,
    Outcome,
    Source,
    SourceRole,
    Stance,
    Verdict,
    VerificationFailure,
)
from deepfact.retrievers.base import Passage
from deepfact.retrievers.bm25 import BM25Retriever
from deepfact.verifiers.base import Context
from deepfact.verifiers.nli.aggregate import RULES, Rule, aggregate, concluded
from deepfact.verifiers.nli.disputes import disputed_words
from deepfact.verifiers.nli.folder import ModelFolder, open_folder
from deepfact.verifiers.nli.labels import class_labels, mapping_words
from deepfact.verifiers.nli.runners import OnnxRunner, Runner, TransformersRunner, machine_threads
from deepfact.verifiers.nli.scoring import Order, PairEncoder, PairScorer
from deepfact.verifiers.nli.windows import Window, picked, windows

NOT_EVIDENCE = (SourceRole.GENERATED, SourceRole.MODEL_ANSWER)
AT_ONCE = 32
"""Claims whose pairs are put together into batches; an answer is kept when these are done."""
LEAST_EVIDENCE = 32
"""Tokens of evidence that must fit beside a claim."""
STEP = 32
"""Room for a claim is set aside in steps, so that claims share windows."""
SLACK = 8
"""A stretch of a text can have a few more tokens alone than within the text."""
PLACES = 4
"""Decimals of probabilities: the next one differs between machines."""

Scores = dict[Label, float]
Some = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim with what is read for it, and once it was read what the model says."""

    claim: Claim
    read: tuple[Window, ...]
    scores: Scores
    window: int
    """The one to quote, from 0."""


class NliVerifier:
    """Lets a model read the sources that a claim cites; where it cites none, those documents of the
    benchmark that BM25 finds for it."""

    name = "nli"

    def __init__(
        self,
        model: Annotated[str, Field(min_length=1)],
        labels: dict[str | int, Label] | None = None,
        file: str = "",
        revision: str = "",
        download: bool = False,
        order: Order = "evidence-first",
        read: Literal["windows", "sentences"] = "windows",
        window: Annotated[int, Field(ge=LEAST_EVIDENCE)] | None = None,
        overlap: Annotated[float, Field(ge=0, lt=1)] = 0.25,
        sentences: Some = 3,
        rule: Rule = "strongest",
        threshold: Annotated[float, Field(ge=0, le=1)] | None = None,
        documents: Some = 3,
        max_tokens: Annotated[int, Field(ge=2 * LEAST_EVIDENCE)] | None = None,
        batch: Some | None = None,
        threads: Some | None = None,
    ) -> None:
        """
        Args:
            model: a folder, or ``owner/name`` on the Hub.
            labels: what the model's classes mean, by name or number, where their names do not say.
            file: the ONNX file in the folder; the usual names by default.
            revision: of a model on the Hub.
            download: fetch the model from the Hub if it is not here yet.
            order: what the model reads first.
            read: all of the sources in windows, or the best sentences by BM25, together.
            window: tokens of a window; as many as fit beside the claim by default.
            overlap: share of a window that the one before may have shown already.
            sentences: how many, with ``read: sentences``.
            rule: how windows become one answer, see `deepfact.verifiers.nli.aggregate`.
            threshold: supported only above it; by default the likeliest label.
            documents: how many are read for a claim that cites none.
            max_tokens: of evidence and claim together; by default what the model's files say.
            batch: pairs run together; 16 by default, and 1 where a model's figures would differ.
            threads: all processors by default.

        Raises:
            InputError: no model there that can be read, or its labels are not known.
        """
        found = open_folder(model, file=file, revision=revision, download=download)
        self._labels = class_labels(found.config.names, labels or {}, where=str(found.folder))
        if len(self._labels) == 1 and self._labels[0] is not Label.SUPPORTED:
            raise ConfigError("the one class of the model has to mean supported", where=model)
        encoder = PairEncoder(found.folder / "tokenizer.json", order)
        runner = _runner(found, threads or machine_threads())
        pad = found.config.pad_token_id or 0
        self._scorer = PairScorer(encoder, runner, self._labels, pad=pad, batch=batch)
        self._scorer.check(str(found.weights))
        self._tokens = max_tokens or found.most_tokens()
        self._window, self._overlap = window, overlap
        self._sentences = sentences if read == "sentences" else 0
        self._rule, self._threshold, self._documents = rule, threshold, documents
        self._model = found.name
        self.rule = self._words(found, order)
        self._windows: OrderedDict[tuple[str, int], tuple[Window, ...]] = OrderedDict()
        self._indexes: OrderedDict[tuple[str, ...], BM25Retriever] = OrderedDict()

    def verify(self, claim: Claim, context: Context) -> Outcome:
        """The verdict on one claim; a failure when there is nothing to read."""
        return next(self.verify_all([claim], context))

    def verify_all(self, claims: Sequence[Claim], context: Context) -> Iterator[Outcome]:
        """An outcome for each claim, in order, some claims at a time."""
        for at in range(0, len(claims), AT_ONCE):
            yield from self._some(claims[at : at + AT_ONCE], context)

    def _some(self, claims: Sequence[Claim], context: Context) -> Iterator[Outcome]:
        material = {claim.id: self._material(claim, context) for claim in claims}
        pairs = [
            (window.text, claim.text)
            for claim in claims
            for window in _given(material[claim.id])
        ]  # fmt: skip
        said = iter(self._scorer.scores(pairs))
        asked: dict[str, _Asked] = {}
        failed: dict[str, Outcome] = {}
        for claim in claims:
            read = material[claim.id]
            if isinstance(read, VerificationFailure):
                failed[claim.id] = read
                continue
            scores = [next(said) for _ in read]
            sound = [one for one in scores if one is not None]
            if len(sound) < len(scores):
                detail = "the model gives no number for a window"
                failed[claim.id] = self._failure(claim, FailureReason.UNREADABLE, detail)
                continue
            total, window = aggregate(sound, self._rule)
            asked[claim.id] = _Asked(claim, read, total, window)
        quotes = self._quotes(list(asked.values()))
        for claim in claims:
            if claim.id in failed:
                yield failed[claim.id]
            else:
                yield self._verdict(asked[claim.id], quotes[claim.id], context)

    # --- what is read ------------------------------------------------------------------------

    def _material(self, claim: Claim, context: Context) -> tuple[Window, ...] | VerificationFailure:
        sources = self._sources(claim, context)
        if not any(source.text.strip() for source in sources):
            detail = "the claim cites no text that may serve as evidence, and none was found"
            return self._failure(claim, FailureReason.NO_SOURCE, detail)
        encoder = self._scorer.encoder
        tokens = encoder.count(claim.text)
        room = -(-tokens // STEP) * STEP
        size = self._tokens - encoder.specials - room - SLACK
        if size < LEAST_EVIDENCE:
            detail = f"the claim has {tokens} tokens, and the model reads {self._tokens} in all"
            return self._failure(claim, FailureReason.TRUNCATED, detail)
        size = min(size, self._window or size)
        if self._sentences:
            best = self._best(claim, sources)
            return (picked(best, encoder.count, size=size),)
        return tuple(window for source in sources for window in self._cut(source, size))

    def _sources(self, claim: Claim, context: Context) -> list[Source]:
        cited = context.cited(claim)
        if cited:
            return [source for source in cited if source.role not in NOT_EVIDENCE]
        found = context.retriever.search(claim.text, limit=10 * self._documents)
        ids = dict.fromkeys(passage.source for passage in found)
        sources = [context.sources[one] for one in ids]
        return [s for s in sources if s.role not in NOT_EVIDENCE][: self._documents]

    def _cut(self, source: Source, size: int) -> tuple[Window, ...]:
        key = source.id, size
        found = self._windows.pop(key, None)
        if found is None:
            offsets = self._scorer.encoder.offsets(source.text)
            found = tuple(windows(source, offsets, size=size, overlap=self._overlap))
        self._windows[key] = found
        while len(self._windows) > 256:
            self._windows.popitem(last=False)
        return found

    def _best(self, claim: Claim, sources: Sequence[Source]) -> list[Passage]:
        """The best sentences by BM25; the first ones where not a word is shared."""
        key = tuple(source.id for source in sources)
        index = self._indexes.pop(key, None) or BM25Retriever(sources)
        self._indexes[key] = index
        while len(self._indexes) > 64:
            self._indexes.popitem(last=False)
        found = index.search(claim.text, limit=self._sentences)
        return list(found or index.passages[: self._sentences])

    # --- what is concluded -------------------------------------------------------------------

    def _quotes(self, asked: Sequence[_Asked]) -> dict[str, Passage]:
        """For each claim the sentence of its window that alone says most of what was concluded."""
        of = {one.claim.id: one.read[one.window].sentences for one in asked}
        many = [one for one in asked if len(of[one.claim.id]) > 1]
        pairs = [(each.text, one.claim.text) for one in many for each in of[one.claim.id]]
        said = iter(self._scorer.scores(pairs))
        found = {one.claim.id: of[one.claim.id][0] for one in asked}
        for one in many:
            sentences = of[one.claim.id]
            label = concluded(one.scores, self._threshold)
            scores: list[Scores] = [one or {} for one in islice(said, len(sentences))]
            found[one.claim.id] = sentences[
                max(range(len(sentences)), key=lambda at: (_weight(scores[at], label), -at))
            ]
        return found

    def _verdict(self, asked: _Asked, quote: Passage, context: Context) -> Verdict:
        claim, label = asked.claim, concluded(asked.scores, self._threshold)
        stance = {
            Label.SUPPORTED: Stance.SUPPORTS, Label.CONTRADICTORY: Stance.CONTRADICTS,
        }.get(label, Stance.CONTEXT)  # fmt: skip
        contradictions: tuple[Contradiction, ...] = ()
        flags: tuple[str, ...] = ()
        if label is Label.CONTRADICTORY:
            words = disputed_words(claim.text, quote.text)
            if not words:
                flags = ("disputed part: the model names none, so the whole claim stands for it",)
            contradictions = (
                Contradiction(disputed=words or claim.text, source=quote.source, quote=quote.text),
            )
        return Verdict(
            claim_id=claim.id,
            verifier=self.name,
            label=label,
            rationale=self._rationale(asked, context.sources[quote.source].title),
            evidence=(
                Evidence(source=quote.source, quote=quote.text, stance=stance, span=quote.span),
            ),
            contradictions=contradictions,
            scores={each: round(value, PLACES) for each, value in asked.scores.items()},
            flags=flags,
            rule=self.rule,
        )

    def _rationale(self, asked: _Asked, title: str) -> str:
        said = ", ".join(f"{label} {value:.2f}" for label, value in asked.scores.items())
        what = (
            f"{len(asked.read[0].sentences)} sentences"
            if self._sentences
            else f"window {asked.window + 1} of {len(asked.read)}"
        )
        return f"The model {self._model} gives {said}; quoted from {what}, “{title}”."

    def _words(self, found: ModelFolder, order: Order) -> str:
        """The rule in full, for the record."""
        read = (
            f"the {self._sentences} best sentences together"
            if self._sentences
            else f"windows of at most {self._window or self._tokens} tokens with an overlap of "
            f"{self._overlap:.0%}; {self._rule}: {RULES[self._rule]}"
        )
        above = (
            "the likeliest label" if self._threshold is None
            else f"supported above {self._threshold}, else the likeliest of the others"
        )  # fmt: skip
        classes = mapping_words(found.config.names, self._labels)
        return (
            f"nli: {self._model} (sha256 {found.identity()}...), {order}, {self._tokens} tokens; "
            f"{classes}; {read}; {above}"
        )

    def _failure(self, claim: Claim, reason: FailureReason, detail: str) -> VerificationFailure:
        return VerificationFailure(
            claim_id=claim.id, verifier=self.name, reason=reason, detail=detail, rule=self.rule
        )


def _runner(found: ModelFolder, threads: int) -> Runner:
    if found.onnx is not None:
        return OnnxRunner(found.onnx, threads)
    return TransformersRunner(found.folder, threads)


def _given(read: tuple[Window, ...] | VerificationFailure) -> tuple[Window, ...]:
    return () if isinstance(read, VerificationFailure) else read


def _weight(scores: Scores, label: Label) -> float:
    """How much of a conclusion a sentence says; of an open one, how much it says at all."""
    if label is Label.INCONCLUSIVE:
        return 1 - scores.get(label, 1.0)
    return scores.get(label, 0.0)
