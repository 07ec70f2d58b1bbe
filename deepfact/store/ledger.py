"""A research run's ledger: one append-only file, chained by hashes, and the texts of its cards.

    <run>/ledger.jsonl    what was added, one thing a line, each line with the hash of the last
    <run>/ledger.head     how many lines there are and the hash of the newest one
    <run>/sources/        the cards' texts, content-addressed

A line is on disk before anything acts on it, and no line is ever changed: a later outcome or
decision stands beside the earlier one. An edited, missing or reordered line is found when the
ledger is read. This module knows no verifier and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import Field, TypeAdapter

from deepfact.errors import InputError, IntegrityError, ResultsExistError, did_you_mean
from deepfact.records import FileRecord, Hash, Outcome, Record, Source, sha256_of
from deepfact.research_records import (
    CrossReading,
    Ledger,
    Link,
    ResearchClaim,
    Resolution,
    SourceCard,
)
from deepfact.store.files import (
    append,
    cut_half_line,
    parse_record,
    read_record,
    sync_folder,
    write_text,
)
from deepfact.store.ledger_records import (
    AnyEntry,
    CardAdded,
    CardEntry,
    ClaimAdded,
    ClaimEntry,
    LedgerDocument,
    LedgerLine,
    LinkAdded,
    LinkEntry,
    OutcomeAdded,
    QuestionSet,
    ReadingAdded,
    ResolutionAdded,
)
from deepfact.store.sources import SourceStore

FILE, HEAD = "ledger.jsonl", "ledger.head"
_LINE: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)


class LedgerHead(FileRecord):
    """``ledger.head``: so that lines cut off at the end are missed."""

    lines: int = Field(ge=1)
    hash: Hash


@dataclass
class _State:
    """What the lines so far come to."""

    about: QuestionSet = field(default_factory=QuestionSet)
    cards: dict[str, SourceCard] = field(default_factory=dict)
    claims: dict[str, ResearchClaim] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    readings: dict[tuple[str, str], CrossReading] = field(default_factory=dict)
    resolutions: list[Resolution] = field(default_factory=list)

    def ledger(self) -> Ledger:
        return Ledger(
            question=self.about.question,
            as_of=self.about.as_of,
            aliases=self.about.aliases,
            cards=tuple(self.cards.values()),
            claims=tuple(self.claims.values()),
            links=tuple(self.links),
            outcomes=tuple(self.outcomes.values()),
            readings=tuple(self.readings.values()),
            resolutions=tuple(self.resolutions),
        )

    def apply(self, entry: AnyEntry, sources: Mapping[str, Source], where: str) -> bool:
        """Take an entry in; False when everything it says is there already.

        Raises:
            InputError: it names a card or claim that is not there, or a claim's id is taken.
        """
        if isinstance(entry, CardAdded):
            if entry.source in self.cards:
                return False
            self.cards[entry.source] = SourceCard(
                source=sources[entry.source],
                type=entry.type,
                excerpt=entry.excerpt,
                flags=entry.flags,
            )
        elif isinstance(entry, ClaimAdded):
            return self._claim(entry.claim, where)
        elif isinstance(entry, LinkAdded):
            self._known(entry.link.claim, entry.link.card, where)
            if entry.link in self.links:
                return False
            self.links.append(entry.link)
        elif isinstance(entry, OutcomeAdded):
            self._known(entry.outcome.claim_id, None, where)
            self.outcomes[entry.outcome.claim_id] = entry.outcome
        elif isinstance(entry, ReadingAdded):
            self._known(entry.reading.claim, entry.reading.card, where)
            self.readings[entry.reading.claim, entry.reading.card] = entry.reading
        elif isinstance(entry, ResolutionAdded):
            if entry.resolution.withdrawn is not None:
                self._known(None, entry.resolution.withdrawn, where)
            if entry.resolution in self.resolutions:
                return False
            self.resolutions.append(entry.resolution)
        elif isinstance(entry, QuestionSet):
            if entry == self.about:
                return False
            self.about = entry
        return True

    def _claim(self, claim: ResearchClaim, where: str) -> bool:
        self._known(None, claim.card, f"{where}, claim {claim.id}")
        there = self.claims.get(claim.id)
        if there is not None and there != claim:
            raise InputError(
                f"the ledger has another claim of the id {claim.id!r}",
                where=where,
                fix="give the new claim an id of its own; no claim is ever changed",
            )
        self.claims[claim.id] = claim
        return there is None

    def _known(self, claim: str | None, card: str | None, where: str) -> None:
        for what, name, known in (("claim", claim, self.claims), ("card", card, self.cards)):
            if name is not None and name not in known:
                raise InputError(
                    f"there is no {what} {name!r} in the ledger",
                    where=where,
                    fix=did_you_mean(name, known),
                )


class LedgerStore:
    """The ledger of a run's folder, held by one process at a time. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        """Prepares the ledger of ``folder``, which is created on entering."""
        self.folder, self.path = folder, folder / FILE
        self.sources = SourceStore(folder / "sources")
        self._state = _State()
        self._lines, self._last = 0, ""
        self.repaired = 0
        """Bytes of a half-written last line that were cut off on opening."""

    def __enter__(self) -> Self:
        from filelock import FileLock, Timeout

        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("this is a file, a folder is needed", where=str(self.folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.folder / ".ledger.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise ResultsExistError(
                "this ledger is in use by another process", where=str(self.folder)
            ) from None
        try:
            self.repaired = cut_half_line(self.path)
            self._state, self._lines, self._last = _read(self.folder, self.sources)
            self._file = self.path.open("ab", buffering=0)
            sync_folder(self.folder)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._lock.release()

    @property
    def ledger(self) -> Ledger:
        """The ledger as it is now."""
        return self._state.ledger()

    def add(self, entries: Iterable[AnyEntry], *, who: str, when: datetime) -> int:
        """Add entries; durable on return. What is there already is left out.

        Returns:
            How many were new.

        Raises:
            InputError: an entry does not fit; nothing was added.
        """
        trial, new = _copy(self._state), list[AnyEntry]()
        for entry in entries:
            if trial.apply(entry, self.sources, str(self.path)):
                new.append(entry)
        if not new:
            return 0
        lines, last, data = self._lines, self._last, b""
        for entry in new:
            line = LedgerLine(
                number=lines + 1, previous=last or None, who=who, when=when, entry=entry
            )
            text = line.canonical().encode("utf-8")
            lines, last, data = lines + 1, sha256_of(text), data + text + b"\n"
        append(self._file, data)
        self._lines, self._last, self._state = lines, last, trial
        write_text(self.folder / HEAD, LedgerHead(lines=lines, hash=last).canonical() + "\n")
        return len(new)

    def add_cards(self, cards: Sequence[SourceCard], *, who: str, when: datetime) -> int:
        """Keep the cards' texts, then add the cards; as `add`."""
        for card in cards:
            self.sources.add(card.source)
        return self.add(map(card_entry, cards), who=who, when=when)


def card_entry(card: SourceCard) -> CardAdded:
    """The line that adds a card."""
    return CardAdded(source=card.source.id, type=card.type, excerpt=card.excerpt, flags=card.flags)


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a run's folder. Reads only, so that it can look at a run in progress.

    Raises:
        InputError: there is none.
        IntegrityError: a line or a text does not match its hash.
    """
    if not (folder / FILE).is_file():
        raise InputError(
            "there is no ledger in this folder",
            where=str(folder),
            fix="start one with: deepfact research add-source, import or run",
        )
    return _read(folder, SourceStore(folder / "sources"))[0].ledger()


def read_lines(folder: Path) -> list[LedgerLine]:
    """Every line of a ledger, oldest first, its chain checked; errors as `read_ledger`."""
    path = folder / FILE
    data = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    lines, previous = list[LedgerLine](), None
    for number, text in enumerate(data, 1):
        line = parse_record(text, _LINE, where=f"{path}, line {number}")
        if line.previous != previous or line.number != number:
            raise IntegrityError(
                "this line does not follow from the one before it: the ledger was edited",
                where=f"{path}, line {number}",
            )
        lines.append(line)
        previous = sha256_of(text)
    if (folder / HEAD).is_file():
        head = read_record(folder / HEAD, LedgerHead)
        known = sha256_of(data[head.lines - 1]) if head.lines <= len(data) else ""
        if known != head.hash:
            raise IntegrityError(
                f"the ledger does not end as {HEAD} says: lines were cut off or changed",
                where=str(path),
            )
    return lines


def _read(folder: Path, sources: SourceStore) -> tuple[_State, int, str]:
    """The state, the number of lines, and the hash of the last one."""
    state, lines = _State(), read_lines(folder)
    for line in lines:
        where = f"{folder / FILE}, line {line.number}"
        try:
            state.apply(line.entry, sources, where)
        except KeyError:
            raise IntegrityError("the text of this card is missing", where=where) from None
    last = sha256_of(lines[-1].canonical()) if lines else ""
    return state, len(lines), last


def _copy(state: _State) -> _State:
    return _State(
        state.about,
        dict(state.cards),
        dict(state.claims),
        list(state.links),
        dict(state.outcomes),
        dict(state.readings),
        list(state.resolutions),
    )


# --- as one JSON document ----------------------------------------------------------------

Flags = Callable[[str], tuple[str, ...]]
"""Names what is odd in a text; see `deepfact.prompts.fence.suspicions`."""


def document_entries(
    document: LedgerDocument, *, where: str, flags: Flags
) -> tuple[list[SourceCard], list[AnyEntry]]:
    """The cards of a document, and everything else as entries of a ledger.

    Raises:
        InputError: a card's id is not its hash, two cards share a name, or a claim or link
            names a card that is not there.
    """
    cards, names = list[SourceCard](), dict[str, str]()
    for entry in document.cards:
        card = _card(entry, where, flags)
        if entry.name and names.setdefault(entry.name, card.source.id) != card.source.id:
            raise InputError(f"two cards are called {entry.name!r}", where=where)
        names[card.source.id] = card.source.id
        cards.append(card)

    def card_of(name: str, whose: str) -> str:
        if name not in names:
            short = [one for one in names if not one.startswith("sha256:")]
            fix = did_you_mean(name, short) or "give the card a name and refer to it"
            raise InputError(f"{whose} names no card: {name!r}", where=where, fix=fix)
        return names[name]

    entries: list[AnyEntry] = [
        ClaimAdded(
            claim=ResearchClaim(**{**dict(one), "card": card_of(one.card, f"claim {one.id!r}")})
        )
        for one in document.claims
    ]
    entries += [
        LinkAdded(link=Link(**{**dict(one), "card": card_of(one.card, "a link")}))
        for one in document.links
    ]
    entries += [OutcomeAdded(outcome=one) for one in document.outcomes]
    entries += [ReadingAdded(reading=one) for one in document.readings]
    entries += [ResolutionAdded(resolution=one) for one in document.resolutions]
    about = QuestionSet(question=document.question, as_of=document.as_of, aliases=document.aliases)
    return cards, [*entries, about] if about != QuestionSet() else entries


def _card(entry: CardEntry, where: str, flags: Flags) -> SourceCard:
    fields = dict(entry)
    given = fields.pop("id")
    own = {name: fields.pop(name) for name in ("name", "type", "excerpt")}
    source = Source.create(**fields)
    if given is not None and given != source.id:
        raise InputError(
            f"the id of card {entry.title!r} is not the hash of the card",
            where=where,
            fix=f"leave the id out, or write {source.id}",
        )
    return SourceCard(
        source=source, type=own["type"], excerpt=own["excerpt"], flags=flags(source.text)
    )


def ledger_of(document: LedgerDocument, *, where: str, flags: Flags) -> Ledger:
    """The ledger that a document holds; errors as `document_entries` and `LedgerStore.add`."""
    cards, entries = document_entries(document, where=where, flags=flags)
    state, texts = _State(), {card.source.id: card.source for card in cards}
    for entry in (*map(card_entry, cards), *entries):
        state.apply(entry, texts, where)
    return state.ledger()


def document_of(ledger: Ledger) -> LedgerDocument:
    """A ledger as one document, which gives the same ledger again."""
    return LedgerDocument(
        question=ledger.question,
        as_of=ledger.as_of,
        aliases=ledger.aliases,
        cards=tuple(
            CardEntry(type=card.type, excerpt=card.excerpt, **_fields(card.source))
            for card in ledger.cards
        ),
        claims=tuple(ClaimEntry(**_fields(claim)) for claim in ledger.claims),
        links=tuple(LinkEntry(**_fields(link)) for link in ledger.links),
        outcomes=ledger.outcomes,
        readings=ledger.readings,
        resolutions=ledger.resolutions,
    )


def _fields(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record if name != "schema_version"}
