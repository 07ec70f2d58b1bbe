"""The training mixture: real judged claims, and sentences changed in known ways.

Mixture (licences are MIT throughout; nothing here is from SciFact, Factcheck-Bench, WiCE or
deepfact-mini, which the verifier is measured on, and nothing from a non-commercial folder):

- Citation-Integrity, dev and test: citing sentences with passages of the cited paper. SUPPORT
  is supported; no evidence is inconclusive; REFUTE is inconclusive too, for there it stands for
  "cited inaccurately" (unsubstantiated, oversimplified, misattributed), seldom for the opposite.
- ExpertQA, rand_val: claims with the passage that was attributed. Complete support is
  supported; incomplete, partial and missing support are inconclusive. Claims without a passage
  are left out.
- Changed: supported claims of both with one known change (number, unit, date, name, direction,
  negation) are contradictory; sentences of the same documents, reworded, are supported,
  contradictory with one change, and inconclusive when the sentence is taken out of the
  document, when its hedge is dropped, or when a second document says otherwise.
- Mismatched: claims beside a document of another claim are inconclusive.
- deepfact-practice: this project's own claims for developing on, with their author's labels.

Reads files, draws only from the generator it is given.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from deepfact.reading.elements import Elements, elements, without_markers
from deepfact.records import Claim, Label, Source
from deepfact.retrievers.passages import sentence_spans
from deepfact.retrievers.words import stems, words
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_lines
from deepfact.training import perturb

SETS = {
    "citation-integrity": ("MIT", "citing sentences with passages of the cited paper"),
    "expertqa": ("MIT", "claims with attributed web passages"),
    "changed": ("MIT", "claims and sentences of the two above, with one known change"),
    "deepfact-practice": ("MIT", "this project's own claims for developing on, author's key"),
    "mismatched": ("MIT", "claims of the two above beside another claim's document"),
}


REWORDED = (0.1, 0.9)
"""Share of content words that a made claim has in other words, drawn evenly. Really judged
claims of the mixture that are supported share only two in five with their best passage."""


@dataclass(frozen=True, slots=True)
class Example:
    """One training case."""

    set: str
    group: str
    """Document it hangs on: cross-validation never splits one."""
    claim: Claim
    sources: tuple[Source, ...]
    label: Label
    kind: str
    """Which sort of case: ``real``, ``practice``, or the change that made it."""
    context: Mapping[str, Source] = field(default_factory=dict)
    """All sources of the benchmark it is from; empty when there are no others than its own."""


def examples(data: Path, practice: Path, rng: random.Random) -> list[Example]:
    """All training cases, in a fixed order for a given generator.

    Args:
        data: folder of the public data sets.
        practice: folder of deepfact-practice.
        rng: what every choice is drawn from.
    """
    real = [*_citation_integrity(data), *_expertqa(data)]
    changed = [case for example in real for case in _changed_claims(example, rng)]
    documents = sorted({e.group: e.sources[0] for e in real}.items())
    foreign = _foreign_words(documents)
    from_text = [
        case
        for group, source in documents
        for case in _from_document(group, source, documents, foreign, rng)
    ]
    made = [*real, *changed, *from_text, *_mismatched(real, rng)]
    return [*made, *practice_cases(practice)]


def practice_cases(folder: Path) -> list[Example]:
    """The claims of a benchmark of this project; their group is the report that they stood in."""
    store = BenchmarkStore(folder)
    version, key = store.load(), store.key("author")
    sources = {source: version.sources[source] for source in version.sources}
    return [
        Example(
            set="deepfact-practice",
            group=claim.report,
            claim=claim,
            sources=tuple(sources[source] for source in claim.cites if source in sources),
            label=key[claim.id].label,
            kind="practice",
            context=sources,
        )
        for claim in version.claims
        if claim.id in key
    ]


def example(
    set_name: str, group: str, text: str, sources: Sequence[Source], label: Label, kind: str
) -> Example:
    """A case whose claim cites exactly its sources."""
    claim = Claim(id="claim", text=text, cites=tuple(source.id for source in sources))
    return Example(set_name, group, claim, tuple(sources), label, kind)


# --- real --------------------------------------------------------------------------------


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line."""
    for _, line in read_lines(path):
        yield json.loads(line)


def _citation_integrity(data: Path) -> Iterator[Example]:
    folder = data / "citation-integrity"
    texts = {
        row["doc_id"]: "\n\n".join(row["abstract"])
        for row in rows(folder / "corpus_dev_test.jsonl")
    }
    for name in ("claims_dev.jsonl", "claims_test.jsonl"):
        for row in rows(folder / name):
            text = _tidy(row["claim"])
            cited = [Source.create(title="", text=texts[d]) for d in row["cited_doc_ids"]]
            if not cited or len(text) < 20:
                continue
            judged = {e["label"] for entries in row["evidence"].values() for e in entries}
            label = Label.SUPPORTED if judged == {"SUPPORT"} else Label.INCONCLUSIVE
            group = f"citint-{row['cited_doc_ids'][0]}"
            yield example("citation-integrity", group, text, cited, label, "real")


def _expertqa(data: Path) -> Iterator[Example]:
    for number, row in enumerate(rows(data / "expertqa" / "rand_val.ids-recoded.jsonl")):
        for answer in row["answers"].values():
            for claim in answer["claims"]:
                texts = [_passage(text) for text in claim["evidence"] or []]
                sources = [Source.create(title="", text=text) for text in texts if text]
                text = _tidy(claim["claim_string"])
                if not sources or len(text) < 25 or claim["support"] in (None, "N/A"):
                    continue
                complete = claim["support"] == "Complete"
                label = Label.SUPPORTED if complete else Label.INCONCLUSIVE
                yield example("expertqa", f"expertqa-{number}", text, sources, label, "real")


def _passage(evidence: str) -> str:
    """The passage of an ExpertQA evidence string, empty when there is only an address."""
    passage = evidence.partition("\n\n")[2].strip()
    return passage if len(passage.split()) >= 12 else ""


def _tidy(text: str) -> str:
    """A claim without citation markers and the gaps that they leave."""
    plain = re.sub(r"\(\s*\)|\[\s*[\],\s\d]*\]", "", without_markers(text))
    return re.sub(r"\s+([.,;)])", r"\1", re.sub(r"\s+", " ", plain)).strip()


# --- changed -----------------------------------------------------------------------------


def _changed_claims(case: Example, rng: random.Random) -> Iterator[Example]:
    """A supported claim with one change in what the source is known to say."""
    if case.label is not Label.SUPPORTED or len(case.claim.text) > 600:
        return
    around = [
        elements(s.text[p.start : p.end]) for s in case.sources for p in sentence_spans(s.text)
    ]
    text = " ".join(source.text for source in case.sources)
    made = 0
    for kind, changed in _changes(case.claim.text, around, rng):
        in_source = kind in ("direction", "negation") or _was_said(case.claim.text, changed, text)
        if made < 2 and in_source:
            made += 1
            label = Label.CONTRADICTORY
            yield example("changed", case.group, changed, case.sources, label, f"real-{kind}")


def _was_said(before: str, after: str, source: str) -> bool:
    """Whether what was changed stood in the source, so that the change disputes it."""
    lowered = source.lower()
    gone = set(before.lower().split()) - set(after.lower().split())
    return bool(gone) and all(word.strip(".,;()") in lowered for word in gone)


def _foreign_words(documents: Sequence[tuple[str, Source]]) -> list[str]:
    """Plain content words of all documents, to put in the place of others."""
    found = {
        word.text
        for _, source in documents
        for word in words(source.text)
        if word.content and word.text.isalpha() and word.text.islower() and len(word.text) > 4
    }
    return sorted(found)


def _from_document(
    group: str,
    source: Source,
    documents: Sequence[tuple[str, Source]],
    foreign: Sequence[str],
    rng: random.Random,
) -> Iterator[Example]:
    """Cases made of up to two sentences of one document."""
    spans = sentence_spans(source.text)
    sentences = [" ".join(source.text[span.start : span.end].split()) for span in spans]
    fit = [at for at, text in enumerate(sentences) if 8 <= len(text.split()) <= 45]
    if len(sentences) < 4 or len(fit) < 2:
        return
    own = set(stems(source.text))
    others = [word for word in rng.sample(foreign, 60) if stems(word) and stems(word)[0] not in own]
    for at in rng.sample(fit, 2):
        second = rng.choice([place for place in fit if place != at])
        elsewhere = rng.choice(documents)[1]
        yield from _Sentence(group, sentences, at, second, elsewhere, others, rng).cases()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence of a document, of which known cases are made.

    Every case has as many sources and sentences as its like with another label, or the model
    would learn to count them.
    """

    group: str
    sentences: Sequence[str]
    at: int
    second: int
    """Another sentence of the document."""
    elsewhere: Source
    """Another document."""
    foreign: Sequence[str]
    rng: random.Random

    def cases(self) -> Iterator[Example]:
        """Reworded, changed, taken out, unhedged, joined with another, disputed elsewhere."""
        rng = self.rng
        sentence = perturb.shortened(self.sentences[self.at])
        around = [elements(text) for text in self.sentences]
        spare = [at for at in range(len(self.sentences)) if at not in (self.at, self.second)]
        source, without = self._document(rng.choice(spare)), self._document(self.at)
        hedged = perturb.unhedged(sentence, around, rng)
        if hedged is not None:
            yield self._case(hedged, source, Label.INCONCLUSIVE, "unhedged")
        else:
            true = perturb.restated(sentence, rng) or sentence
            yield self._case(true, source, Label.SUPPORTED, "reworded")
        yield self._case(sentence, without, Label.INCONCLUSIVE, "absent")
        changes = list(_changes(sentence, around, rng))
        for kind, text in changes[:2]:
            yield self._case(text, source, Label.CONTRADICTORY, kind)
        if changes and rng.random() < 0.3:
            yield self._case(sentence, source, Label.INCONCLUSIVE, "conflict", changes[0][1])
        if hedged is None and rng.random() < 0.5:
            other = self.sentences[self.second]
            both = f"{sentence.rstrip('.')}, and {other[0].lower()}{other[1:]}"
            yield self._case(both, source, Label.SUPPORTED, "joined")
            yield self._case(both, self._document(self.second), Label.INCONCLUSIVE, "half")

    def _document(self, leave_out: int) -> str:
        return "\n\n".join(t for place, t in enumerate(self.sentences) if place != leave_out)

    def _case(
        self, text: str, document: str, label: Label, kind: str, disputing: str = ""
    ) -> Example:
        """A reworded claim beside a document, and often another one, which may dispute it."""
        share = self.rng.uniform(*REWORDED)
        claim = perturb.reworded(text, self.foreign, share, self.rng)
        sources = [Source.create(title="", text=document)]
        if disputing:
            disputing = perturb.reworded(disputing, self.foreign, 0.2, self.rng)
            sources.append(Source.create(title="", text=f"{disputing}\n\n{self.elsewhere.text}"))
        elif self.rng.random() < 0.3:
            sources.append(self.elsewhere)
        return example("changed", self.group, claim, sources, label, kind)


def _changes(
    text: str, around: Sequence[Elements], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """Every sort of change that applies, each once, in random order."""
    for kind in rng.sample(sorted(perturb.CHANGES), len(perturb.CHANGES)):
        changed = perturb.CHANGES[kind](text, around, rng)
        if changed is not None and changed != text:
            yield kind, changed


def _mismatched(real: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    """Every fifth claim beside a document of another claim of its set."""
    for case in real[::5]:
        others = [e for e in real if e.set == case.set and e.group != case.group]
        other = rng.choice(others)
        yield example(
            "mismatched",
            case.group,
            case.claim.text,
            other.sources,
            Label.INCONCLUSIVE,
            "mismatched",
        )
