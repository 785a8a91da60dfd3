"""``r.plot``: every picture of an evaluation by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssme.plots import curves, intervals
from ssme.plots.display import Plot, choose_models
from ssme.results.groups import ALL

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

Models = str | Sequence[str] | None
"""One model, several, or None for the best ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """The pictures of an evaluation; calling it draws the estimates.

    Every method returns a `Plot`, which has ``save(path)``, ``frame()`` for the numbers drawn,
    ``alt`` for the picture in words and ``chart`` for an altair chart to change.

    Parameters
    ----------
    evaluation : Evaluation
        What is drawn.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> r.plot.ranking().title
    'Who is best in accuracy'
    >>> r.plot.roc(models="a").frame()["model"].unique().tolist()
    ['a']
    """

    evaluation: Evaluation

    def __call__(self, **options: Any) -> Plot:
        return self.estimates(**options)

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if not name.startswith("_")]
        return f"Plots: {', '.join(names)}"

    def estimates(
        self,
        *,
        group: str = ALL,
        limit: int = intervals.SHOWN_MODELS,
        truth: Mapping[str, Mapping[str, float]] | None = None,
    ) -> Plot:
        """Every metric of every model with its interval, beside what labels alone say.

        Parameters
        ----------
        group : str
            Draw the rows of this group (default "all").
        limit : int
            The largest number of models drawn.
        truth : mapping of metric -> model -> float, optional
            True values to draw as well, where they are known.
        """
        return intervals.draw_estimates(self.evaluation, group=group, limit=limit, truth=truth)

    def groups(
        self,
        metric: str | None = None,
        *,
        limit: int = 8,
        models: Models = None,
        most_groups: int = intervals.SHOWN_GROUPS,
    ) -> Plot:
        """One metric in every group, the worst first, one panel per model.

        Parameters
        ----------
        metric : str, optional
            The metric (default: the first one).
        limit : int
            The largest number of models drawn.
        models : str or sequence of str, optional
            Draw these models (default: the best ones).
        most_groups : int
            Largest number of groups drawn, the worst ones.
        """
        chosen = self._choose_metric(metric)
        names = choose_models(self.evaluation, limit, models, chosen)
        return intervals.draw_groups(self.evaluation, names, chosen, most_groups)

    def ranking(
        self,
        metric: str | None = None,
        *,
        group: str = ALL,
        limit: int = intervals.SHOWN_MODELS,
    ) -> Plot:
        """The probability of each model to be the best.

        Parameters
        ----------
        metric : str, optional
            The metric (default: the first one).
        group : str
            Draw the rows of this group (default "all").
        limit : int
            The largest number of models drawn.
        """
        chosen = self._choose_metric(metric)
        return intervals.draw_ranking(self.evaluation, chosen, group=group, limit=limit)

    def roc(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = curves.CURVE_PANELS,
        models: Models = None,
    ) -> Plot:
        """Draw ROC curves with bands.

        Parameters
        ----------
        group : str
            Draw the rows of this group (default "all").
        class_name : object, optional
            The class that is drawn against all others (default: the positive one of two,
            the last one of more).
        limit : int
            The largest number of models drawn where ``models`` names none.
        models : str or sequence of str, optional
            Draw these models (default: the best ones).
        """
        return curves.draw_roc(self.evaluation, self._choose(limit, models), group, class_name)

    def precision_recall(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = curves.CURVE_PANELS,
        models: Models = None,
    ) -> Plot:
        """Draw precision-recall curves with bands.

        Parameters
        ----------
        group, class_name, limit, models
            As in `roc`.
        """
        names = self._choose(limit, models)
        return curves.draw_precision_recall(self.evaluation, names, group, class_name)

    def reliability(
        self, *, group: str = ALL, limit: int = curves.CURVE_PANELS, models: Models = None
    ) -> Plot:
        """Draw how often rows of each confidence are right.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        return curves.draw_reliability(self.evaluation, self._choose(limit, models), group)

    def densities(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = curves.HEATMAP_PANELS,
        models: Models = None,
    ) -> Plot:
        """Draw the scores of each class, as the method splits the unlabeled rows.

        Parameters
        ----------
        group, class_name, limit, models
            As in `roc`.
        """
        names = self._choose(limit, models)
        return curves.draw_densities(self.evaluation, names, group, class_name)

    def confusion(
        self, *, group: str = ALL, limit: int = curves.HEATMAP_PANELS, models: Models = None
    ) -> Plot:
        """Draw how often each true class is predicted as each class.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        return curves.draw_confusion(self.evaluation, self._choose(limit, models), group)

    def agreement(
        self,
        *,
        group: str = ALL,
        limit: int = intervals.SHOWN_MODELS,
        models: Models = None,
    ) -> Plot:
        """Draw which models decide alike, and which err on the same rows.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        return curves.draw_agreement(self.evaluation, self._choose(limit, models), group)

    def convergence(self) -> Plot:
        """Draw the objective of the fit step by step, for methods that keep it."""
        return curves.draw_convergence(self.evaluation)

    def _choose_metric(self, metric: str | None) -> str:
        name = self.evaluation.metrics[0].name if metric is None else metric
        self.evaluation.metric_index(name)
        return name

    def _choose(self, limit: int, models: Models) -> list[str]:
        return choose_models(self.evaluation, limit, models, self._choose_metric(None))
