"""A ranker of pairwise duels with the interface of scikit-learn.

For pipelines, cross-validation and searches over models. What it fits is ``fit_``, which everything
else of the package takes: ``bd.winners(ranker.fit_)``. scikit-learn is an extra:
``pip install 'bayesduel[sklearn]'``.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from bayesduel.data.read.duels import read_duels
from bayesduel.data.read.outcomes import results_of
from bayesduel.inference.fit import fit as fit_model
from bayesduel.posterior.predict import predict
from bayesduel.system.arguments import did_you_mean, shown_value
from bayesduel.system.extras import missing_extra
from bayesduel.text import join

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ModuleNotFoundError as error:
    raise missing_extra("sklearn", "sklearn") from error

__all__ = ["PairwiseRanker"]

WORDS = ("left", "right", "tie")
SIDES = ("left", "right")


class PairwiseRanker(ClassifierMixin, BaseEstimator):
    """Rank arms by duels, and predict who wins the next one.

    Parameters
    ----------
    model
        Name of a model or a model, as :func:`bayesduel.fit` takes it. None: the default model of
        the log, in which the covariates are.
    priors
        Priors by name, as :func:`bayesduel.fit` takes them.
    draws
        Posterior draws in each of four chains.
    seed
        Seed of the draws: the same seed gives the same predictions.

    Attributes
    ----------
    fit_ : xarray.DataTree
        What :func:`bayesduel.fit` returned.
    arms_ : ndarray of str, shape (n_arms,)
        Labels of the arms, in the order of ``fit_``.
    classes_ : ndarray, shape (n_classes,)
        Values of the outcome, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Names of the columns of X, if it was a frame.

    Examples
    --------
    >>> from bayesduel.sklearn import PairwiseRanker
    >>> X = [["Graf", "Seles"], ["Seles", "Graf"], ["Graf", "Sabatini"], ["Sabatini", "Seles"]] * 9
    >>> y = ["left", "right", "left", "right"] * 9
    >>> ranker = PairwiseRanker().fit(X, y)
    >>> str(ranker.predict([["Graf", "Sabatini"]])[0])
    'left'
    """

    def __init__(
        self, model: Any = None, priors: Any = None, draws: int = 1000, seed: int = 0
    ) -> None:
        self.model = model
        self.priors = priors
        self.draws = draws
        self.seed = seed

    def fit(
        self, X: "ArrayLike", y: "ArrayLike", judge: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the model to duels.

        Parameters
        ----------
        X
            Array or frame of shape (n_duels, 2 or more): the labels of the left and the right arm,
            then numbers that are covariates of the duel, left minus right. Of a frame the names of
            the first two columns say whether sides have a meaning (home and away).
        y
            Outcomes, shape (n_duels,): "left", "right" and perhaps "tie"; the names of the first
            two columns of X, such as "home" and "away", and perhaps "tie"; or words and numbers
            that :func:`bayesduel.read_duels` knows, such as "A" and "B", "first" and "second", 1
            and 0, or 1 and 2. Of two other values, the larger one says that the left arm won.
        judge
            Who judged each duel, shape (n_duels,), or None.
        sample_weight
            How many identical duels each row stands for, whole numbers, shape (n_duels,), or None.
            Rows of weight 0 are left out.

        Returns
        -------
        The ranker itself.

        Raises
        ------
        ValueError
            If X has fewer than two columns, y has values that are not as above or are labels of
            arms, or a weight is no whole number.
        """
        arms, covariates = self._validated(X, reset=True)
        outcome = self._outcome(column_or_1d(y, warn=True), arms)
        log = arms.join(covariates).assign(outcome=outcome)
        if judge is not None:
            log["judge"] = column_or_1d(judge)
        if sample_weight is not None:
            log["weight"] = _counts(sample_weight, len(log))
            log = log[log["weight"] > 0]
        left, right = arms.columns
        duels = read_duels(
            log,
            left=left,
            right=right,
            outcome="outcome",
            covariates=[*covariates.columns],
            judge=judge is not None and "judge",
            weight=sample_weight is not None and "weight",
            group=False,
            time=False,
        )
        options = {} if self.model is None else {"model": self.model}
        self.fit_ = fit_model(
            duels, **options, priors=self.priors, draws=self.draws, seed=self.seed
        )
        self.arms_ = np.array(duels.arms, dtype=object)
        return self

    def predict_proba(self, X: "ArrayLike") -> np.ndarray:
        """Return the posterior mean probability of each outcome.

        X: as `fit` takes it, of arms that the fit knows.
        Returns an array of shape (n_duels, n_classes), in the order of ``classes_``.
        Raises ValueError if an arm is not in the fit.
        """
        check_is_fitted(self)
        arms, covariates = self._validated(X, reset=False)
        for label in pd.unique(arms.to_numpy().ravel()):
            if label not in self.arms_:
                hint = did_you_mean(label, self.arms_)
                raise ValueError(f"X should have arms of the fit, got {shown_value(label)}{hint}")
        found = predict(self.fit_, arms.join(covariates))
        chance = {"left": found["win"], "right": found["loss"], "tie": found.get("tie", 0.0)}
        columns = [chance[word] + np.zeros(len(arms)) for word in self._words]
        return np.column_stack(columns)

    def predict(self, X: "ArrayLike") -> np.ndarray:
        """Return the most probable outcome of each duel, shape (n_duels,)."""
        most = self.predict_proba(X).argmax(axis=1)
        found: np.ndarray = self.classes_[most]
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.multi_class = False
        return tags

    def _validated(self, X: "ArrayLike", reset: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the labels of both sides and the covariates, as frames with the names of X."""
        values = validate_data(
            self, X, reset=reset, dtype=None, ensure_min_features=2 if reset else 1
        )
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [*SIDES, *(f"x{k}" for k in range(2, values.shape[1]))]
        sides = pd.DataFrame(values[:, :2].astype(str), columns=names[:2])
        covariates = pd.DataFrame(values[:, 2:].astype(float), columns=names[2:])
        return sides, covariates

    def _outcome(self, y: np.ndarray, arms: pd.DataFrame) -> np.ndarray:
        """Return outcomes as words; set the classes, and the word of each."""
        check_classification_targets(y)
        if len(y) != len(arms):
            raise ValueError(f"y should have an outcome per duel of X, {len(arms)}, got {len(y)}")
        self.classes_, place = np.unique(y, return_inverse=True)
        by_side = {word: word for word in WORDS}
        by_column = {**dict(zip(arms.columns, SIDES, strict=True)), "tie": "tie"}
        classes = self.classes_.tolist()
        meanings = [by_side, by_column]
        texts = y.dtype.kind in "OUS"
        of_arms = {str(c) for c in classes} & {*arms.to_numpy().ravel()}
        if not of_arms and y.dtype.kind != "b" and (len(classes) <= 2 or texts):
            known = results_of([str(value) for value in classes])
            meanings.append({value: known[str(value)] for value in classes if known})
        meaning = next((m for m in meanings if set(classes) <= m.keys()), None)
        if meaning is not None:
            self._words = [meaning[word] for word in classes]
        elif of_arms and texts:
            raise ValueError(
                "y should say which side won, 'left', 'right' or 'tie', got labels of arms such as "
                f"{shown_value(classes[0])}; with labels use bayesduel.read_duels and bayesduel.fit"
            )
        elif len(classes) <= 2:
            self._words = ["right", "left"][-len(classes) :]
        else:
            raise ValueError(
                "y should be 'left', 'right' and 'tie', or have two values (Only binary "
                f"classification is supported), got {join(classes, 8, quote=True)}"
            )
        return np.array(self._words)[place]


def _counts(weight: "ArrayLike", n_duels: int) -> np.ndarray:
    """Return how many duels each row stands for, (n_duels,)."""
    given: np.ndarray = column_or_1d(weight).astype(float)
    if len(given) != n_duels:
        raise ValueError(
            f"sample_weight should have a number per duel of X, {n_duels}, got {len(given)}"
        )
    if not given.any():
        raise ValueError("sample_weight should have a positive number, got zero for every duel")
    whole = np.isfinite(given) & (given >= 0) & (given == np.round(given))
    if not whole.all():
        other = given[np.flatnonzero(~whole)[0]]
        raise ValueError(
            "sample_weight should be whole numbers, how many identical duels a row stands for, "
            f"got {other:g}; for the weights of a survey use "
            "bayesduel.read_duels(..., sampling_weight=...) and bayesduel.fit"
        )
    return given.astype(np.int64)
