"""Pairs of evidence and claim in, the probability of each label out: tokens, batches, softmax.

Texts are tokenised once and kept; pairs are run by length, each batch padded to its longest. A
model whose activations are quantised as it runs gives a pair other figures in other company, so
its pairs run alone: what is said of a claim must not depend on which others were asked about.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Sequence

from deepfact.errors import InputError, MissingExtraError
from deepfact.records import Label
from deepfact.verifiers.nli.runners import Runner
from deepfact.verifiers.nli.windows import Offsets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Order = Literal["evidence-first", "claim-first"]
Pair = tuple[str, str]
"""Evidence and claim."""
KEPT = 4096
"""Texts whose tokens are kept."""
BATCH = 16


class PairEncoder:
    """A model's tokenizer.

    Args:
        path: its ``tokenizer.json``.
        order: which of evidence and claim the model was trained to read first.

    Raises:
        InputError: no such file, or not of a tokenizer.
        MissingExtraError: the library is not installed.
    """

    def __init__(self, path: Path, order: Order) -> None:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"the nli verifier needs {error.name}", extra="nli") from None
        if not path.is_file():
            raise InputError(
                "the model's folder has no tokenizer.json",
                where=str(path.parent),
                fix="save the fast tokenizer of transformers beside the model",
            )
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # it raises plain Exception
            raise InputError(f"not a tokenizer: {error}", where=str(path)) from None
        # Files often keep what they were trained with: cut at 128 tokens, pad to 128.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.order = order
        self.specials: int = self._tokenizer.num_special_tokens_to_add(True)
        self._encoded = lru_cache(maxsize=KEPT)(self._encode)

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._encoded(text).ids)

    def offsets(self, text: str) -> Offsets:
        """Where each token of a long text begins and ends; not kept."""
        found: Offsets = self._encode(text).offsets
        return found

    def pair(self, evidence: str, claim: str) -> tuple[list[int], list[int]]:
        """Token ids and token types of a pair, special tokens included."""
        first, second = (evidence, claim) if self.order == "evidence-first" else (claim, evidence)
        made = self._tokenizer.post_process(self._encoded(first), self._encoded(second), True)
        return made.ids, made.type_ids


class PairScorer:
    """A model as a function from pairs to probabilities.

    Args:
        encoder: of the same model.
        runner: of the same model.
        labels: what each class means.
        pad: id of the padding token.
        batch: pairs in a batch; None is 16, and 1 for a model whose pairs run alone.
    """

    def __init__(
        self,
        encoder: PairEncoder,
        runner: Runner,
        labels: Sequence[Label],
        *,
        pad: int,
        batch: int | None = None,
    ) -> None:
        self.encoder, self.labels = encoder, tuple(labels)
        self._runner, self._pad = runner, pad
        self.batch = batch or (1 if runner.alone else BATCH)

    def check(self, where: str) -> None:
        """Run one pair, so that a model that does not fit its description is found at once.

        Raises:
            InputError: it cannot be run, or gives other classes than it names.
        """
        try:
            found = self._run([self.encoder.pair("It rains.", "It rains.")])
        except Exception as error:  # whatever runs the weights
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"the model cannot be run: {reason}", where=where) from None
        if found.shape != (1, len(self.labels)):
            raise InputError(
                f"the model gives {found.shape} figures for a pair, and its config names "
                f"{len(self.labels)} classes",
                where=where,
                fix="do config.json and the weights belong together?",
            )

    def scores(self, pairs: Sequence[Pair]) -> list[dict[Label, float] | None]:
        """The probability of each label for each pair; None where the model gives no number."""
        encoded = {pair: self.encoder.pair(*pair) for pair in dict.fromkeys(pairs)}
        by_length = sorted(encoded, key=lambda pair: (len(encoded[pair][0]), pair))
        found: dict[Pair, dict[Label, float] | None] = {}
        for at in range(0, len(by_length), self.batch):
            batch = by_length[at : at + self.batch]
            logits = self._run([encoded[pair] for pair in batch])
            found |= dict(zip(batch, map(self._probabilities, logits.tolist()), strict=True))
        return [found[pair] for pair in pairs]

    def _run(self, encoded: Sequence[tuple[list[int], list[int]]]) -> NDArray[np.float64]:
        import numpy as np

        longest = max(len(ids) for ids, _ in encoded)
        shape = (len(encoded), longest)
        made = {
            "input_ids": np.full(shape, self._pad, dtype=np.int64),
            "attention_mask": np.zeros(shape, dtype=np.int64),
            "token_type_ids": np.zeros(shape, dtype=np.int64),
        }
        for row, (ids, types) in enumerate(encoded):
            made["input_ids"][row, : len(ids)] = ids
            made["attention_mask"][row, : len(ids)] = 1
            made["token_type_ids"][row, : len(ids)] = types
        return self._runner.logits(made)

    def _probabilities(self, logits: Sequence[float]) -> dict[Label, float] | None:
        import numpy as np

        if not np.isfinite(logits).all():
            return None
        if len(self.labels) == 1:
            supported = float(1 / (1 + np.exp(-np.clip(logits[0], -500, 500))))
            return {Label.SUPPORTED: supported, Label.INCONCLUSIVE: 1 - supported}
        odds = np.exp(np.asarray(logits) - np.max(logits))
        shares = odds / odds.sum()
        # Several classes may mean one label.
        return {
            label: float(
                sum(s for s, each in zip(shares, self.labels, strict=True) if each is label)
            )
            for label in Label
            if label in self.labels
        }
