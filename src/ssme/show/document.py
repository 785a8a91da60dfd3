"""From an evaluation to the tree of sections that every output draws; statistics end here.

The answers come first: which model, how good, how sure, compared with labels alone, and the most
serious warning. Then the tables, the leading metric first, and the sections that were asked for.
With a limit the document is brief, about 25 lines in a terminal: the leading metric in full, all
others in one table, and of the groups what each grouping says of the leading metric.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ssme.data.scoreset import describe_positive
from ssme.diagnostics.check import ResultWarning
from ssme.diagnostics.label_checks import list_contradicted_labels
from ssme.diagnostics.page import SEVERITIES
from ssme.errors import InputError, UnsupportedError
from ssme.methods.answers.method import AnswersBelief
from ssme.methods.base import MethodSpec
from ssme.methods.registry import find_method_class
from ssme.metrics.base import Metric
from ssme.results.choose import Choice, list_alternatives
from ssme.results.groups import ALL, order_groups
from ssme.results.table import TABLE, count_effective_labels, to_plain_values
from ssme.show.sections import (
    Column,
    Section,
    format_number,
    format_percent,
    format_span,
    format_value,
)
from ssme.spec import RunSpec

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.results.together import SetProfile

SEVERITY_NAMES = {"serious": "serious warning", "warning": "warning", "note": "note"}
"""What warnings of each severity are called."""
TOGETHER_MODELS = 30
"""Models up to which a report says unasked how they err together: pairs grow with the square."""
OPEN_METRICS = 4
"""Metrics that a page shows unfolded."""
GROUP_ROWS = 540
"""Rows of all tables of groups by metric together, up to which a report shows every model."""
BRIEF = 200
"""Characters of a fact of the fit that a report still shows."""

Rows = Sequence[Mapping[str, Any]]


class Shown(NamedTuple):
    """A column of a table that is made of rows: its heading, and the keys of its values in them.

    The rest is as in `Column`.
    """

    title: str
    keys: str | tuple[str, ...]
    kind: str = "text"
    spare: bool = False
    ends: tuple[str, str] = ("low", "high")


def list_estimate_columns(level: float) -> tuple[Shown, ...]:
    """The columns of every table of estimates of models, those of `TABLE` with a title included."""
    return (
        Shown("model", "model"),
        Shown("estimate", "estimate", "number"),
        Shown(f"{level * 100:g}% interval", ("low", "high"), "span"),
        Shown("labels only", "labels_only", "number"),
        Shown(
            f"{level * 100:g}% interval",
            ("labels_only_low", "labels_only_high"),
            "span",
            ends=("labels only low", "labels only high"),
        ),
        *(Shown(each.title, each.name, each.kind, True) for each in TABLE if each.title),
        Shown("P(best)", "p_best", "share", spare=True),
    )


@dataclass(frozen=True)
class Headline:
    """An answer in a word or a number, and the sentence behind it."""

    question: str
    answer: str
    detail: str
    severity: str = ""


@dataclass(frozen=True, eq=False)
class Document:
    """What people read of an evaluation."""

    title: str
    head: tuple[str, ...]
    answers: tuple[Headline, ...]
    sections: tuple[Section, ...]
    foot: tuple[str, ...] = ()

    def walk(self) -> Iterator[Section]:
        """All sections, those inside others too."""
        for section in self.sections:
            yield from section.walk()

    def to_dict(self) -> dict[str, Any]:
        """The document without pictures as values that JSON can hold; the page draws these too."""
        return to_plain_values(
            {
                "title": self.title,
                "head": self.head,
                "answers": [asdict(answer) for answer in self.answers],
                "sections": [_describe_section(section) for section in self.sections],
                "foot": self.foot,
            }
        )


def _describe_section(section: Section) -> dict[str, Any]:
    return {
        **{key: value for key, value in vars(section).items() if key != "charts"},
        "table": [asdict(column) for column in section.table],
        "parts": [_describe_section(part) for part in section.parts],
    }


def build_document(
    evaluation: Evaluation,
    title: str | None = None,
    *,
    limit: int | None = None,
    report: bool = True,
    further: Sequence[Section] = (),
    date: datetime | None = None,
) -> Document:
    """The document of an evaluation.

    With a ``limit``, it is brief and tables have no more rows than that. Without ``report``,
    sections are left out that only a report has: method, data, differences, pictures. ``further``
    are added to it.
    """
    date = date or datetime.now(UTC)
    charts: Mapping[str, Any] = {}
    answered = evaluation.asked
    if report:
        from ssme.show.charts import list_charts

        charts = list_charts(evaluation)
        answered = replace(answered, together=_find_profile(evaluation))
    requested = {
        section.key: _cut(section, limit) for section in (*answered.list_sections(), *further)
    }
    sections = [requested.pop("thresholds")] if "thresholds" in requested else []
    sections.append(_make_estimates(evaluation, charts, limit, report))
    if report and evaluation.data.n_models > 1:
        sections += _list_comparisons(evaluation, charts)
    sections += requested.values()
    if len(evaluation.groups) > 1:
        sections.append(_make_groups(evaluation, charts, limit, report))
    if charts.get("behavior"):
        about = (
            "Lines and points are estimates; bands and bars are "
            f"{evaluation.level * 100:g}% intervals, from the same draws as those in the tables."
        )
        sections.append(Section("behavior", "Behavior", (about,), charts=charts["behavior"]))
    if limit is None:
        sections.append(make_warnings_section(evaluation.warnings, explain=report))
    if report:
        sections += [_make_method(evaluation, charts), _make_data(evaluation)]
        sections.append(_make_rerun(evaluation))
    files = name_files(evaluation.settings)
    origin = [", ".join(filter(None, (files, f"{date.astimezone(UTC):%Y-%m-%d}")))] * report
    return Document(
        title or "How good are these classifiers?",
        (*_write_head(evaluation), *origin),
        _write_answers(evaluation),
        tuple(sections),
        _write_foot(evaluation.settings, date) if report else (),
    )


def make_table(
    rows: Rows, columns: Iterable[Shown], limit: int | None = None, noun: str = "row"
) -> tuple[tuple[Column, ...], str]:
    """The table of the first rows, and how many more there are."""
    shown = rows[:limit]
    table = tuple(
        Column(
            each.title,
            [
                row[each.keys] if isinstance(each.keys, str) else tuple(row[k] for k in each.keys)
                for row in shown
            ],
            *each[2:],
        )
        for each in columns
    )
    return table, _count_more(len(rows), limit, noun)


def _count_more(count: int, limit: int | None, noun: str) -> str:
    left = 0 if limit is None else count - limit
    return f"{left:,} more {noun}{'' if left == 1 else 's'}" if left > 0 else ""


def _cut(section: Section, limit: int | None) -> Section:
    """The section with the rows of no more than ``limit`` names in its first column."""
    names = list(dict.fromkeys(section.table[0].cells)) if section.table else []
    if limit is None or len(names) <= limit:
        return section
    kept = [i for i, cell in enumerate(section.table[0].cells) if cell in names[:limit]]
    table = tuple(replace(each, cells=[each.cells[i] for i in kept]) for each in section.table)
    return replace(section, table=table, more=_count_more(len(names), limit, "row"))


# -------------------------------------------------------------------------------------------------
# Head, answers and foot


def _write_head(evaluation: Evaluation) -> tuple[str, ...]:
    data, whole, settings = evaluation.data, evaluation.groups[0], evaluation.settings
    noun = "model" if data.n_models == 1 else "models"
    first = (
        f"{data.n_models:,} {noun}, {whole.n_labeled:,} labeled and {whole.n_unlabeled:,} "
        f"unlabeled rows, {data.n_classes} classes{describe_positive(data)}, "
        f"method {evaluation.method}."
    )
    if not settings.get("corrected_shift"):
        return (first,)
    kind = settings["corrected_shift"]
    return first, f"The labels are weighted to correct {kind} shift. {settings['shift']}"


def name_files(settings: Mapping[str, Any]) -> str:
    """The names of the files that were read; nothing for rows in memory."""
    source = (settings.get("config") or {}).get("source") or []
    return " and ".join(
        PurePath(each).name for each in ([source] if isinstance(source, str) else source)
    )


def _write_answers(evaluation: Evaluation) -> tuple[Headline, ...]:
    """Five answers, for what the models are chosen by: the first metric, or that of thresholds."""
    thresholds, choice = evaluation.asked.thresholds, evaluation.decision
    worry = _name_worries(evaluation.warnings)
    if thresholds is not None and choice is None:
        told = thresholds.sentence()
        return Headline("Which model?", "None", f"{told[:1].lower()}{told[1:]}"), worry
    metric = evaluation.metrics[0]
    note = evaluation.settings.get("lead", {}).get("reason", "")
    rows = _rank_models(evaluation, metric)
    name = metric.name
    if thresholds is not None and choice is not None:
        metric, name = thresholds.metric, choice.metric
        picks = {pick.model: pick for pick in thresholds.picks}
        rows = [
            {**vars(picks[each.model].metrics[0]), "model": each.model, "p_best": each.p_best}
            for each in choice.contenders
        ]
        note = " ".join(
            f"{at.metric} {format_value(at.estimate, at.low, at.high)}; {choice.goal} with "
            f"probability {format_percent(picks[choice.pick].p_demand)}."
            for at in picks[choice.pick].metrics[1:]
        )
    best = next((row for row in rows if row["estimate"] == row["estimate"]), rows[0])
    detail = name if metric.greater_is_better else f"{name} ({metric.direction})"
    if best["low"] == best["low"]:
        span = format_span(best["low"], best["high"])
        detail += f", {evaluation.level * 100:g}% interval {span}"
        effective = count_effective_labels(evaluation)
        if thresholds is None and effective >= evaluation.groups[0].n_labeled + 0.5:
            detail += f"; {effective:,.0f} effective labels"
    return (
        _choose_model(choice, metric, name, rows, best),
        Headline("How good?", format_number(best["estimate"]), f"{detail}. {note}".rstrip()),
        _describe_sureness(choice, rows, best),
        _compare_with_labels(evaluation, best),
        worry,
    )


def _choose_model(
    choice: Choice | None, metric: Metric, name: str, rows: Rows, best: Mapping[str, Any]
) -> Headline:
    question = "Which model?"
    if math.isnan(best["estimate"]):
        detail = f"{name} is undefined for every model on these rows."
        return Headline(question, "None can be named", detail)
    where = "" if choice is None else choice.describe_threshold()
    if len(rows) == 1:
        use = f" Use it{where}." if where else ""
        return Headline(question, best["model"], f"the only one that was evaluated.{use}")
    ahead = f"{'highest' if metric.greater_is_better else 'lowest'} {name}{where}"
    if choice is None or math.isnan(choice.p_best):
        return Headline(question, best["model"], f"{ahead}.")
    others = [model for model in choice.possible_best if model != choice.pick]
    if not others:
        return Headline(question, choice.pick, f"clearly the {ahead}.")
    listed = list_alternatives(others)
    return Headline(question, choice.pick, f"{ahead}; {listed} may be better.")


def _describe_sureness(choice: Choice | None, rows: Rows, best: Mapping[str, Any]) -> Headline:
    question = "How sure?"
    others = [row for row in rows if row is not best and row["estimate"] == row["estimate"]]
    if not others or math.isnan(best["p_best"]) or choice is None:
        if math.isnan(best["low"]):
            return Headline(question, "-", "the method gives no interval for it.")
        half = (best["high"] - best["low"]) / 2.0
        return Headline(question, f"± {half:.3f}", "half the width of the interval.")
    raw = "" if choice.calibrated else " (not calibrated)"
    behind = format_value(choice.regret, choice.regret_low, choice.regret_high)
    return Headline(
        question,
        format_percent(choice.p_best),
        f"probability that it is the best of {len(choice.contenders)}{raw}; expected to be "
        f"{behind} behind the best.",
    )


def _compare_with_labels(evaluation: Evaluation, best: Mapping[str, Any]) -> Headline:
    question = "Labels alone?"
    alone, count = best["labels_only"], evaluation.groups[0].n_labeled
    if math.isnan(alone):
        do = "label does" if count == 1 else "labels do"
        return Headline(question, "-", f"the {count:,} {do} not determine it.")
    span = format_span(best["labels_only_low"], best["labels_only_high"])
    interval = "" if span == "-" else f"{evaluation.level * 100:g}% interval {span}; "
    labels = "label" if count == 1 else "labels"
    return Headline(question, format_number(alone), f"{interval}{count:,} {labels}.")


def _name_worries(warnings: Sequence[ResultWarning]) -> Headline:
    """The worst warnings by their own name: a serious one is not a warning."""
    question = "Warnings?"
    if not warnings:
        return Headline(question, "None", "no check found a problem.")
    worst = next(each for each in SEVERITIES if each in {warning.severity for warning in warnings})
    first = next(warning for warning in warnings if warning.severity == worst)
    others = len(warnings) - 1
    more = f"; {others} more warning{'' if others == 1 else 's'}" if others else ""
    shown = first.code if worst == "warning" else f"{worst.capitalize()} {first.code}"
    return Headline(question, shown, f"{first.title}{more}.", worst)


def _write_foot(settings: Mapping[str, Any], date: datetime) -> tuple[str, ...]:
    """When and with what the report was made, and from which input where that is known."""
    made = (
        f"Written on {date.astimezone(UTC):%Y-%m-%d %H:%M UTC} with ssme "
        f"{settings.get('versions', {}).get('ssme', '-')}. The evaluation took "
        f"{settings.get('seconds', '-')} s; its seed is {settings.get('random_state')}."
    )
    digest = settings.get("file_sha256")
    return (made, f"SHA-256 of the input: {digest}.") if digest else (made,)


# -------------------------------------------------------------------------------------------------
# Estimates of all rows


def _make_estimates(
    evaluation: Evaluation, charts: Mapping[str, Any], limit: int | None, report: bool
) -> Section:
    about = list(_describe_calibration(evaluation)) if limit is None else []
    if report:
        about.insert(
            0,
            f"An interval contains the true value {evaluation.level * 100:g}% of the time if the "
            'assumptions of the method are true. "Labels only" is the estimate from the '
            "labeled rows alone.",
        )
    if evaluation.asked.thresholds is not None:
        usual = evaluation.settings.get("threshold") or 0.5
        about.append(f"These tables use threshold {usual:g}, not the thresholds above.")
    parts = []
    for number, metric in enumerate(evaluation.metrics[: None if limit is None else 1]):
        rows = _rank_models(evaluation, metric)
        columns = list_estimate_columns(evaluation.level)
        if all(math.isnan(row["p_best"]) for row in rows):
            columns = tuple(each for each in columns if each.keys != "p_best")
        if limit is not None:  # the name of the metric is that of its column
            columns = tuple(
                each._replace(title=metric.name) if each.keys == "estimate" else each
                for each in columns
            )
        definition = metric.definition[:1].upper() + metric.definition[1:]
        parts.append(
            Section(
                f"metric-{number}",
                f"{metric.name} ({metric.direction})" if limit is None else "",
                (f"{definition}.",) if report else (),
                *make_table(rows, columns, limit, "model"),
                charts.get(f"metric-{number}", ()),
                folded=number >= OPEN_METRICS,
            )
        )
    if limit is not None and len(evaluation.metrics) > 1:
        parts.append(_make_other_metrics(evaluation, limit))
    return Section("estimates", "Estimates", tuple(about), parts=tuple(parts))


def _make_other_metrics(evaluation: Evaluation, limit: int) -> Section:
    """Every metric but the leading one in one table, models as they are ranked by that one."""
    first, *others = evaluation.metrics
    rows: list[dict[str, Any]] = [
        {"model": row["model"]} for row in _rank_models(evaluation, first)
    ]
    columns = [Shown("model", "model")]
    for number, metric in enumerate(others):
        values = {
            row["model"]: (row["estimate"], row["low"], row["high"])
            for row in evaluation.rows(metric.name, ALL)
        }
        for row in rows:
            row[str(number)] = values[row["model"]]
        columns.append(Shown(metric.name, str(number), "value", spare=True))
    return Section("metrics", "", (), *make_table(rows, columns, limit, "model"))


def _rank_models(evaluation: Evaluation, metric: Metric) -> list[dict[str, Any]]:
    """The rows of a metric on all rows, best model first, with P(best)."""
    rows = {row["model"]: row for row in evaluation.rows(metric.name, ALL)}
    if metric.greater_is_better is None:
        return [{**row, "p_best": math.nan} for row in rows.values()]
    ranks = evaluation.ranking(metric.name).rows
    return [{**rows[rank.model], "p_best": rank.p_best} for rank in ranks]


def _describe_calibration(evaluation: Evaluation) -> list[str]:
    """What P(best) is, and for which metrics it is not calibrated; nothing for one model."""
    ranked = [
        metric
        for metric, estimate in zip(evaluation.metrics, evaluation.estimates[0], strict=True)
        if metric.greater_is_better is not None and estimate.draws is not None
    ]
    raw = [each.name for each in ranked if not evaluation.find_record(each).knows("best")]
    if not ranked or evaluation.data.n_models < 2:
        return []
    meaning = "P(best) is the probability that a model is the best one"
    if not raw:
        return [f"{meaning}, calibrated on benchmark sets."]
    where = f" for {', '.join(raw)}" if len(raw) < len(ranked) else ""
    return [f"{meaning}. It is not calibrated{where}: no benchmark measured it with this method."]


def _list_comparisons(evaluation: Evaluation, charts: Mapping[str, Any]) -> Iterator[Section]:
    """How probable each model is the best, and its difference from the one in front."""
    metric = evaluation.metrics[0]
    if metric.greater_is_better is None:
        return
    if charts.get("ranking"):
        about = f"How probable it is that each model is the best one in {metric.name}"
        if evaluation.asked.thresholds is not None:
            about += ", which is not what the thresholds were chosen for"
        yield Section("ranking", "Ranking", (f"{about}.",), charts=charts["ranking"])
    best = _rank_models(evaluation, metric)[0]["model"]
    comparison = evaluation.compare(metric.name, best)
    about = (
        f"{best} minus each other model in {metric.name}, on the same rows. P(better) is the "
        f"probability that {best} is better."
    )
    columns = (
        Shown("model", "b"),
        Shown("difference", "difference", "number"),
        Shown("interval", ("low", "high"), "span"),
        Shown("P(better)", "p_better", "share"),
    )
    rows = sorted(map(vars, comparison.rows), key=lambda row: row["p_better"])
    about_all = (about, *comparison.remarks)
    yield Section("differences", "Differences", about_all, *make_table(rows, columns))


# -------------------------------------------------------------------------------------------------
# Groups


GROUP_COLUMNS = (
    Shown("group", "group"),
    Shown("rows", "rows", "count"),
    Shown("labels", "n_labeled", "count"),
    Shown("estimate", "estimate", "number"),
    Shown("interval", ("low", "high"), "span", spare=True),
    Shown("difference", "difference", "number", spare=True),
    Shown("vs all rows", ("difference_low", "difference_high"), "span", ends=("from", "to")),
    Shown("P(worst)", "p_worst", "share"),
    Shown("shrinkage", "shrinkage", "share", spare=True),
    Shown("effective labels", "effective_labels", "count", spare=True),
)


def _make_groups(
    evaluation: Evaluation, charts: Mapping[str, Any], limit: int | None, report: bool
) -> Section:
    """The groups of each grouping, worst first, how far they are apart, and every metric."""
    first = evaluation.metrics[0]
    parts: list[Section] = []
    for number, by in enumerate(dict.fromkeys(group.by for group in evaluation.groups[1:])):
        ranking = evaluation.worst_groups(first.name, by=by)
        rows = [
            {
                **vars(rank),
                "group": _leave_out_columns(rank.group, by),
                "rows": rank.n_labeled + rank.n_unlabeled,
            }
            for rank in ranking.rows
        ]
        title = f"{first.name} of {ranking.rows[0].model} by {by}, worst group first"
        table = make_table(rows, GROUP_COLUMNS, limit, "group")
        parts.append(Section(f"groups-{number}", title, ranking.remarks, *table))
    parts.append(_make_gaps(evaluation, ranking.rows[0].model, limit))
    if limit is None:
        cells = (len(evaluation.groups) - 1) * len(evaluation.metrics)
        most = max(1, GROUP_ROWS // cells) if report else evaluation.data.n_models
        parts += [
            _make_group_table(evaluation, number, metric, most)
            for number, metric in enumerate(evaluation.metrics)
        ]
    about = [
        "Intervals of differences from all rows are simultaneous over groups. "
        '"P(worst)" is the probability that the group is the worst one. "Shrinkage" is the share '
        "of its estimates that comes from all rows rather than from its own labels. "
        '"Effective labels" is the number of labels that give an interval as narrow without '
        "unlabeled rows."
    ]
    if any(row["labels_only_from"] == "all" for row in evaluation.rows() if row["group"] != ALL):
        about.append(
            'Where a group has no labels, or none of a class that a metric needs, "labels only" is '
            'the value of all labeled rows, marked "all rows".'
        )
    pictures = charts.get("groups", ())
    about = about if limit is None else []
    return Section("groups", "Groups", tuple(about), charts=pictures, parts=tuple(parts))


def _make_gaps(evaluation: Evaluation, model: str, limit: int | None) -> Section:
    gaps = evaluation.asked.gaps or evaluation.gaps(kinds=["difference"])
    rows = [
        {
            **vars(gap),
            "name": gap.name,
            "worst": _leave_out_columns(gap.worst, gap.by),
            "best": _leave_out_columns(gap.best, gap.by),
        }
        for gap in gaps.rows
        if gap.model == model
    ]
    about = (
        "Intervals are simultaneous over all pairs of groups. Unless it is named otherwise, a gap "
        "is the largest value minus the smallest."
    )
    columns = (
        Shown("grouping", "by"),
        Shown("gap in", "name"),
        Shown("estimate", "estimate", "number"),
        Shown(f"{gaps.level * 100:g}% interval", ("low", "high"), "span"),
        Shown("worst", "worst"),
        Shown("best", "best"),
    )
    table = make_table(rows, columns, limit, "gap")
    return Section("gaps", f"Gaps between groups of {model}", (about,), *table)


def _make_group_table(evaluation: Evaluation, number: int, metric: Metric, most: int) -> Section:
    """One metric of the best models, no more than ``most``, in every group, worst group first."""
    place = {name: i for i, name in enumerate(order_groups(evaluation, metric.name))}
    models = {row["model"]: i for i, row in enumerate(_rank_models(evaluation, metric))}
    rows = [
        row
        for row in evaluation.rows(metric.name)
        if row["group"] != ALL and models[row["model"]] < most
    ]
    rows.sort(key=lambda row: (place[row["group"]], models[row["model"]]))
    sources = {"group": "its own", "all": "all rows", "none": "-"}
    for row in rows:
        row["from"] = sources[row["labels_only_from"]]
    columns = (
        Shown("group", "group"),
        Shown("labels", "n_labeled", "count"),
        *(
            column
            for column in list_estimate_columns(evaluation.level)
            if column.keys not in (("labels_only_low", "labels_only_high"), "p_best")
        ),
        Shown("from labels", "from"),
    )
    title = f"{metric.name} by group, worst group first"
    left = len(models) > most
    about = (f"The best {most} of {len(models)} models. ssme evaluate --csv writes all.",)
    return Section(
        f"group-metric-{number}",
        title,
        about if left else (),
        *make_table(rows, columns),
        folded=number > 0,
    )


def _leave_out_columns(group: str, by: str) -> str:
    """A group of ``by`` without the names of its columns: Male & White."""
    for start in (f"{by}: ", f"{by}="):
        if group.startswith(start):
            return group.removeprefix(start)
    columns, parts = by.split("+"), group.split(" & ")
    if len(columns) != len(parts):
        return group
    pairs = zip(columns, parts, strict=True)
    return " & ".join(part.removeprefix(f"{column}=") for column, part in pairs)


def _find_profile(evaluation: Evaluation) -> SetProfile | None:
    """How the models err together; None for one model, many, or a method that cannot tell."""
    if evaluation.asked.together is not None:
        return evaluation.asked.together
    if not 2 <= evaluation.data.n_models <= TOGETHER_MODELS:
        return None
    try:
        profile = evaluation.set_profile()
    except UnsupportedError:
        return None
    return None if math.isnan(profile.all_wrong.estimate) else profile


# -------------------------------------------------------------------------------------------------
# Warnings, and what only a report has


def make_warnings_section(warnings: Sequence[ResultWarning], *, explain: bool = False) -> Section:
    """Each warning: what, why, what to do, and what it means."""
    from ssme.diagnostics.page import explain_plainly

    parts = []
    for warning in warnings:
        key, kind = warning.code.lower(), SEVERITY_NAMES[warning.severity]
        reason = (f"{kind.capitalize()}. {warning.reason}", f"What to do: {warning.advice}")
        meaning = explain_plainly(warning.code) if explain else []
        inside = (Section(f"explained-{key}", f"What {warning.code} means", tuple(meaning)),)
        parts.append(
            Section(
                key,
                f"{warning.code} {warning.title}",
                reason,
                parts=inside if meaning else (),
                severity=warning.severity,
            )
        )
    none = () if warnings else ("None of the checks found a problem in the data.",)
    return Section("warnings", "Warnings", none, parts=tuple(parts))


def _make_method(evaluation: Evaluation, charts: Mapping[str, Any]) -> Section:
    judged = isinstance(evaluation.belief, AnswersBelief)
    try:
        spec = find_method_class("answers" if judged else evaluation.method).spec
    except InputError:
        spec = MethodSpec(evaluation.method, title=evaluation.method, source="")
    source = f"; {spec.source}" if spec.source else ""
    facts = {
        key: value
        for key, value in to_plain_values(evaluation.belief.facts.describe()).items()
        if len(json.dumps(value)) <= BRIEF
    }
    return Section(
        "method",
        "Method",
        (
            f"{spec.title} ({evaluation.method}{source}).",
            *filter(None, (spec.does, spec.assumes, spec.fails)),
        ),
        charts=charts.get("method", ()),
        parts=(Section("fit", "Facts of the fit", (), _list_facts(facts)),) if facts else (),
    )


def _make_data(evaluation: Evaluation) -> Section:
    data, whole = evaluation.data, evaluation.groups[0]
    facts = {
        "rows": f"{evaluation.n_rows:,}, of which {whole.n_labeled:,} labeled",
        "classes": ", ".join(map(str, data.classes)),
    }
    if evaluation.sample is not None:
        facts["sample"] = (
            f"{evaluation.sample.n_rows:,} rows, to which the method was fitted and from which the "
            "curves are drawn"
        )
    if data.weights is not None:
        facts["weights"] = "rows are weighted"
    for group in evaluation.groups[1:]:
        facts[group.name] = f"{group.n_labeled:,} labeled, {group.n_unlabeled:,} unlabeled"
    understood = {} if data.layout is None else data.layout.describe()
    facts |= {k: v for k, v in understood.items() if k not in ("score columns", "classes")}
    doubted = list_contradicted_labels(data)
    parts = (
        Section(
            "doubted",
            "Labels to look at again",
            ("Every model predicts another class: the label may be wrong, or all models.",),
            (
                Column("row", [str(row["row"]) for row in doubted]),
                Column("label", [str(row["label"]) for row in doubted]),
                Column("models say", [str(row["models"]) for row in doubted]),
            ),
        ),
    )
    return Section("data", "Data", (), _list_facts(facts), parts=parts if doubted else ())


def _make_rerun(evaluation: Evaluation) -> Section:
    """The run as a config file and as Python, or why no file can hold it."""
    settings, title = evaluation.settings, "Run it again"
    if not settings.get("config"):
        reason = f"This run cannot be written to a config file. {settings.get('no_config', '')}"
        return Section("again", title, (reason.rstrip(),))
    spec = RunSpec.from_dict(settings["config"])
    asked = ", ".join(f"{key}={value!r}" for key, value in evaluation.asked.options.items())
    file = "" if "source" in settings["config"] else "scores.csv "
    about = [f"Save the config file as run.toml, then run: ssme evaluate {file}--config run.toml"]
    about += [f"The file does not contain what else was asked: {asked}."] if asked else []
    python = spec.to_python() + (f".ask({asked})" if asked else "")
    return Section(
        "again",
        title,
        tuple(about),
        parts=(
            Section("config", "Config file", code=spec.to_text(".toml").rstrip()),
            Section("python", "In Python", code=python),
        ),
    )


def _list_facts(facts: Mapping[str, Any]) -> tuple[Column, ...]:
    return Column("fact", list(facts)), Column("value", [str(value) for value in facts.values()])
