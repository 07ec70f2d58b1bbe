"""Fit the local verifier's weights.

    python -m deepfact.training.train --data DIR

Two candidates, a multinomial logistic regression and a small gradient-boosted forest, are
compared on the training mixture alone: each is fitted on what comes of one data set and tried on
what comes of the other, so that what does not transfer does not count. The one with the better
mean of macro-F1 on changed claims and two-way macro-F1 on really judged ones is fitted on all of
it and written as JSON. The same data, seed and scikit-learn version give the same file. See
`sets` for the mixture and its licences.

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

from deepfact.reading.compare import compare
from deepfact.reading.library import Library
from deepfact.records import Label
from deepfact.store.files import write_text
from deepfact.training.sets import SETS, Example, examples
from deepfact.verifiers.local.features import NAMES, features
from deepfact.verifiers.local.model import (
    WEIGHTS,
    Forest,
    Linear,
    TrainingSet,
    Tree,
    Weights,
    weights_json,
)
from deepfact.verifiers.local.verifier import concluded, nameable_dispute

SEED = 20260101
LABELS = (Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE)
PRIOR = {Label.SUPPORTED: 0.45, Label.CONTRADICTORY: 0.28, Label.INCONCLUSIVE: 0.27}
"""How often each label is taken to occur where the verifier is used: a neutral guess made
before any measurement, since the mixture's own shares are ours to choose."""
REAL_WEIGHT = 0.25
"""What a really judged claim counts beside one that was made: its label is noisier (one
annotator, and "inaccurately cited" for several faults). Chosen among 0, 0.1, 0.25, 0.5, 1, 2 and
4 by the same comparison as the model."""


@dataclass(frozen=True)
class Table:
    """The training mixture as arrays, one row a case."""

    rows: Any
    target: Any
    weights: Any
    nameable: Any
    """Whether the comparison finds something that could be named as disputed."""
    real: Any
    first_set: Any
    """Whether the case comes of Citation-Integrity, rather than of ExpertQA."""

    @property
    def fitted(self) -> Any:
        """Cases that the fit uses."""
        return (self.target != LABELS.index(Label.CONTRADICTORY)) | self.nameable


def table_of(cases: Sequence[Example], passages: int = 5) -> Table:
    """The features of every case, with what cross-validation needs to know of it."""
    import numpy as np

    rows, nameable = [], []
    library = Library(())
    key: tuple[str, ...] = ()
    for case in cases:
        if case.claim.cites != key:
            library, key = Library(case.sources), case.claim.cites
        comparison = compare(case.claim.text, library, limit=passages)
        rows.append(features(comparison))
        nameable.append(nameable_dispute(comparison) is not None)
    return Table(
        rows=np.array(rows),
        target=np.array([LABELS.index(case.label) for case in cases]),
        weights=np.array(case_weights(cases)),
        nameable=np.array(nameable),
        real=np.array([case.kind == "real" for case in cases]),
        first_set=np.array([case.group.startswith("citint") for case in cases]),
    )


def case_weights(cases: Sequence[Example]) -> list[float]:
    """Weights that give the labels their prior and real cases their due; their mean is 1."""
    base = [REAL_WEIGHT if case.kind == "real" else 1.0 for case in cases]
    totals = dict.fromkeys(PRIOR, 0.0)
    for case, weight in zip(cases, base, strict=True):
        totals[case.label] += weight
    return [
        weight * PRIOR[case.label] * len(cases) / totals[case.label]
        for case, weight in zip(cases, base, strict=True)
    ]


def linear_model(seed: int) -> Any:
    """Candidate one: standardised features, multinomial logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(C=0.05, max_iter=3000, random_state=seed)
    )


def forest_model(seed: int) -> Any:
    """Candidate two: 60 rounds of gradient boosting with trees of depth 3."""
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=60,
        max_depth=3,
        learning_rate=0.12,
        subsample=0.7,
        min_samples_leaf=40,
        random_state=seed,
    )


CANDIDATES = {"linear": linear_model, "forest": forest_model}


def fit(model: Any, table: Any, target: Any, weights: Any) -> Any:
    """Fit a candidate with case weights, whether it is a pipeline or not."""
    steps = getattr(model, "steps", None)
    options = {f"{steps[-1][0]}__sample_weight": weights} if steps else {"sample_weight": weights}
    return model.fit(table, target, **options)


def guesses(model: Any, rows: Any, nameable: Any) -> Any:
    """The label numbers that the verifier would conclude, by `concluded`."""
    import numpy as np

    found = model.predict_proba(rows)
    return np.array(
        [
            LABELS.index(concluded(dict(zip(LABELS, odds, strict=True)), nameable=bool(can)))
            for odds, can in zip(found, nameable, strict=True)
        ]
    )


def cross_validate(table: Table, seed: int) -> dict[str, dict[str, float]]:
    """Candidate -> measures, each data set judged by a fit on the other."""
    import numpy as np
    from sklearn.metrics import accuracy_score, f1_score

    out: dict[str, dict[str, float]] = {}
    supported = LABELS.index(Label.SUPPORTED)
    real, truth = table.real, table.target
    for name, make in CANDIDATES.items():
        guess = np.zeros(len(truth), dtype=int)
        for held_out in (table.first_set, ~table.first_set):
            train = ~held_out & table.fitted
            model = fit(make(seed), table.rows[train], truth[train], table.weights[train])
            guess[held_out] = guesses(model, table.rows[held_out], table.nameable[held_out])
        measures = {
            "macro_f1_changed": f1_score(truth[~real], guess[~real], average="macro"),
            "accuracy_changed": accuracy_score(truth[~real], guess[~real]),
            "macro_f1_real_two_way": f1_score(
                truth[real] == supported, guess[real] == supported, average="macro"
            ),
            "accuracy_real": accuracy_score(truth[real], guess[real]),
        }
        out[name] = {key: round(float(value), 4) for key, value in measures.items()}
    return out


def exported(model: Any) -> Linear | Forest:
    """A fitted candidate as plain numbers."""
    if hasattr(model, "steps"):
        scaler, regression = model.steps[0][1], model.steps[1][1]
        return Linear(
            mean=_rounded(scaler.mean_),
            scale=_rounded(scaler.scale_),
            coefficients=tuple(_rounded(row) for row in regression.coef_),
            intercept=_rounded(regression.intercept_),
        )
    start = model._raw_predict_init(_zeros(model))[0]
    rate = model.learning_rate
    trees = tuple(
        tuple(
            _tree(model.estimators_[step, label].tree_, rate) for step in range(model.n_estimators_)
        )
        for label in range(len(LABELS))
    )
    return Forest(start=_rounded(start), trees=trees)


def _zeros(model: Any) -> Any:
    import numpy as np

    return np.zeros((1, model.n_features_in_), dtype=np.float32)


def _tree(tree: Any, rate: float) -> Tree:
    leaf = tree.children_left < 0
    return Tree(
        feature=tuple(int(f) if not end else 0 for f, end in zip(tree.feature, leaf, strict=True)),
        threshold=_rounded(
            t if not end else 0.0 for t, end in zip(tree.threshold, leaf, strict=True)
        ),
        left=tuple(max(0, int(n)) for n in tree.children_left),
        right=tuple(max(0, int(n)) for n in tree.children_right),
        value=_rounded(
            rate * value if end else 0.0
            for value, end in zip(tree.value.ravel(), leaf, strict=True)
        ),
    )


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in values)


def train(data: Path, seed: int = SEED) -> Weights:
    """The weights for a data folder and a seed."""
    import sklearn

    cases = examples(data, random.Random(seed))  # noqa: S311
    table = table_of(cases)
    scores = cross_validate(table, seed)
    best = max(
        scores,
        key=lambda name: scores[name]["macro_f1_changed"] + scores[name]["macro_f1_real_two_way"],
    )
    used = table.fitted
    model = fit(CANDIDATES[best](seed), table.rows[used], table.target[used], table.weights[used])
    counts = Counter(case.set for case in cases)
    return Weights(
        about="Weights of the local verifier; made by deepfact.training.train",
        seed=seed,
        scikit_learn=sklearn.__version__,
        features=NAMES,
        labels=LABELS,
        training=tuple(
            TrainingSet(name=name, licence=licence, rows=counts[name], what=what)
            for name, (licence, what) in SETS.items()
        ),
        cross_validation=scores,
        model=exported(model),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write; prints the cross-validation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / WEIGHTS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    weights = train(options.data, options.seed)
    for name, scores in weights.cross_validation.items():
        print(name, scores)  # noqa: T201
    for part in weights.training:
        print(f"{part.name}: {part.rows} rows, {part.licence}")  # noqa: T201
    write_text(options.out, weights_json(weights))
    print(f"wrote {options.out}: {weights.model.kind}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
