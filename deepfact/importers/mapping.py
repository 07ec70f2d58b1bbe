"""The mapping file of the generic importers: which of their columns is which of our fields.

    data_set: my-checks                 # named in provenance: "my-checks annotators"
    fields:                             # ours: theirs; a field left out has our name
      id: claim_id
      text: statement
      label: verdict
    labels:                             # theirs: ours; quote words such as "true" and "yes"
      "TRUE": supported
      "FALSE": contradictory
      Unproven: inconclusive
    spelling: loose                     # case, spaces, - and _ do not matter; exact by default
    annotators:                         # further labels of the same claim, kept beside the label
      - {who: second reader, label: verdict_2, rationale: why_2}
    licence: CC BY 4.0                  # for the dataset card, as is url
    constants:                          # where a row has nothing of its own
      domain: medicine
    sources:                            # documents that stand in the rows themselves
      field: evidence                   # a list of documents; left out: columns of the row
      text: passage
      url: link

Read with `deepfact.store.specs.read_yaml`, so an unknown key is an error with a suggestion.
This module describes the file and reads nothing.
"""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from deepfact.core.labels import DATA_SETS
from deepfact.records import Id, Label, SourceRole, Trust


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fields(_Part):
    """Their column for each of our fields. ``id`` and ``text`` must be there in every row; the
    others may be missing unless the mapping file names them."""

    id: str = Field(default="id", min_length=1)
    text: str = Field(default="text", min_length=1)
    label: str = Field(default="label", min_length=1)
    """Empty or missing in a row: the claim is unlabelled."""
    rationale: str = Field(default="rationale", min_length=1)
    context: str = Field(default="context", min_length=1)
    report: str = Field(default="report", min_length=1)
    sentence: str = Field(default="sentence", min_length=1)
    """Position in the report, from 0."""
    cites: str = Field(default="cites", min_length=1)
    """Ids of sources: a list, or one text with ``;`` or ``|`` between them."""
    domain: str = Field(default="domain", min_length=1)
    subject: str = Field(default="subject", min_length=1)
    predicate: str = Field(default="predicate", min_length=1)
    object: str = Field(default="object", min_length=1)
    kind: str = Field(default="kind", min_length=1)
    private: str = Field(default="private", min_length=1)
    """``true`` or ``false``: a private claim is never published or exported."""


class InlineSources(_Part):
    """Where the documents are that stand in the rows themselves. The row's claim cites them."""

    field: str = ""
    """Column with a document, or a list of them: objects, or plain texts. Empty: the columns
    below belong to the row, which holds one document at most."""
    title: str = Field(default="title", min_length=1)
    text: str = Field(default="text", min_length=1)
    url: str = Field(default="url", min_length=1)
    role: str = Field(default="role", min_length=1)
    trust: str = Field(default="trust", min_length=1)
    published: str = Field(default="published", min_length=1)


class Annotator(_Part):
    """Another annotator, whose labels stand in columns of their own. A row where theirs is empty
    has none of them. Where it is a list, each item is an annotator's, numbered from 1."""

    who: str = Field(min_length=1)
    label: str = Field(min_length=1)
    rationale: str = ""
    """Column with their reasons; empty: there is none."""


class Constants(_Part):
    """Values for rows that have none of their own; ``role`` and ``trust`` are those of sources."""

    report: Id | None = None
    context: str = ""
    domain: str = ""
    kind: str = ""
    role: SourceRole = SourceRole.SECONDARY
    trust: Trust = Trust.UNKNOWN


class Mapping(_Part):
    """A mapping file. The default is the mapping of files that have our names already."""

    data_set: str = ""
    """Name of the data set, for provenance; the file's name when empty."""
    fields: Fields = Fields()
    labels: dict[str, Label] = dict(DATA_SETS["deepfact"])
    """``their label -> ours``, case and all. In place of the default table, not beside it."""
    spelling: Literal["exact", "loose"] = "exact"
    """With ``loose``, labels that differ only in case, in spaces around them, or in spaces, ``-``
    and ``_`` within them are the same."""
    annotators: tuple[Annotator, ...] = ()
    constants: Constants = Constants()
    sources: InlineSources | None = None
    licence: str = ""
    url: str = ""
    """Where the data set is from."""

    def label_of(self, published: str) -> Label | None:
        """Our label for one of theirs, or None where the table does not have it."""
        if published in self.labels or self.spelling == "exact":
            return self.labels.get(published)
        return self.loosely(published)

    def loosely(self, published: str) -> Label | None:
        """As `label_of` with the spelling ``loose``; None as well where the table says two things
        of it."""
        found = {ours for theirs, ours in self.labels.items() if plain(theirs) == plain(published)}
        return found.pop() if len(found) == 1 else None

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if self.spelling == "loose":
            for word in self.labels:
                if self.loosely(word) is None:
                    raise ValueError(
                        f"labels: with the spelling loose, {word!r} and another word of the table "
                        "are the same and mean different labels"
                    )
        return self

    @field_validator("labels", mode="before")
    @classmethod
    def _words(cls, labels: Any) -> Any:
        # In YAML, yes, no, on, off, true and false are one value each for several spellings, so
        # the spelling in the data is lost unless it is quoted.
        if isinstance(labels, dict):
            for word in labels:
                if not isinstance(word, str):
                    raise ValueError(
                        f"the label {word!r} is no text in YAML; write it as in the data, between "
                        "quotation marks"
                    )
        return labels


def plain(label: str) -> str:
    """A label in lower case with single spaces for spaces, ``-`` and ``_``."""
    return " ".join(re.split(r"[\s_-]+", label.strip().casefold()))
