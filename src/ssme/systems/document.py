"""The document of an evaluation of systems, which every output draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ssme.show.document import SEVERITY_NAMES, Document, Headline
from ssme.show.sections import Column, Section, format_number, format_percent, format_span
from ssme.systems.checks import SystemWarning
from ssme.systems.evaluation import ALL, SystemsEvaluation
from ssme.systems.pairs import STRENGTH, WIN_RATE

PLAINLY_BEST = 0.95
"""Probability from which one system is called the best."""
SHOWN_DISAGREEMENTS = 100
"""Disagreements in a report; JSON has all."""
SHOWN_PAIRS = 45
"""Differences up to which all are shown; of more, those with the best system alone."""


def build_systems_document(
    evaluation: SystemsEvaluation, *, limit: int | None = None, report: bool = True
) -> Document:
    """The answers, then rates, differences, groups and the gate.

    With a ``limit``, tables have no more rows. Without ``report`` there are no pictures.
    """
    measure = evaluation.measures[0]
    rows = [row for row in evaluation.rows() if row["group"] == ALL]
    parts = []
    for name in evaluation.measures:
        own = sorted((r for r in rows if r["measure"] == name), key=lambda r: -r["estimate"])
        parts.append(_make_rates(evaluation, name, own, limit, report))
    sections = [Section("estimates", "Rates", _explain_rates(evaluation), parts=tuple(parts))]
    if len(evaluation.systems) > 1:
        sections.append(_make_differences(evaluation, measure, limit))
    for column in evaluation.table.groups:
        own = [row for row in evaluation.rows(measure) if row["group"].startswith(f"{column}=")]
        own.sort(key=lambda row: (row["group"], -row["estimate"]))
        sections.append(_make_group(evaluation, column, own, limit))
    if evaluation.warnings:
        sections.append(_list_warnings(evaluation.warnings))
    sections += _list_judges(evaluation, limit)
    if evaluation.options.fail_under or evaluation.options.fail_on:
        sections += evaluation.gate().list_sections()
    table = evaluation.table
    judges = ", ".join(table.judges)
    head = (
        f"{len(table.systems):,} systems, {len(table.items):,} items, "
        f"{table.rows.outcomes.size:,} rows; {table.rows.labeled.size:,} have a human label. "
        f"Judges: {judges}.",
    )
    first = [row for row in rows if row["measure"] == measure]
    return Document(
        "How good are these systems?", head, _answer(evaluation, first), tuple(sections)
    )


def _answer(evaluation: SystemsEvaluation, rows: Sequence[dict[str, Any]]) -> tuple[Headline, ...]:
    best = max(rows, key=lambda row: row["estimate"])
    span = format_span(best["low"], best["high"])
    name = evaluation.measures[0].replace("_", " ")
    level = f"{evaluation.level * 100:g}%"
    found = [
        Headline(
            "Which system?",
            best["system"],
            f"its {name} is {format_number(best['estimate'])} ({level} interval {span}); the "
            f"judges say {format_number(best['judges'])}",
        )
    ]
    if len(rows) > 1:
        second = sorted(rows, key=lambda row: -row["estimate"])[1]
        sure = best["p_best"] >= PLAINLY_BEST
        found.append(
            Headline(
                "How sure?",
                format_percent(best["p_best"]),
                f"the probability that {best['system']} is the best"
                + ("" if sure else f"; {second['system']} may be as good"),
            )
        )
    for worst in evaluation.warnings[:1]:
        more = len(evaluation.warnings) - 1
        told = f"{worst.reason} {worst.advice}" + (f" {more} more below." if more else "")
        found.append(Headline("Most serious warning", worst.title, told, worst.severity))
    return tuple(found)


def _explain_rates(evaluation: SystemsEvaluation) -> tuple[str, ...]:
    level = f"{evaluation.level * 100:g}%"
    about: tuple[str, ...] = ()
    if evaluation.table.rows.seconds is not None:
        about = (
            f"{WIN_RATE} is the mean probability that a system is preferred to another one, a tie "
            f"counting half, and {STRENGTH} its strength in log-odds, zero on average. Both are "
            "corrected for how often the first answer is preferred, where each system was shown "
            "first and second.",
        )
    return (
        *about,
        '"judges" is what the judges say, "estimate" what people would say of all rows of items '
        f"like these, with its {level} interval. It assumes that the rows which people judged were "
        'chosen at random. "labels only" is the mean of the labels, "effective" the labels that an '
        "interval as narrow would take without judges.",
    )


def _make_rates(
    evaluation: SystemsEvaluation,
    measure: str,
    rows: Sequence[dict[str, Any]],
    limit: int | None,
    report: bool,
) -> Section:
    charts: tuple[Any, ...] = ()
    if report:
        from ssme.show.plots import draw_rows

        named = [{**row, "model": row["system"], "metric": measure} for row in rows]
        charts = (partial(draw_rows, named, measure, measure, evaluation.level),)
    more = f"{len(rows) - limit} more systems" if limit is not None and len(rows) > limit else ""
    return Section(
        f"rates-{measure}",
        measure,
        table=_list_columns(evaluation, rows[:limit]),
        more=more,
        charts=charts,
    )


def _list_columns(
    evaluation: SystemsEvaluation, rows: Sequence[dict[str, Any]]
) -> tuple[Column, ...]:
    def take(*keys: str) -> list[Any]:
        return [row[keys[0]] if len(keys) == 1 else tuple(row[k] for k in keys) for row in rows]

    return (
        Column("system", take("system")),
        Column("judges", take("judges"), "number"),
        Column("estimate", take("estimate"), "number"),
        Column(f"{evaluation.level * 100:g}% interval", take("low", "high"), "span"),
        Column("labels only", take("labels_only"), "number"),
        Column(
            f"{evaluation.level * 100:g}% interval",
            take("labels_only_low", "labels_only_high"),
            "span",
            spare=True,
            ends=("labels only low", "labels only high"),
        ),
        Column("labels", take("n_labels"), "count", spare=True),
        Column("effective", take("effective_labels"), "count", spare=True),
        Column("P(best)", take("p_best"), "share", spare=True),
    )


def _make_differences(evaluation: SystemsEvaluation, measure: str, limit: int | None) -> Section:
    rows = evaluation.differences(measure)
    about: tuple[str, ...] = (
        "Each difference is that of the two systems on the same items. The last interval contains "
        f"all differences at once {evaluation.level * 100:g}% of the time.",
    )
    if len(rows) > SHOWN_PAIRS:
        own = [row for row in evaluation.rows(measure) if row["group"] == ALL]
        best = max(own, key=lambda row: row["estimate"])["system"]
        rows = [row for row in rows if best in (row["first"], row["second"])]
        about = (*about, f"The table has the differences with {best} alone.")
    shown = rows[:limit]
    more = f"{len(rows) - limit} more pairs" if limit is not None and len(rows) > limit else ""
    table = (
        Column("first", [row["first"] for row in shown]),
        Column("second", [row["second"] for row in shown]),
        Column("difference", [row["difference"] for row in shown], "number"),
        Column(
            f"{evaluation.level * 100:g}% interval",
            [(row["low"], row["high"]) for row in shown],
            "span",
        ),
        Column(
            "of all at once",
            [(row["low_all"], row["high_all"]) for row in shown],
            "span",
            spare=True,
            ends=("all low", "all high"),
        ),
        Column("P(first better)", [row["p_first"] for row in shown], "share"),
    )
    return Section("differences", "Differences of systems", about, table, more)


def _make_group(
    evaluation: SystemsEvaluation,
    column: str,
    rows: Sequence[dict[str, Any]],
    limit: int | None,
) -> Section:
    shown = rows[:limit]
    groups = Column("group", [row["group"].removeprefix(f"{column}=") for row in shown])
    more = f"{len(rows) - limit} more rows" if limit is not None and len(rows) > limit else ""
    return Section(
        f"group-{column}",
        f"{evaluation.measures[0]} by {column}",
        table=(groups, *_list_columns(evaluation, shown)),
        more=more,
    )


def _list_warnings(warnings: Sequence[SystemWarning]) -> Section:
    parts = [
        Section(
            f"warning-{number}",
            each.title,
            (f"{SEVERITY_NAMES[each.severity].capitalize()}. {each.reason}", each.advice),
            severity=each.severity,
        )
        for number, each in enumerate(warnings, start=1)
    ]
    return Section("warnings", "Warnings", parts=tuple(parts))


def _list_biases(evaluation: SystemsEvaluation) -> list[Section]:
    rows = [row for row in evaluation.biases() if row["bias"] == row["bias"]]
    if not rows:
        return []
    about = (
        "How much higher a judge's verdict is than people's, for an answer twice as long and for "
        "the system with its name, in comparison with answers of which people say the same.",
    )
    cells = [(row["bias"], row["bias_low"], row["bias_high"]) for row in rows]
    columns = (
        Column("judge", [row["judge"] for row in rows]),
        Column("bias by", [row["kind"] for row in rows]),
        Column("bias", cells, "value"),
        Column("labels", [row["n_labels"] for row in rows], "count", spare=True),
    )
    return [Section("biases", "Biases of judges", about, columns)]


def _list_costs(evaluation: SystemsEvaluation) -> list[Section]:
    rows = evaluation.judges_by_cost()
    if not rows:
        return []
    budget = evaluation.options.budget
    told = "as few as make intervals at most 5% wider"
    if budget is not None:
        told = f"those with the narrowest intervals for at most {budget:g}"
        if not any(row["chosen"] for row in rows):
            told = f"none cost at most {budget:g}"
    about = (f"The verdicts of these judges on all rows, from all judges to one. Keep: {told}.",)
    columns = (
        Column("judges", [", ".join(row["judges"]) for row in rows]),
        Column("cost", [row["cost"] for row in rows], "number"),
        Column("mean width", [row["width"] for row in rows], "number"),
        Column("keep", ["yes" if row["chosen"] else "" for row in rows]),
    )
    return [Section("costs", "Which judges to keep", about, columns)]


def _list_records(evaluation: SystemsEvaluation) -> list[Section]:
    rows = evaluation.records()
    if not rows:
        return []
    about = (f"Compared with the last record of each judge in {evaluation.options.record}.",)
    columns = (
        Column("judge", [row["judge"] for row in rows]),
        Column("record", [row["status"] for row in rows]),
    )
    return [Section("records", "Calibration records", about, columns)]


def _list_judges(evaluation: SystemsEvaluation, limit: int | None) -> list[Section]:
    """How far judges can be trusted, and the rows that a person should look at again."""
    rows = evaluation.judges()
    number = evaluation.n_effective_judges
    about = ["From the rows that people judged too. Bias is the judge's mean minus theirs."]
    if len(rows) > 1 and number == number:
        about.append(f"The effective number of judges with independent errors is {number:.1f}.")
    binary = evaluation.table.rows.binary
    paired = evaluation.table.rows.seconds is not None
    names = ["accuracy", "kappa", "sensitivity", "specificity"] if binary else ["correlation"]
    if paired:
        names = ["accuracy", "kappa", "position"]
        about.append(
            '"position" is the probability that the judge prefers the first of two answers as good.'
        )
    shown = rows[:limit]
    columns = [Column("judge", [row["judge"] for row in shown])]
    for name in names:
        cells = [(row[name], row[f"{name}_low"], row[f"{name}_high"]) for row in shown]
        spare = name in ("sensitivity", "specificity")
        columns.append(Column(name, cells, "value", spare=spare))
    columns.append(Column("bias", [row["bias"] for row in shown], "number"))
    columns.append(Column("labels", [row["n_labels"] for row in shown], "count", spare=True))
    found = [Section("judges", "Judges", tuple(about), tuple(columns))]
    found += [*_list_biases(evaluation), *_list_costs(evaluation), *_list_records(evaluation)]
    pairs = evaluation.people()
    if pairs:
        name = "agreement" if binary or paired else "correlation"
        error = evaluation.label_error
        told = "Estimates take people to be right."
        if error is not None:
            told = f"Estimates allow for {error * 100:.1f}% wrong labels; numbers of judges do not."
        cells = [(row[name], row[f"{name}_low"], row[f"{name}_high"]) for row in pairs]
        columns = [
            Column("first", [row["first"] for row in pairs]),
            Column("second", [row["second"] for row in pairs]),
            Column("rows", [row["n_rows"] for row in pairs], "count"),
            Column(name, cells, "value"),
        ]
        found.append(Section("people", "Agreement of people", (told,), tuple(columns)))
    differ = evaluation.disagreements() if evaluation.has_disagreements else []
    if differ:
        first = differ[: limit or SHOWN_DISAGREEMENTS]
        said = ("second", "first") if paired else ("fail", "pass")
        more = f"{len(differ) - len(first)} more disagreements" if len(differ) > len(first) else ""
        found.append(
            Section(
                "disagreements",
                "Where judges and people differ",
                ("The most probable errors of judges come first, those of labels last.",),
                (
                    Column("first" if paired else "system", [row["system"] for row in first]),
                    *([Column("second", [row["second"] for row in first])] if paired else ()),
                    Column("item", [row["item"] for row in first]),
                    Column("judge", [row["judge"] for row in first]),
                    Column("human", [said[row["human"] > 0.5] for row in first]),
                    Column("P(judge errs)", [row["p_judge_wrong"] for row in first], "share"),
                ),
                more,
            )
        )
    return found
