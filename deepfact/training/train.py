"""Fit the local verifier's weights.

    python -m deepfact.training.train --data DIR

The model is a multinomial logistic regression whose coefficients may only have the sign that
their feature has (`deepfact.verifiers.local.features.SENSE`): what a claim made in a known way
happens to look like cannot teach it that more coverage speaks against support. Candidates differ
in how much a claim of deepfact-practice counts beside the rest and in how strongly coefficients
are held back. Each is tried on deepfact-drill, which no fit sees, and, two ways, on the really
judged claims of the one public set when fitted without that set. The one with the best sum of
accuracy and macro-F1 on the first, and macro-F1 on the second, is fitted on everything and written
as JSON. How it does on reports of deepfact-practice that it was not fitted on is written down too,
but chooses nothing: those claims were read while the features were made.

The temperature for label shares told is that of the least log loss on each public set, when fitted
without it, and on deepfact-drill. The same data, seed, and versions of numpy and scipy give the
same file. See `sets` for the mixture and its licences.

Contradictory cases in which the comparison finds nothing to name are left out of the fit: the
verifier may not conclude so there, whatever the model says.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from deepfact.records import Label
from deepfact.store.files import write_text
from deepfact.training.sets import SETS, Example, examples, practice_cases
from deepfact.verifiers.base import Context
from deepfact.verifiers.local.features import NAMES, SENSE, features
from deepfact.verifiers.local.model import (
    WEIGHTS,
    Linear,
    TrainingSet,
    Weights,
    weights_json,
)
from deepfact.verifiers.local.verifier import LocalVerifier, concluded, nameable_dispute

SEED = 20260101
LABELS = (Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE)
PRIOR = {Label.SUPPORTED: 0.45, Label.CONTRADICTORY: 0.28, Label.INCONCLUSIVE: 0.27}
"""How often each label is taken to occur where the verifier is used: a neutral guess made
before any measurement, since the mixture's own shares are ours to choose."""
REAL_WEIGHT = 0.25
"""What a really judged claim counts beside one that was made: its label is noisier (one
annotator, and "inaccurately cited" for several faults)."""
TEMPERATURES = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
DRILL = Path(__file__).parents[2] / "benchmarks" / "deepfact-drill"
PRACTICE = Path(__file__).parents[2] / "benchmarks" / "deepfact-practice"
SHIPPED = Path(__file__).parents[1] / "verifiers" / "local" / WEIGHTS


@dataclass(frozen=True)
class Candidate:
    """What is tried: the share of deepfact-practice in the fit, and the penalty."""

    practice: float
    """Share of the weight of all cases, above 0 and below 1."""
    penalty: float
    """Of the squared coefficients, beside a mean loss per case."""

    @property
    def name(self) -> str:
        """Under which its cross-validation is kept."""
        return f"practice {self.practice:g}, penalty {self.penalty:g}"


CANDIDATES = tuple(
    Candidate(share, penalty) for share in (0.2, 0.35, 0.5, 0.65) for penalty in (0.03, 0.1)
)


@dataclass(frozen=True)
class Table:
    """The training mixture as arrays, one row a case."""

    rows: Any
    target: Any
    nameable: Any
    """Whether the comparison finds something that could be named as disputed."""
    base: Any
    """What a case counts before sets and labels are brought to their shares."""
    kind: Any
    set: Any
    """``practice``, ``citint`` or ``expertqa``: which documents a case comes of."""
    group: Any

    @property
    def fitted(self) -> Any:
        """Cases that a fit uses."""
        return (self.target != LABELS.index(Label.CONTRADICTORY)) | self.nameable


def table_of(cases: Sequence[Example]) -> Table:
    """The features of every case, with what cross-validation needs to know of it."""
    import numpy as np

    verifier = LocalVerifier(libraries=4)
    contexts: dict[int, Context] = {}
    rows, nameable, kept = [], [], []
    for case in cases:
        own = {source.id: source for source in case.sources}
        context = contexts.setdefault(id(case.context), Context(sources=case.context or own))
        comparison = verifier.compare(case.claim, context if case.context else Context(own))
        if comparison is None:
            continue
        kept.append(case)
        rows.append(features(comparison))
        nameable.append(nameable_dispute(comparison) is not None)
    return Table(
        rows=np.array(rows),
        target=np.array([LABELS.index(case.label) for case in kept]),
        nameable=np.array(nameable),
        base=np.array([REAL_WEIGHT if case.kind == "real" else 1.0 for case in kept]),
        kind=np.array([case.kind for case in kept]),
        set=np.array([_origin(case) for case in kept]),
        group=np.array([case.group for case in kept]),
    )


def _origin(case: Example) -> str:
    return "practice" if case.kind == "practice" else case.group.partition("-")[0]


def case_weights(table: Table, used: Any, practice: float) -> Any:
    """Weights of the used cases, mean 1: deepfact-practice has its share of them, and within it
    and without it each label has its prior."""
    import numpy as np

    weights = np.where(used, table.base, 0.0)
    own = table.kind == "practice"
    for part, share in ((own & used, practice), (~own & used, 1 - practice)):
        for label, prior in PRIOR.items():
            chosen = part & (table.target == LABELS.index(label))
            if weights[chosen].sum() > 0:
                weights[chosen] *= share * prior / weights[chosen].sum()
    return weights * used.sum() / weights.sum()


def fit(table: Table, used: Any, candidate: Candidate) -> Linear:
    """The regression on the used cases, with the signs of `SENSE`, by L-BFGS-B.

    Minimises the weighted mean cross-entropy plus the penalty times the sum of the squared
    coefficients; the intercepts are free.
    """
    import numpy as np
    from scipy.optimize import minimize

    weights = case_weights(table, used, candidate.practice)[used]
    weights = weights / weights.sum()
    rows, target = table.rows[used], table.target[used]
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale < 1e-9] = 1.0
    x = (rows - mean) / scale
    one_hot = np.eye(len(LABELS))[target]
    size = len(NAMES), len(LABELS)

    def loss(flat: Any) -> tuple[float, Any]:
        coefficients = flat[: size[0] * size[1]].reshape(size)
        raw = x @ coefficients + flat[size[0] * size[1] :]
        raw -= raw.max(axis=1, keepdims=True)
        odds = np.exp(raw)
        odds /= odds.sum(axis=1, keepdims=True)
        value = -(weights * np.log(odds[np.arange(len(target)), target] + 1e-12)).sum()
        value += candidate.penalty * (coefficients**2).sum()
        slope = weights[:, None] * (odds - one_hot)
        gradient = x.T @ slope + 2 * candidate.penalty * coefficients
        return float(value), np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    bounds = [
        (0.0 if sign > 0 else None, 0.0 if sign < 0 else None)
        for name in NAMES
        for sign in SENSE[name]
    ] + [(None, None)] * size[1]
    found = minimize(
        loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 500},
    ).x  # fmt: skip
    coefficients = found[: size[0] * size[1]].reshape(size)
    return Linear(
        mean=_rounded(mean),
        scale=_rounded(scale),
        coefficients=tuple(_rounded(column) for column in coefficients.T),
        intercept=_rounded(found[size[0] * size[1] :]),
    )


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(round(float(value), 4) + 0.0 for value in values)


def guesses(model: Linear, table: Table, chosen: Any) -> list[int]:
    """The label numbers that the verifier would conclude, by `concluded`."""
    parts = Weights(
        about="",
        seed=0,
        scipy="",
        features=NAMES,
        labels=LABELS,
        training=(),
        model=model,
        prior=PRIOR,
        temperature=1.0,
    )
    return [
        LABELS.index(concluded(parts.probabilities(row), nameable=bool(can)))
        for row, can in zip(table.rows[chosen], table.nameable[chosen], strict=True)
    ]


CHOSEN_BY = ("accuracy_drill", "macro_f1_drill", "macro_f1_real_two_way")
"""The measures whose sum chooses among candidates."""


def cross_validate(table: Table, drill: Table, candidate: Candidate) -> dict[str, float]:
    """How a candidate does on the drill, and on reports and a public set that it was not fitted
    on."""
    import numpy as np
    from sklearn.metrics import accuracy_score, f1_score

    supported = LABELS.index(Label.SUPPORTED)
    guess = np.full(len(table.target), -1)
    own, real = table.kind == "practice", table.kind == "real"
    for report in sorted(set(table.group[own])):
        held_out = own & (table.group == report)
        guess[held_out] = guesses(fit(table, ~held_out & table.fitted, candidate), table, held_out)
    for origin in sorted(set(table.set[real])):
        held_out = table.set == origin
        model = fit(table, ~held_out & table.fitted, candidate)
        guess[held_out & real] = guesses(model, table, held_out & real)
    truth = table.target
    everywhere = np.full(len(drill.target), True)
    on_drill = guesses(fit(table, table.fitted, candidate), drill, everywhere)
    measures = {
        "accuracy_drill": accuracy_score(drill.target, on_drill),
        "macro_f1_drill": f1_score(drill.target, on_drill, average="macro"),
        "accuracy_practice": accuracy_score(truth[own], guess[own]),
        "macro_f1_practice": f1_score(truth[own], guess[own], average="macro"),
        "macro_f1_real_two_way": f1_score(
            truth[real] == supported, guess[real] == supported, average="macro"
        ),
    }
    return {key: round(float(value), 4) for key, value in measures.items()}


def log_losses(table: Table, drill: Table, candidate: Candidate) -> dict[str, float]:
    """Temperature -> mean log loss over the public sets, each judged by a fit without it, and the
    drill, judged by the fit on everything, when each set's own label shares are told."""
    import numpy as np

    prior = np.array([PRIOR[label] for label in LABELS])
    judged = [(fit(table, table.fitted, candidate), drill.rows, drill.target, False)]
    for origin in sorted(set(table.set[table.kind == "real"])):
        chosen = (table.kind == "real") & (table.set == origin)
        model = fit(table, (table.set != origin) & table.fitted, candidate)
        judged.append((model, table.rows[chosen], table.target[chosen], True))
    losses: dict[str, list[float]] = {}
    for model, rows, truth, two_way in judged:
        found = probabilities(model, rows)
        shares = np.array([(truth == at).mean() for at in range(len(LABELS))])
        if two_way:
            shares[1:] = (1 - shares[0]) * prior[1:] / prior[1:].sum()
        for temperature in TEMPERATURES:
            odds = shares * (found / prior) ** (1 / temperature)
            odds /= odds.sum(axis=1, keepdims=True)
            right = odds[np.arange(len(truth)), truth]
            if two_way:
                right = np.where(truth == 0, odds[:, 0], 1 - odds[:, 0])
            losses.setdefault(f"{temperature:g}", []).append(float(-np.log(right + 1e-12).mean()))
    return {key: round(sum(each) / len(each), 4) for key, each in losses.items()}


def probabilities(model: Linear, rows: Any) -> Any:
    """The probability of each label for each row."""
    import numpy as np

    raw = np.array([model.raw(row) for row in rows])
    odds = np.exp(raw - raw.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def train(data: Path, practice: Path = PRACTICE, seed: int = SEED) -> Weights:
    """The weights for a data folder and a seed."""
    cases = examples(data, practice, random.Random(seed))  # noqa: S311
    drill = table_of(practice_cases(DRILL))
    return weights_of(table_of(cases), drill, Counter(case.set for case in cases), seed)


def weights_of(table: Table, drill: Table, counts: Counter[str], seed: int) -> Weights:
    """The weights of the best candidate on a table, with the temperature that the drill needs."""
    import scipy

    scores = {each.name: cross_validate(table, drill, each) for each in CANDIDATES}
    best = max(CANDIDATES, key=lambda each: sum(scores[each.name][of] for of in CHOSEN_BY))
    losses = log_losses(table, drill, best)
    return Weights(
        about=f"Weights of the local verifier; made by deepfact.training.train ({best.name})",
        seed=seed,
        scipy=scipy.__version__,
        features=NAMES,
        labels=LABELS,
        training=tuple(
            TrainingSet(name=name, licence=licence, rows=counts[name], what=what)
            for name, (licence, what) in SETS.items()
        ),
        prior=PRIOR,
        temperature=float(min(losses, key=lambda each: losses[each])),
        cross_validation={**scores, "log loss by temperature": losses},
        model=fit(table, table.fitted, best),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write; prints the cross-validation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--practice", type=Path, default=PRACTICE, help="deepfact-practice")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    weights = train(options.data, options.practice, options.seed)
    for name, scores in weights.cross_validation.items():
        print(name, scores)  # noqa: T201
    for part in weights.training:
        print(f"{part.name}: {part.rows} rows, {part.licence}")  # noqa: T201
    write_text(options.out, weights_json(weights))
    print(f"wrote {options.out}: {weights.about}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
