"""Systems x items x judges in, the rate of each system and their paired differences out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.values import factorize
from ssme.errors import InputError, name_argument
from ssme.options import accept, refuse_unknown, takes
from ssme.results import gates
from ssme.results.table import build_frame, compute_effective_labels, to_plain_values
from ssme.schema import ASK, SystemOptions
from ssme.systems.checks import SystemWarning, find_warnings
from ssme.systems.judges import (
    count_effective_judges,
    drop_judges,
    find_biases,
    list_judges,
    list_pairs,
    rank_disagreements,
)
from ssme.systems.pairs import STRENGTH, WIN_RATE, estimate_strengths
from ssme.systems.rates import (
    FEWEST_PAIRS,
    JudgedRows,
    Rates,
    allow_for_errors,
    count_repeats,
    estimate_rates,
    find_label_errors,
)
from ssme.systems.reading import SystemTable, read_systems
from ssme.systems.records import compare_records
from ssme.wording import quote

ALL = "all"
WIDER = 1.05
"""Widths of intervals, relative to those with all judges, for which judges are dropped."""


@takes(SystemOptions)
def evaluate_systems(
    source: Any, y: str | Sequence[str] | None = None, **options: Any
) -> SystemsEvaluation:
    """Estimate the pass rate, or mean grade, of every system from judges and a few human labels.

    Judges (language models, code checks, people) grade the answers of systems to the same items,
    and people check some of the answers, chosen at random. What judges say of all answers is
    corrected by what they get wrong where people looked, for all systems together and for each.

    A table whose rows compare two answers (``first`` and ``second``, judged a, b or tie) gives the
    win rate and the Bradley-Terry strength of every system in the same way.

    Parameters
    ----------
    source : str, Path, data frame, dict or list of paths
        The table: a row per answer with a column per judge, or with ``judge`` a row per verdict; or
        logs of evaluation harnesses, as `ssme.read_logs` takes them.
    y : str or list of str, optional
        Columns with what people say; the same as ``label``.
    **options

    Returns
    -------
    SystemsEvaluation

    Examples
    --------
    >>> import numpy as np, pandas as pd, ssme
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"system": ["old"] * 200 + ["new"] * 200, "item": [*range(200)] * 2})
    >>> passed = rng.random(400) < np.where(table["system"] == "new", 0.8, 0.6)
    >>> table["judge_a"] = np.where(rng.random(400) < 0.85, passed, ~passed).astype(int)
    >>> table["human"] = np.where(rng.random(400) < 0.2, passed, np.nan)
    >>> result = ssme.evaluate_systems(table, "human")
    >>> [row["system"] for row in result.rows()]
    ['old', 'new']
    """
    if y is not None:
        if options.get("label") not in (None, y):
            raise InputError("the column with what people say was given twice", hint="name it once")
        options["label"] = y
    refuse_unknown(SystemOptions, options, "ssme.evaluate_systems")
    return evaluate_table(source, SystemOptions(**options))


def evaluate_table(source: Any, options: SystemOptions) -> SystemsEvaluation:
    """The evaluation of a table that is read as the options say."""
    result = SystemsEvaluation(read_systems(source, options), options)
    for condition in options.fail_under or ():
        result.check_condition(gates.parse_condition(condition))
    return result


@dataclass(frozen=True, eq=False, repr=False)
class SystemsEvaluation:
    """Rates of systems with intervals, differences, gates and judges; see `evaluate_systems`."""

    table: SystemTable
    options: SystemOptions

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the table."""
        return self.table.systems

    @property
    def level(self) -> float:
        """Coverage of intervals."""
        return self.options.level

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What was estimated: pass_rate or mean, then pass_any[k] and pass_all[k].

        Of comparisons of two answers: win_rate and bradley_terry.
        """
        if self.table.rows.seconds is not None:
            return (WIN_RATE, STRENGTH)
        repeated = [
            f"{name}[{k}]" for k in self.options.pass_k for name in ("pass_any", "pass_all")
        ]
        if repeated and not self.table.rows.binary:
            raise InputError(
                f"{repeated[0]} was asked for, and {self.table.measure} is not a pass rate",
                hint="say with `cut` from which grade on an answer passes",
            )
        return (self.table.measure, *repeated)

    @cached_property
    def rates(self) -> dict[str, Rates]:
        """The rates of all systems by measure."""
        if self.table.rows.seconds is not None:
            asked = self.options
            rng = np.random.default_rng(asked.random_state)
            return estimate_strengths(
                self.table.rows, rng, level=asked.level, n_draws=asked.n_draws
            )
        return {name: self._estimate(name) for name in self.measures}

    def _take(self, measure: str) -> tuple[JudgedRows, IntArray]:
        """The rows that a measure is the mean over, and one row of the table for each."""
        if measure in (self.table.measure, STRENGTH):
            return self.table.rows, np.arange(self.table.rows.outcomes.size)
        kind, _, k = measure.rstrip("]").partition("[")
        rows, places = count_repeats(self.table.rows, int(k), any_pass=kind == "pass_any")
        missing = sorted(set(range(len(self.systems))) - set(rows.systems.tolist()))
        if missing or not rows.labeled.size:
            what = "no item has a label for"
            if missing:
                what = f"{self.systems[missing[0]]!r} has no item with"
            raise InputError(
                f"{measure} was asked for, and {what} {k} repeats",
                hint=f"have people judge {k} repeats of some items, or leave it out of `pass_k`",
            )
        return rows, places

    def _estimate(self, measure: str, column: str | None = None) -> Rates:
        rows, places = self._take(measure)
        targets, levels = rows.systems, [rows.systems]
        if column is not None:
            # judges may err about a group for all systems, and for one
            targets = self._find_cells(column)[0][places]
            levels = [rows.systems, factorize(self.table.groups[column])[0][places], targets]
        rng = np.random.default_rng(self.options.random_state)
        n_draws, errors = self.options.n_draws, self._label_errors
        if errors is not None:
            # verdicts as noisy as the labels: judges are compared with what people say
            noisy = errors[0] + (1.0 - 2.0 * errors[0]) * rows.verdicts
            rows = replace(rows, verdicts=noisy)
        found = estimate_rates(rows, targets, levels, rng, level=self.level, n_draws=n_draws)
        return found if errors is None else allow_for_errors(found, errors)

    @cached_property
    def _label_errors(self) -> FloatArray | None:
        """How often people err, and draws of it; None where they are taken to be right."""
        asked, number = self.options.label_error, self.options.n_draws
        if asked is None:
            return None
        if not self.table.rows.binary or self.options.pass_k:
            raise InputError(
                "`label_error` allows for errors in pass rates alone",
                hint="leave it out" if self.table.rows.binary else "give `cut`, or leave it out",
            )
        if asked != "estimated":
            return np.full(number + 1, float(asked))
        rng = np.random.default_rng([self.options.random_state, 1])
        found = find_label_errors(self.table.labels, number, rng)
        if np.isnan(found[0]):
            raise InputError(
                f"`label_error` can be estimated from {FEWEST_PAIRS} rows or more that two people "
                "judged, and there are fewer",
                hint="name the columns of both with `label`, or give a rate",
            )
        return found

    @property
    def label_error(self) -> float | None:
        """How often people err, as given or estimated; None where they are taken to be right."""
        return None if self._label_errors is None else float(self._label_errors[0])

    def _find_cells(self, column: str) -> tuple[IntArray, list[tuple[int, str]]]:
        """Codes (n,) of systems within groups, and the system and group of each."""
        if column not in self.table.groups:
            known = quote(tuple(self.table.groups)) or "none"
            raise InputError(f"no group column {column!r}; declared with `groups` are {known}")
        codes, names = factorize(self.table.groups[column])
        number = len(names)
        both, cells = np.unique(self.table.rows.systems * number + codes, return_inverse=True)
        return cells, [(int(at // number), str(names[at % number])) for at in both]

    @cached_property
    def _by_group(self) -> dict[str, tuple[list[tuple[int, str]], Rates]]:
        return {
            column: (self._find_cells(column)[1], self._estimate(self.table.measure, column))
            for column in self.table.groups
        }

    def rows(self, measure: str | None = None) -> list[dict[str, Any]]:
        """One dict per measure and system, then per system within each group.

        ``judges`` is the mean verdict of all judges, ``estimate`` the corrected one with ``low``
        and ``high``, ``labels_only`` the mean of the labels, ``effective_labels`` how many labels
        an interval as narrow would take, and ``p_best`` the probability of the highest rate.
        """
        found = [row for name in self.measures for row in self._list_rows(name)]
        return [row for row in found if measure in (None, row["measure"])]

    def _list_rows(self, measure: str) -> Iterator[dict[str, Any]]:
        rows, _ = self._take(measure)
        names = [(at, ALL) for at in range(len(self.systems))]
        yield from self._tell(measure, names, rows, rows.systems, self.rates[measure])
        if measure == self.table.measure:
            for column, (cells, rates) in self._by_group.items():
                codes, _ = self._find_cells(column)
                named = [(at, f"{column}={group}") for at, group in cells]
                yield from self._tell(measure, named, rows, codes, rates)

    def _tell(
        self,
        measure: str,
        names: Sequence[tuple[int, str]],
        rows: JudgedRows,
        targets: IntArray,
        rates: Rates,
    ) -> Iterator[dict[str, Any]]:
        low, high = self._find_ends(rates.draws)
        groups = np.array([group for _, group in names])
        best = np.zeros(len(names))
        for group in dict.fromkeys(groups):
            own = np.flatnonzero(groups == group)
            first = rates.draws[:, own].argmax(axis=1)
            best[own] = np.bincount(first, minlength=own.size) / len(rates.draws)
        low_alone, high_alone = rates.labels_only_ends
        for at, (system, group) in enumerate(names):
            own = targets == at
            if rows.seconds is not None:
                own |= rows.seconds == at
            alone = float(high_alone[at] - low_alone[at])
            n_labels = int(rates.counts[at])
            yield {
                "measure": measure,
                "system": self.systems[system],
                "group": group,
                "n_rows": int(own.sum()),
                "n_labels": n_labels,
                "judges": self._put(measure, rates.judges[at]),
                "estimate": self._put(measure, rates.values[at]),
                "low": self._put(measure, low[at]),
                "high": self._put(measure, high[at]),
                "labels_only": self._put(measure, rates.labels_only[at]),
                "labels_only_low": self._put(measure, low_alone[at]),
                "labels_only_high": self._put(measure, high_alone[at]),
                "effective_labels": compute_effective_labels(
                    n_labels, alone, float(high[at] - low[at])
                ),
                "p_best": float(best[at]),
            }

    def _put(self, measure: str, share: float) -> float:
        """A number from 0 to 1 in the unit of the labels."""
        low, high = self.table.unit if measure == self.table.measure else (0.0, 1.0)
        return float(low + (high - low) * share)

    def _find_ends(self, draws: FloatArray) -> FloatArray:
        tail = (1.0 - self.level) / 2.0
        ends: FloatArray = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        return ends

    def differences(self, measure: str | None = None) -> list[dict[str, Any]]:
        """The difference of every two systems, item by item, of a measure (default: the first).

        ``low`` and ``high`` hold for one difference, ``low_all`` and ``high_all`` for all of them
        at once; ``p_first`` is the probability that the first system is the better one.
        """
        name = self.measures[0] if measure is None else self._check(measure)
        rates = self.rates[name]
        pairs = list(combinations(range(len(self.systems)), 2))
        if not pairs:
            return []
        first, second = np.array(pairs).T
        values = rates.values[first] - rates.values[second]
        draws = rates.draws[:, first] - rates.draws[:, second]
        low, high = self._find_ends(draws)
        spread = np.maximum((high - low) / 2.0, 1e-12)
        # the largest of all standardized deviations: one factor for all intervals
        off = np.abs(draws - values) / spread
        factor = max(1.0, float(np.quantile(off.max(axis=1), self.level)))
        scale = self._put(name, 1.0) - self._put(name, 0.0)
        return [
            {
                "measure": name,
                "first": self.systems[a],
                "second": self.systems[b],
                "difference": float(values[i]) * scale,
                "low": float(low[i]) * scale,
                "high": float(high[i]) * scale,
                "low_all": float(values[i] - factor * (values[i] - low[i])) * scale,
                "high_all": float(values[i] + factor * (high[i] - values[i])) * scale,
                "p_first": float((draws[:, i] > 0.0).mean()),
            }
            for i, (a, b) in enumerate(pairs)
        ]

    @cached_property
    def _judges(self) -> list[dict[str, Any]]:
        return list(list_judges(self.table.rows, self.table.judges, self.level))

    def judges(self) -> list[dict[str, Any]]:
        """One dict per judge, from the rows that people judged too.

        Of pass and fail: ``accuracy``, ``sensitivity``, ``specificity`` and ``kappa``, each with
        its interval (``kappa_low``, ``kappa_high``). Of numbers: ``mean_error``, the mean absolute
        difference from people on a scale from 0 to 1, and ``correlation``. Of comparisons:
        ``accuracy`` and ``kappa`` of the first, the second and a tie, and ``position``, how often
        the first of two answers as good is preferred. ``base_rate`` is the mean of people's
        verdicts and ``bias`` how much higher the judge's is.
        """
        return [dict(row) for row in self._judges]

    @cached_property
    def warnings(self) -> tuple[SystemWarning, ...]:
        """Reasons to trust the rates less, the most serious first."""
        has_bounds = self.options.bounds is not None or self.options.grades is not None
        return find_warnings(self.table, self._judges, has_bounds=has_bounds)

    def biases(self) -> list[dict[str, Any]]:
        """How much higher judges' verdicts are than people's: long answers, a judge's own system.

        ``bias`` with ``low`` and ``high`` ends: for an answer twice as long, or for the system of
        the judge's name, in comparison with answers of which people say the same.
        """
        if self.table.rows.seconds is not None:
            return []
        table = self.table
        return list(find_biases(table.rows, table.judges, table.systems, table.lengths, self.level))

    @cached_property
    def _steps(self) -> list[dict[str, Any]]:
        prices, names = self.options.prices, self.table.judges
        if not prices:
            return []
        unknown = sorted(set(prices) ^ set(names))
        if unknown:
            raise InputError(
                option="prices", value=sorted(prices), must=f"have each judge: {quote(names)}"
            )
        try:
            told = [float(prices[name]) for name in names]
        except (TypeError, ValueError):
            told = [-1.0]
        if min(told) < 0.0:
            raise InputError(option="prices", value=dict(prices), must="be numbers of 0 or more")

        def estimate(rows: JudgedRows) -> float:
            rng = np.random.default_rng(self.options.random_state)
            if rows.seconds is not None:
                found = estimate_strengths(rows, rng, level=self.level, n_draws=1000)[WIN_RATE]
            else:
                levels = [rows.systems]
                found = estimate_rates(
                    rows, rows.systems, levels, rng, level=self.level, n_draws=1000
                )
            low, high = self._find_ends(found.draws)
            return self._put(self.measures[0], float((high - low).mean())) - self._put(
                self.measures[0], 0.0
            )

        budget = self.options.budget
        steps = list(
            drop_judges(self.table.rows, told, estimate, np.inf if budget is None else budget)
        )
        fits = [i for i, (_, cost, _) in enumerate(steps) if budget is None or cost <= budget]
        # without a budget, as few as make intervals at most a twentieth wider
        best = min(fits, key=lambda i: steps[i][2]) if budget is not None and fits else None
        if budget is None:
            best = max(i for i in fits if steps[i][2] <= WIDER * steps[0][2])
        return [
            {
                "judges": [names[j] for j in kept],
                "cost": cost,
                "width": width,
                "chosen": at == best,
            }
            for at, (kept, cost, width) in enumerate(steps)
        ]

    def judges_by_cost(self) -> list[dict[str, Any]]:
        """Which judges to keep, from all to one: ``cost`` on all rows, mean ``width`` of intervals.

        The ``chosen`` ones have the narrowest intervals within ``budget``; without one, they are as
        few as make intervals at most 5% wider. Empty without ``prices``.
        """
        return [dict(row) for row in self._steps]

    def records(self) -> list[dict[str, Any]]:
        """The calibration of each judge as `ssme.systems.records` keeps it, and its ``status``."""
        return compare_records(self.options.record, self._judges, self.options.prompts)

    def people(self) -> list[dict[str, Any]]:
        """How well every two people agree on the rows that both judged, with intervals."""
        table = self.table
        return list(list_pairs(table.labels, table.rows, table.people, self.level))

    @cached_property
    def n_effective_judges(self) -> float:
        """The number of judges with independent errors that these judges are worth."""
        return count_effective_judges(self.table.rows)

    @property
    def has_disagreements(self) -> bool:
        """Whether verdicts are of pass and fail, or of two answers, so that they can differ."""
        return self.table.rows.binary or self.table.rows.seconds is not None

    def disagreements(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Verdicts that differ from people's, the most probable errors of judges first.

        ``p_judge_wrong`` is the probability that the judge errs and not the person, from what the
        other judges say; the last ones are probable errors of labels.
        """
        rows, other = self.table.rows, self.table.rows.seconds
        if not self.has_disagreements:
            raise InputError(
                f"disagreements are of pass and fail, and {self.table.measure} is estimated",
                hint="say with `cut` from which grade on an answer passes",
            )
        return [
            {
                "row": row,
                "system": self.systems[rows.systems[row]],
                **({} if other is None else {"second": self.systems[other[row]]}),
                "item": self.table.items[rows.items[row]],
                "judge": self.table.judges[judge],
                "verdict": float(rows.verdicts[row, judge]),
                "human": float(rows.outcomes[row]),
                "p_judge_wrong": probability,
            }
            for row, judge, probability in rank_disagreements(rows)[:limit]
        ]

    def _check(self, measure: str) -> str:
        if measure not in self.measures:
            raise InputError(
                f"{measure!r} was not estimated", hint=f"there are {quote(self.measures)}"
            )
        return measure

    def gate(self, *conditions: str, fail_on: str | None = None) -> gates.Verdict:
        """Whether conditions hold, such as ``"new-old:pass_rate.low>=-0.01"``.

        Without any, those of ``fail_under`` are asked. They do not hold despite a warning of the
        severity ``fail_on``: "serious", "warning" or "never".
        """
        failures: list[str] = []
        asked = conditions or self.options.fail_under or ()
        fail_on = accept(ASK["fail_on"], fail_on) or self.options.fail_on
        for text in asked:
            condition = gates.parse_condition(text)
            for name, value in self.check_condition(condition):
                if not condition.holds(value):
                    failures.append(
                        f"{name}: {condition.metric} {condition.column} is {value:.4g}, "
                        f"asked for {condition.sign} {condition.limit:g}"
                    )
        found = [(each.severity, f"warning: {each.title}. {each.advice}") for each in self.warnings]
        return gates.weigh_warnings(
            failures, (), found, fail_on or ("serious" if asked else "never")
        )

    def check_condition(self, condition: gates.GateCondition) -> list[tuple[str, float]]:
        """The values that a condition is asked of, by name; one that cannot be asked is refused."""
        with name_argument("fail_under"):
            measure = self._check(condition.metric)
            pair = gates.find_pair(self.systems, condition)
            ends = self._put(measure, 0.0), self._put(measure, 1.0)
            if measure == STRENGTH:
                ends = -np.inf, np.inf
        gates.refuse_idle_condition(condition, ends, True, paired=pair is not None)
        if pair is None:
            return [
                (row["system"], row[condition.column])
                for row in self.rows(measure)
                if row["group"] == ALL and condition.model in (None, row["system"])
            ]
        column = "difference" if condition.column == "estimate" else condition.column
        for row in self.differences(measure):
            if (row["first"], row["second"]) == pair:
                return [(f"{pair[0]} minus {pair[1]}", row[column])]
            if (row["second"], row["first"]) == pair:
                turned = {"low": "high", "high": "low"}.get(column, column)
                return [(f"{pair[0]} minus {pair[1]}", -row[turned])]
        return []

    def frame(self, library: str = "pandas") -> Any:
        """The table of `rows` as a frame of pandas, polars or pyarrow."""
        rows = self.rows()
        return build_frame({name: [row[name] for row in rows] for name in rows[0]}, library)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as values that JSON can hold."""
        verdict = self.gate() if self.options.fail_under or self.options.fail_on else None
        plain: dict[str, Any] = to_plain_values(
            {
                "rates": self.rows(),
                "differences": [row for name in self.measures for row in self.differences(name)],
                "gate": verdict,
                "warnings": [each._asdict() for each in self.warnings],
                "n_rows": int(self.table.rows.outcomes.size),
                "n_items": len(self.table.items),
                "n_labels": int(self.table.rows.labeled.size),
                "judges": self.judges(),
                "biases": self.biases(),
                "judges_by_cost": self.judges_by_cost(),
                "records": self.records(),
                "people": self.people(),
                "label_error": self.label_error,
                "n_effective_judges": self.n_effective_judges,
                "disagreements": self.disagreements() if self.has_disagreements else None,
                "level": self.level,
            }
        )
        return plain

    def report(self, path: Any) -> Any:
        """Write a report: HTML, Markdown or JSON, by the suffix of ``path``."""
        from ssme.show.report import write_document
        from ssme.systems.document import build_systems_document

        return write_document(build_systems_document(self), path, self.to_dict)

    def __repr__(self) -> str:
        from ssme.show.terminal import render_text
        from ssme.systems.document import build_systems_document

        return render_text(build_systems_document(self))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from ssme.show.text import render_notebook
        from ssme.systems.document import build_systems_document

        return render_notebook(build_systems_document(self))
