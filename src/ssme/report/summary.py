"""From an `Evaluation` to plain facts: a dict that JSON can hold and every renderer shares.

Its first part, ``headline``, answers five questions in sentences: which classifier, how good, how
sure, compared with labels alone, what should worry me.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ssme.data.scoreset import describe_positive
from ssme.diagnostics.doubt import SEVERITIES
from ssme.diagnostics.registry import explain_plainly
from ssme.errors import InputError, UnsupportedError
from ssme.markup import format_percent
from ssme.methods.answers.belief import AnswersBelief
from ssme.methods.base import MethodSpec
from ssme.methods.registry import find_method_class
from ssme.metrics.base import Metric
from ssme.results.groups import ALL, Group, compute_gaps, order_groups, rank_groups
from ssme.results.plan import count_effective_labels
from ssme.results.sections import format_number, format_span, format_value
from ssme.results.together import SetProfile, profile_set
from ssme.spec import RunSpec

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = ["DOUBT_NAMES", "summarize"]

DOUBT_NAMES = {"serious": "serious doubt", "warning": "warning", "info": "remark"}
"""What doubts of each severity are called."""


TOGETHER_MODELS = 30
"""Models up to which a report tells how they err together: pairs grow with the square."""

SHOWN_OF_METHODS = ("name", "title", "source", "does", "assumes", "fails")
"""Fields of a `MethodSpec` that a report shows."""


def summarize(
    evaluation: Evaluation, title: str | None = None, date: datetime | None = None
) -> dict[str, Any]:
    """Facts and sentences about an evaluation, as plain values that JSON can hold.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.
    title : str, optional
        Heading of the report.
    date : datetime, optional
        When the report is written (default: now).

    Returns
    -------
    dict
        What `render_html` and `render_markdown` render, and what a report in JSON holds.

    Examples
    --------
    >>> import ssme
    >>> from ssme.report import summarize
    >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
    >>> summarize(r)["headline"]["answers"][0]["question"]
    'Which classifier?'
    """
    data, whole = evaluation.data, evaluation.groups[0]
    found = evaluation.to_dict()
    rows = found["estimates"]
    metrics = [_summarize_metric(evaluation, metric, rows) for metric in evaluation.metrics]
    doubts = found["doubts"]
    profile = _find_profile(evaluation)
    sections = replace(evaluation.asked, together=profile).list_sections()
    decided = ("ranking", "differences", "decision", "calibrated")
    kept = {
        name: found[name] for name in (*decided, "asked", "thresholds", "gate") if name in found
    }
    return {
        "title": title or "How good are these classifiers?",
        **kept,
        "headline": _write_headline(evaluation, _find_criterion(evaluation, metrics[0]), doubts),
        "calibration": _describe_calibration(evaluation),
        "data": {
            "rows": whole.n_labeled + whole.n_unlabeled,
            "labeled": whole.n_labeled,
            "unlabeled": whole.n_unlabeled,
            "models": list(data.models),
            "classes": [str(name) for name in data.classes],
            "positive": describe_positive(data),
            "groups": [_describe_group(group) for group in evaluation.groups[1:]],
            "weighted": data.weights is not None,
            "sample_rows": None if evaluation.sample is None else evaluation.sample.n_rows,
            "understood": {} if data.layout is None else data.layout.describe(),
        },
        "together": None if profile is None else profile.to_dict(),
        "level": evaluation.level,
        "metrics": metrics,
        "by_group": [
            {"name": metric.name, "rows": _sort_worst_first(evaluation, metric, rows)}
            for metric in evaluation.metrics
            if len(evaluation.groups) > 1
        ],
        **_summarize_groups(evaluation),
        "borrowed": any(r["group"] != ALL and r["labels_only_from"] == "all" for r in rows),
        "further": [each.to_dict() for each in sections],
        "doubts": [{**each, "explanation": explain_plainly(each["code"])} for each in doubts],
        "method": _describe_method(evaluation),
        "notes": {key: value for key, value in found["notes"].items() if _is_brief(value)},
        "settings": found["settings"],
        "rerun": _say_how_to_rerun(found["settings"], evaluation.asked.options),
        "made": _tell_origin(found["settings"], date or datetime.now(UTC)),
    }


def _sort_worst_first(
    evaluation: Evaluation, metric: Metric, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of a metric by group, the worst group first."""
    place = {name: number for number, name in enumerate(order_groups(evaluation, metric.name))}
    mine = [r for r in rows if r["metric"] == metric.name and r["group"] != ALL]
    return sorted(mine, key=lambda row: place[row["group"]])


def _summarize_groups(evaluation: Evaluation) -> dict[str, Any]:
    """The groups of each grouping by the first metric, worst first, and how far they are apart."""
    if len(evaluation.groups) < 2:
        return {"group_ranks": [], "gaps": []}
    first = evaluation.metrics[0].name
    ranks = []
    for by in dict.fromkeys(group.by for group in evaluation.groups[1:]):
        found = rank_groups(evaluation, first, by=by)
        rows = [{k: _drop_undefined(v) for k, v in vars(rank).items()} for rank in found.rows]
        top = {"by": by, "metric": first, "model": found.rows[0].model}
        ranks.append({**top, "remarks": list(found.remarks), "rows": rows})
    model = ranks[0]["model"]
    asked = evaluation.asked.gaps
    gaps = (compute_gaps(evaluation, kinds=["difference"]) if asked is None else asked).rows
    told = [
        {k: _drop_undefined(v) for k, v in vars(gap).items()} | {"name": gap.name}
        for gap in gaps
        if gap.model == model
    ]
    return {"group_ranks": ranks, "gaps": told}


def _drop_undefined(value: Any) -> Any:
    """None for a number that is undefined."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _find_profile(evaluation: Evaluation) -> SetProfile | None:
    """How the models err together; None for one model, many, or a method that cannot tell."""
    if evaluation.asked.together is not None:
        return evaluation.asked.together
    if not 2 <= evaluation.data.n_models <= TOGETHER_MODELS:
        return None
    try:
        profile = profile_set(evaluation)
    except UnsupportedError:
        return None
    return None if math.isnan(profile.all_wrong.estimate) else profile


def _find_criterion(evaluation: Evaluation, first: dict[str, Any]) -> dict[str, Any]:
    """What the models are chosen by: the first metric, or that of the chosen thresholds."""
    thresholds, choice = evaluation.asked.thresholds, evaluation.decision
    if thresholds is None:
        return {**first, "note": evaluation.settings.get("lead", {}).get("reason", "")}
    if choice is None:
        return {**first, "rows": []}
    picks = {pick.model: pick for pick in thresholds.picks}
    pick = picks[choice.pick]
    demands = [
        f"{at.metric} {format_value(at.estimate, at.low, at.high)}; {choice.goal} holds with "
        f"probability {format_percent(pick.p_demand)}."
        for at in pick.metrics[1:]
    ]
    rows = [
        {k: _drop_undefined(v) for k, v in vars(picks[each.model].metrics[0]).items()}
        | {"model": each.model, "p_best": _drop_undefined(each.p_best)}
        for each in choice.contenders
    ]
    better = _describe_direction(thresholds.metric)
    return {"name": choice.metric, "better": better, "rows": rows, "note": " ".join(demands)}


def _describe_direction(metric: Metric) -> str:
    named = {True: "higher is better", False: "lower is better", None: ""}
    return named[metric.greater_is_better]


def _tell_origin(settings: dict[str, Any], date: datetime) -> dict[str, Any]:
    """When and with what the report was made, and from which input where that is known."""
    return {
        "date": date.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": settings.get("versions", {}).get("ssme", "-"),
        "seconds": settings.get("seconds", "-"),
        "seed": settings.get("random_state"),
        "input_sha256": settings.get("file_sha256"),
    }


def _summarize_metric(
    evaluation: Evaluation, metric: Metric, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """One metric on all rows: what it is, and each model's numbers, best first."""
    mine = {r["model"]: r for r in rows if (r["metric"], r["group"]) == (metric.name, ALL)}
    if metric.greater_is_better is None:
        order: list[Any] = [(model, None) for model in evaluation.data.models]
    else:
        found = evaluation.ranking(metric.name).rows
        order = [(rank.model, _drop_undefined(rank.p_best)) for rank in found]
    return {
        "name": metric.name,
        "title": metric.title,
        "definition": metric.definition[:1].upper() + metric.definition[1:],
        "better": _describe_direction(metric),
        "rows": [{**mine[model], "p_best": p_best} for model, p_best in order],
    }


def _write_headline(
    evaluation: Evaluation, metric: dict[str, Any], doubts: list[dict[str, Any]]
) -> dict[str, Any]:
    """The five answers, for what the models are chosen by."""
    rows, thresholds = metric["rows"], evaluation.asked.thresholds
    worries = {"question": "What should worry me?", **_say_worries(doubts)}
    if not rows and thresholds is not None:
        none = {"answer": "None", "detail": thresholds.sentence()}
        return {"answers": [{"question": "Which classifier?", **none}, worries]}
    best = next((row for row in rows if row["estimate"] is not None), rows[0])
    return {
        "answers": [
            {"question": "Which classifier?", **_choose_model(evaluation, metric, best)},
            {"question": "How good?", **_say_how_good(evaluation, metric, best)},
            {"question": "How sure?", **_say_how_sure(evaluation, metric, best)},
            {"question": "Compared with labels alone?", **_compare_with_labels(evaluation, best)},
            worries,
        ],
    }


def _choose_model(
    evaluation: Evaluation, metric: dict[str, Any], best: dict[str, Any]
) -> dict[str, Any]:
    if best["estimate"] is None:
        return {
            "answer": "None can be named",
            "detail": f"{metric['name']} is undefined for every model on these rows.",
        }
    choice = evaluation.decision
    where = "" if choice is None else choice.describe_threshold()
    if len(metric["rows"]) == 1:
        use = f" Use it{where}." if where else ""
        return {"name": best["model"], "detail": f"It is the only one that was evaluated.{use}"}
    ahead = f"It has the best estimate of {metric['name']}{where}."
    if choice is None or not choice.p_best >= 0.0:
        return {"name": best["model"], "detail": ahead}
    others = [name for name in choice.possible_best if name != choice.pick]
    if not others:
        return {"name": choice.pick, "detail": f"It is clearly ahead in {metric['name']}{where}."}
    named = [*others[:3], *([f"{len(others) - 3} more"] if len(others) > 3 else [])]
    listed = " or ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
    return {"name": choice.pick, "detail": f"{ahead} The best one may also be {listed}."}


def _say_how_good(
    evaluation: Evaluation, metric: dict[str, Any], best: dict[str, Any]
) -> dict[str, Any]:
    detail = f"{metric['name']}, {metric['better']}" if metric["better"] else metric["name"]
    if best["low"] is not None:
        detail += (
            f"; {evaluation.level * 100:g} % interval {format_span(best['low'], best['high'])}"
        )
    detail += f". {metric['note']}" if metric["note"] else "."
    return {"answer": format_number(best["estimate"]), "detail": detail}


def _say_how_sure(
    evaluation: Evaluation, metric: dict[str, Any], best: dict[str, Any]
) -> dict[str, Any]:
    others = [row for row in metric["rows"] if row is not best and row["estimate"] is not None]
    if not others or best["p_best"] is None or not metric["better"]:
        if best["low"] is None:
            return {"answer": "-", "detail": "The method gives no interval for it."}
        half = (best["high"] - best["low"]) / 2.0
        return {"answer": f"± {half:.3f}", "detail": "This is half the width of the interval."}
    choice = evaluation.decision
    if choice is None:
        return {"answer": "-", "detail": "The method gives no probability."}
    out = len(choice.contenders) - len(choice.possible_best)
    raw = "" if choice.calibrated else " (not calibrated)"
    return {
        "answer": format_percent(choice.p_best),
        "detail": (
            f"Probability that {choice.pick} is the best of {len(choice.contenders)} models{raw}. "
            f"{out or 'None'} of them can be ruled out with {100 * choice.set_level:g} % "
            f"probability. The expected loss from taking it instead of the best one is "
            f"{choice.regret:.3f} ({format_span(choice.regret_low, choice.regret_high)})."
        ),
    }


def _compare_with_labels(evaluation: Evaluation, best: dict[str, Any]) -> dict[str, Any]:
    alone, count = best["labels_only"], evaluation.groups[0].n_labeled
    if alone is None:
        return {"answer": "-", "detail": f"The {count:,} labels alone do not determine it."}
    detail = f"This is what the {count:,} labels alone say about it"
    low, high = best["labels_only_low"], best["labels_only_high"]
    if low is not None:
        detail += f" ({format_span(low, high)})"
    if low is not None and best["low"] is not None and best["high"] > best["low"]:
        ratio = (high - low) / (best["high"] - best["low"])
        wider = f"{ratio:.1f} times as wide" if ratio >= 1.05 else "not wider"
        detail += f"; that interval is {wider}"
    worth = count_effective_labels(evaluation)
    if evaluation.asked.thresholds is None and worth >= count + 0.5:
        detail += f". With the unlabeled rows, they tell as much as {worth:,.0f} labels alone"
    return {"answer": format_number(alone), "detail": detail + "."}


def _describe_calibration(evaluation: Evaluation) -> str:
    """Say what P(best) is and by which metrics it is not calibrated; empty for one model."""
    ranked = [
        metric
        for metric, estimate in zip(evaluation.metrics, evaluation.estimates[0], strict=True)
        if metric.greater_is_better is not None and estimate.draws is not None
    ]
    raw = [each.name for each in ranked if not evaluation.find_record(each).knows("best")]
    if not ranked or evaluation.data.n_models < 2:
        return ""
    said = "P(best) is the probability that a model is the best one"
    if not raw:
        return f"{said}, calibrated on benchmark sets."
    where = f" for {', '.join(raw)}" if len(raw) < len(ranked) else ""
    return f"{said}. It is not calibrated{where}: no benchmark measured it with this method."


def _say_worries(doubts: list[dict[str, Any]]) -> dict[str, Any]:
    """The worst doubts by their own name: a serious one is not a warning."""
    if not doubts:
        detail = "No check found a reason for doubt. The assumptions are listed under Method."
        return {"answer": "Nothing found", "detail": detail}
    worst = next(severity for severity in SEVERITIES if severity in {d["severity"] for d in doubts})
    first = [doubt for doubt in doubts if doubt["severity"] == worst]
    others = len(doubts) - 1
    more = f" There {'is' if others == 1 else 'are'} {others} more below." if others else ""
    return {
        "answer": f"{len(first)} {DOUBT_NAMES[worst]}{'s' if len(first) > 1 else ''}",
        "detail": f"{first[0]['title']}.{more}",
        "severity": worst,
    }


def _describe_method(evaluation: Evaluation) -> dict[str, str]:
    judged = isinstance(evaluation.belief, AnswersBelief)
    try:
        spec = find_method_class("answers" if judged else evaluation.method).spec
    except InputError:
        spec = MethodSpec(evaluation.method, title=evaluation.method, source="")
    return {**{key: getattr(spec, key) for key in SHOWN_OF_METHODS}, "name": evaluation.method}


def _say_how_to_rerun(settings: dict[str, Any], asked: Mapping[str, Any]) -> dict[str, str]:
    """The run as a config file and as Python, or why no file can hold it."""
    if not settings.get("config"):
        return {"toml": "", "python": "", "cannot": settings.get("no_config", ""), "more": ""}
    spec = RunSpec.from_dict(settings["config"])
    words = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    python = spec.to_python() + (f".ask({words})" if words else "")
    more = f"The file does not contain what else was asked: {words}." if words else ""
    return {"toml": spec.to_text(".toml"), "python": python, "cannot": "", "more": more}


def _describe_group(group: Group) -> dict[str, Any]:
    return {"name": group.name, "labeled": group.n_labeled, "unlabeled": group.n_unlabeled}


def _is_brief(value: Any) -> bool:
    return len(json.dumps(value)) <= 200
