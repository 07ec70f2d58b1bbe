"""Fit the local verifier's weights.

    python -m deepfact.verifiers.local.training.train --data DIR

Two candidates, a multinomial logistic regression and a small gradient-boosted forest, are
compared by cross-validation on the training mixture alone, grouped by document; the better one
by macro-F1 is fitted on all of it and written as JSON. The same data, seed and scikit-learn
version give the same file. See `sets` for the mixture and its licences.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Sequence

from deepfact.records import Label
from deepfact.store.files import write_text
from deepfact.verifiers.local.compare import compare
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
from deepfact.verifiers.local.reading import Library
from deepfact.verifiers.local.training.sets import SETS, Example, examples

SEED = 20260101
LABELS = (Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE)
PRIOR = {Label.SUPPORTED: 0.45, Label.CONTRADICTORY: 0.28, Label.INCONCLUSIVE: 0.27}
"""How often each label is taken to occur where the verifier is used: a neutral guess made
before any measurement, since the mixture's own shares are ours to choose."""
REAL_WEIGHT = 2.0
"""What a really judged claim counts beside one that was made."""
FOLDS = 5


def rows_of(cases: Sequence[Example], passages: int = 5) -> list[list[float]]:
    """The feature row of every case."""
    out = []
    kept: dict[tuple[str, ...], Library] = {}
    for case in cases:
        key = tuple(source.id for source in case.sources)
        if key not in kept:
            kept[key] = Library(case.sources)
        out.append(features(compare(case.claim.text, kept[key], limit=passages)))
    return out


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
        StandardScaler(), LogisticRegression(C=0.1, max_iter=3000, random_state=seed)
    )


def forest_model(seed: int) -> Any:
    """Candidate two: 60 rounds of gradient boosting with trees of depth 3."""
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=60,
        max_depth=3,
        learning_rate=0.12,
        subsample=0.7,
        min_samples_leaf=25,
        random_state=seed,
    )


CANDIDATES = {"linear": linear_model, "forest": forest_model}


def fit(model: Any, table: Any, target: Any, weights: Any) -> Any:
    """Fit a candidate with case weights, whether it is a pipeline or not."""
    steps = getattr(model, "steps", None)
    options = {f"{steps[-1][0]}__sample_weight": weights} if steps else {"sample_weight": weights}
    return model.fit(table, target, **options)


def cross_validate(cases: Sequence[Example], table: Any, seed: int) -> dict[str, dict[str, float]]:
    """Candidate -> accuracy and macro-F1 over held-out documents, all and real cases apart."""
    import numpy as np
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.model_selection import GroupKFold

    target = np.array([LABELS.index(case.label) for case in cases])
    weights = np.array(case_weights(cases))
    real = np.array([case.kind == "real" for case in cases])
    groups = [case.group for case in cases]
    out: dict[str, dict[str, float]] = {}
    for name, make in CANDIDATES.items():
        guess = np.zeros(len(cases), dtype=int)
        for train, test in GroupKFold(FOLDS).split(table, target, groups):
            model = fit(make(seed), table[train], target[train], weights[train])
            guess[test] = model.predict(table[test])
        out[name] = {
            "accuracy": accuracy_score(target, guess, sample_weight=weights),
            "macro_f1": f1_score(target, guess, average="macro", sample_weight=weights),
            "accuracy_real": accuracy_score(target[real], guess[real]),
        }
        out[name] = {key: round(float(value), 4) for key, value in out[name].items()}
        kinds = sorted({case.kind for case in cases})
        for kind in kinds:
            mask = np.array([case.kind == kind for case in cases])
            share = float((guess[mask] == target[mask]).mean())
            print(f"  {name:7} {kind:16} n {mask.sum():5}  right {share:.3f}")  # noqa: T201
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
    import numpy as np
    import sklearn

    cases = examples(data, random.Random(seed))  # noqa: S311
    table = np.array(rows_of(cases))
    target = np.array([LABELS.index(case.label) for case in cases])
    scores = cross_validate(cases, table, seed)
    best = max(scores, key=lambda name: scores[name]["macro_f1"])
    model = fit(CANDIDATES[best](seed), table, target, np.array(case_weights(cases)))
    counts = Counter(case.set for case in cases)
    return Weights(
        about="Weights of the local verifier; made by deepfact.verifiers.local.training.train",
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
