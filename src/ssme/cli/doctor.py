"""``ssme doctor``: what is in a file, how it was understood, what can be estimated from it.

A file that the reader refuses is read again with what the error advises, until it can be read or
an error advises nothing that can be tried. All errors are shown, and the command that reads the
file so. A column that is not a model is left out; what else it may be, its error says. Of a file
that cannot be read in any of these ways the columns are shown.
"""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssme.cli.options import READING, TABLES, list_flags, spell_with
from ssme.cli.output import Output
from ssme.cli.program import BAD_INPUT, register_command
from ssme.cli.run import list_advised, list_inputs, open_scores_table, open_unused, read_scores
from ssme.errors import InputError, spell_options
from ssme.options import list_declared
from ssme.schema import FILE_OPTIONS, FORMATS, ReadOptions
from ssme.wording import find_pattern, quote, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssme.data.readers.tables import Table
    from ssme.data.scoreset import ScoreSet
    from ssme.spec import RunSpec


MOST_CURES = 10
"""Options that are tried one after another to open a file."""
NUMBER = re.compile(r"-?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
NAME = 24
"""Characters of a name in a list."""
GROUP_VALUES = 20
"""Most values of a column that is suggested as groups."""
READ = {each.name for each in list_declared(ReadOptions)}
"""Options that say how a file is read."""


@register_command("Evaluate", READING, writes=TABLES)
def doctor(spec: RunSpec, output: Output) -> None:
    """Show what is in a file and what can be estimated from it.

    It shows how the layout, labels and models were understood, every problem at once, which methods
    and metrics can be used, and the command to run.

    Examples:

    [cyan]ssme doctor scores.csv[/cyan]
    [cyan]ssme doctor answers.jsonl --label human[/cyan]
    [cyan]ssme doctor old.csv new.csv[/cyan]
    """
    from rich.text import Text

    from ssme.diagnostics import Case, check_all
    from ssme.show.document import make_warnings_section

    output.refuse_inputs(list_inputs(spec))
    source, data, table = spec.source, None, None
    advice: list[str] = []
    if isinstance(source, str) and Path(source).is_dir():
        from ssme.stream.files import find_files

        if files := find_files([source]):
            advice = [f"Only {files[0].path} was read; {source} has {len(files):,} files."]
            spec = replace(spec, source=files[0].path)
    with output.show_progress("reading"):
        spec, problems, has_header = _open_in_spite(spec)
        if has_header:
            spec, data, more = _read_in_spite(spec)
            spec, data = _find_labels(spec, data)
            problems += more
        warnings = [] if data is None else check_all(Case(data))
        with suppress(InputError):
            table = _flatten(open_scores_table(spec) if data is None else open_unused(spec, data))
    facts: dict[str, Any] = {
        "file": spec.source,
        "problems": [str(problem) for problem in problems],
        "looks_wrong": [asdict(warning) for warning in warnings],
    }
    if data is None:
        facts["columns"] = _describe_columns(table)
        advice.append("Nothing can be estimated before the last problem is solved.")
    else:
        facts |= _find_facts(data)
        facts["understood"] = {**_describe_format(spec), **facts["understood"]}
        advice += [*_advise(data), *_tell_left_out(table, data)]
    facts |= {
        "advice": advice,
        "command": _write_command(replace(spec, source=source), data),
    }
    output.save(facts, facts["looks_wrong"])
    if problems:
        assumed = "" if data is None else ", each with what was assumed below"
        output.console.print(Text(f"Problems{assumed}", style="bold red"))
        flags = spell_with(list_flags(READING))
        output.say(*(f"{n}. {each.spell(flags)}" for n, each in enumerate(problems, 1)), "")
    if data is None:
        columns = [
            (
                shorten(line["column"], 30),
                f"{line['distinct']:,}",
                f"{line['missing']:,}",
                ", ".join(shorten(value, 20) for value in line["first"]),
            )
            for line in facts["columns"]
        ]
        if columns:
            output.list(("", "distinct", "missing", "first values"), columns, "Columns")
    else:
        for title, lines in _list_contents(facts):
            output.list(("", ""), lines, title)
            output.say("")
    output.say(*(f"\n{shorten(sentence, 400)}" for sentence in advice))
    if data is not None:
        output.show(make_warnings_section(warnings))
        output.console.print(Text("\nTo run", style="bold"))
        output.console.print(Text(facts["command"]), soft_wrap=True)
    else:
        raise typer.Exit(BAD_INPUT)


def _find_facts(data: ScoreSet) -> dict[str, Any]:
    """What is in a file that was read, and what can be estimated from it."""
    from ssme.methods.registry import list_supported

    can, cannot = list_supported(data)
    gaps = (data.scores[:, :, 0] != data.scores[:, :, 0]).sum(axis=0)
    return {
        "understood": data.layout.describe() if data.layout is not None else {},
        "rows": data.n_rows,
        "labeled": data.n_labeled,
        "labels": {str(c): int((data.labels == k).sum()) for k, c in enumerate(data.classes)},
        "models": list(data.models),
        "missing_scores": {m: int(n) for m, n in zip(data.models, gaps, strict=True) if n},
        "judges": {name: judge.kind for name, judge in data.judges.items()},
        "methods": can,
        "methods_not": cannot,
        "metrics": _list_metrics(data),
    }


def _open_in_spite(spec: RunSpec) -> tuple[RunSpec, list[InputError], bool]:
    """The spec that opens the table, what was wrong before, and whether the table has a header.

    Arrays and several files are left as they are, and so is what another option may cure.
    """
    problems: list[InputError] = []
    while True:
        table = None
        try:
            if (table := open_scores_table(spec)) is None:
                return spec, problems, True
            error = _doubt_header(table, spec.read.get("skip_rows") or 0)
            if error is None:
                return spec, problems, True
        except InputError as refused:
            error = refused
        change = _find_cure(error, spec.read) or {}
        if table is not None:
            problems.append(error)
        if not change.keys() & FILE_OPTIONS.keys() or len(problems) > MOST_CURES:
            return spec, problems, table is None
        if table is None:
            problems.append(error)
        spec = replace(spec, read={**spec.read, **change})


def _flatten(table: Table | None) -> Table | None:
    """The table with lists and objects in its cells as text."""
    from ssme.data.values import to_objects

    if table is None:
        return None
    nested = [name for name in table.columns if table.is_nested(name)]
    texts = {name: to_objects([*map(str, table.read_values(name))]) for name in nested}
    return table.assign(texts, dropped=nested) if nested else table


def _describe_format(spec: RunSpec) -> dict[str, str]:
    """Title -> the format of a file, and the options that say how it is written."""
    if not isinstance(spec.source, str):
        return {}
    from ssme.data.readers.sources import find_suffix

    suffix = find_suffix(Path(spec.source))
    words = [FORMATS[f".{spec.read['format']}" if "format" in spec.read else suffix]]
    for each in list_declared(ReadOptions):
        if each.files and each.name != "format" and each.name in spec.read:
            value = "" if each.shape == "flag" else f" {spec.read[each.name]!r}"
            words.append(f"{each.title.lower()}{value}")
    return {"format": ", ".join(words)}


def _doubt_header(table: Table, skipped: int) -> InputError | None:
    """An error if the first row is not a header: most of its cells are numbers, or empty.

    Whole numbers alone name columns if they count them, as pandas writes a frame without names.
    """
    from ssme.data.readers.csv_files import explain_no_header
    from ssme.data.readers.sources import find_suffix

    named = [name.strip() for name in table.columns if not name.startswith("Unnamed: ")]
    file = table.what
    numbers = [name for name in named if NUMBER.fullmatch(name)]
    counted = (
        [str(int(numbers[0]) + n) for n in range(len(named))]
        if numbers and numbers[0].isdecimal()
        else []
    )
    data = numbers == named != counted or any({".", ","} & {*name} for name in numbers)
    if numbers and data and 2 * len(numbers) >= len(named):
        return explain_no_header(file)
    if 2 * len(named) < len(table.columns):
        problem = f"the first row of {file} names {len(named)} of {len(table.columns)} columns"
        hint = "remove the rows above the header"
        if find_suffix(Path(str(file))) in FILE_OPTIONS["skip_rows"]:
            hint = f"if the header is further down, pass `skip_rows={skipped + 1}`"
        return InputError(problem, hint=hint)
    return None


def _describe_columns(table: Table | None) -> list[dict[str, Any]]:
    """Name, distinct and missing values and the first values of each column."""
    from ssme.data.values import is_missing

    found: list[dict[str, Any]] = []
    if table is None:
        return found
    for name in table.columns:
        values = table.read_values(name)
        missing = is_missing(values)
        known = list(dict.fromkeys(map(str, values[~missing])))
        line = {"column": name, "distinct": len(known), "missing": int(missing.sum())}
        found.append({**line, "first": known[:4]})
    return found


def _list_contents(facts: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Tables of what is in a file that was read: title and lines."""
    understood = facts["understood"].items()
    yield "How the file was understood", [(title, shorten(text, 400)) for title, text in understood]
    counts = [f"{shorten(name, NAME)}: {count}" for name, count in facts["labels"].items()]
    models = _list_some([shorten(model, NAME) for model in facts["models"]], 20)
    lines = [
        ("rows", f"{facts['rows']:,}, {facts['labeled']:,} labeled"),
        ("labels per class", _list_some(counts, 20)),
        ("models", f"{len(facts['models'])}: {models}"),
    ]
    if facts["missing_scores"]:
        gaps = [f"{shorten(name, NAME)}: {n:,}" for name, n in facts["missing_scores"].items()]
        given = "answers" if len(facts["judges"]) == len(facts["models"]) else "scores"
        lines.append((f"missing {given}", _list_some(gaps, 20)))
    yield "What is in it", lines
    reasons: dict[str, list[str]] = {}
    for name, reason in facts["methods_not"].items():
        reasons.setdefault(reason.removeprefix(f"method {name!r} "), []).append(name)
    yield (
        "What can be estimated",
        [
            ("metrics", ", ".join(facts["metrics"])),
            ("methods", ", ".join(facts["methods"]) or "none"),
            *(("other methods", f"{', '.join(of)}: {reason}") for reason, of in reasons.items()),
        ],
    )


def _read_in_spite(spec: RunSpec) -> tuple[RunSpec, ScoreSet | None, list[InputError]]:
    """The scores, the spec that reads them, and what was wrong with the one that was given.

    Columns that are not probabilities are left out; if no model is left, they are logits or grades.
    """
    from ssme.data.readers.columns import RATINGS

    found, data, steps = _read_with_cures(spec)
    errors = [error for _, error in steps]
    for number, (before, error) in enumerate(steps if data is None else ()):
        if "for percent" in (error.hint or ""):
            continue
        advised = list_advised(error)
        for name in ("logits", "ratings", "answers"):
            if name not in advised or name in before.read:
                continue
            value = advised[name]
            if name == "ratings":
                value = [each for each in value if each.lower() in RATINGS] or value
            again, data, more = _read_with_cures(
                replace(before, read={**before.read, name: value}), spec.read
            )
            errors = [error for _, error in (*steps[: number + 1], *more)]
            if data is not None:
                return again, data, errors
    if data is None:
        label = found.read.get("label")
        found = spec if label is None else replace(spec, read={**spec.read, "label": label})
    return found, data, errors


def _find_labels(spec: RunSpec, data: ScoreSet | None) -> tuple[RunSpec, ScoreSet | None]:
    """With the labels in the only left-out column whose values are the classes of the scores."""
    from ssme.data.labels import spell_class
    from ssme.data.values import is_missing

    searched = data is not None and data.n_labeled == 0 and spec.read.get("labels_file") is False
    if not searched or data is None or data.layout is None:
        return spec, data
    table = _flatten(open_unused(spec, data))
    if table is None:
        return spec, data
    classes, found = {spell_class(each) for each in data.classes}, []
    for name in [each for each in data.layout.ignored if each in table.columns]:
        values = table.read_values(name)
        known = {spell_class(each) for each in values[~is_missing(values)]}
        found += [name] if len(known) > 1 and known <= classes else []
    if len(found) != 1:
        return spec, data
    read = {name: value for name, value in spec.read.items() if name != "labels_file"}
    spec = replace(spec, read={**read, "label": found[0]})
    return spec, read_scores(spec)


def _read_with_cures(
    spec: RunSpec, given: Mapping[str, Any] | None = None
) -> tuple[RunSpec, ScoreSet | None, list[tuple[RunSpec, InputError]]]:
    """As `_read_in_spite`, with the first cure of each error; each with the spec it refused."""
    steps: list[tuple[RunSpec, InputError]] = []
    given = spec.read if given is None else given
    while True:
        try:
            data = read_scores(spec)
            assumed = "positive" in spec.read and "positive" not in given
            if assumed and data.n_classes == 2 and _is_reversed(data):
                spec = replace(spec, read={**spec.read, "positive": data.classes[0]})
                data = read_scores(spec)
            return spec, data, steps
        except InputError as error:
            steps.append((spec, error))
            change = _find_cure(error, spec.read)
            if change is None:
                return spec, None, steps
            spec = replace(spec, read={**spec.read, **change})


def _is_reversed(data: ScoreSet) -> bool:
    """Whether most models score the labeled rows of the positive class below the other ones."""
    import numpy as np

    means = [np.nanmean(data.scores[data.labels == k, :, 1], axis=0) for k in (0, 1)]
    return bool(np.nanmedian(means[1] - means[0]) < 0.0)


def _find_cure(error: InputError, read: Mapping[str, Any]) -> dict[str, Any] | None:
    """The option that the error advises and that has not been tried; to leave a column out first.

    An option that says how a file is written comes before all others, since nothing can be seen of
    the columns before.
    """
    advised = list_advised(error)
    for name in (*FILE_OPTIONS, "ignore", *advised):
        if name == "ignore" and name in advised:
            left_out = [*read.get("ignore", ()), *advised["ignore"]]
            if len(set(left_out)) == len(left_out):
                return {"ignore": left_out}
        elif name in advised and name in READ:
            further = name == "skip_rows" and advised[name] > read.get(name, 0)
            if further or name not in read:
                return {name: advised[name]}
    return None


def _write_command(spec: RunSpec, data: ScoreSet | None) -> str:
    """The command that evaluates the file as it was understood, roles of columns spelled out."""
    read, layout = dict(spec.read), data.layout if data is not None else None
    if layout is not None:
        found = {"label": layout.label, "id": layout.id, "weight": layout.weight}
        read = {**{name: column for name, column in found.items() if column is not None}, **read}
        if layout.groups:
            read.setdefault("groups", list(layout.groups))
        columns = {*(name for of in layout.columns.values() for name in of), *layout.ignored}
        roles = (layout.label, layout.id, layout.weight, layout.design)
        columns |= {*layout.groups, *filter(None, roles)}
        for name in ("answers", "models"):
            if name in read:
                read[name] = find_pattern(read[name], columns)
    flags = spell_with(list_flags(READING))
    if read.get("labels_file") is False:
        read["labels"] = read.pop("labels_file")
    words = [
        flags(name, repr(list(value) if isinstance(value, tuple) else value))
        for name, value in read.items()
        if value not in ([], ())
    ]
    files = [spec.source] if isinstance(spec.source, str) else list(spec.source or ())
    return " ".join(["ssme evaluate", shlex.join(files), *filter(None, words)])


def _advise(data: ScoreSet) -> list[str]:
    """What to do with models that look like judges and were not named as such."""
    known: Any = ~((data.scores > 0.0) & (data.scores < 1.0)).any(axis=(0, 2))
    hard = [m for m, each in zip(data.models, known, strict=True) if each and m not in data.judges]
    advice = []
    if hard:
        advice.append(
            f"{_list_some(hard, 20)}: every score is 0 or 1, so these look like answers, not "
            f"probabilities; name them with --answers {','.join(hard[:20])}."
        )
    if not data.ordered:
        advice.append(
            f"The positive class is not declared among {quote(data.classes)}: name it with "
            "--positive for metrics of the positive class."
            if data.n_classes == 2
            else f"The order of the classes {quote(data.classes)} is not declared: list them with "
            "--classes for metrics of ordered classes."
        )
    if data.judges and data.n_labeled == 0:
        advice.append("There are no labels, so judges are compared only by how often they agree.")
    from ssme.diagnostics.label_checks import list_contradicted_labels

    doubted = list_contradicted_labels(data)
    if doubted:
        told = ", ".join(f"{row['row']} ({row['label']}, not {row['models']})" for row in doubted)
        advice.append(
            f"Labels to look at again, since every model predicts another class: {told}. The label "
            "may be wrong, or all models."
        )
    return advice + _tell_unlabeled_classes(data)


def _tell_unlabeled_classes(data: ScoreSet) -> list[str]:
    """Sentences on classes that a few answers name and no label has: slips, perhaps."""
    import numpy as np

    said: list[str] = []
    counts = np.bincount(data.labels[data.labeled], minlength=data.n_classes)
    for k in np.flatnonzero(counts == 0) if data.n_labeled else ():
        judged = [m for m, name in enumerate(data.models) if name in data.judges]
        rows, places = np.nonzero(data.scores[:, judged, k] == 1.0)
        if data.n_classes > 2 and 0 < rows.size <= max(2, 0.001 * data.n_rows):
            judge = data.models[judged[places[0]]]
            said.append(
                f"No label and only {rows.size} of the answers name the class "
                f"{data.classes[k]!r}, first {judge!r} at row {rows[0]}: if it is a slip, correct "
                f"it, or say --unsure {data.classes[k]!r} if the judge is unsure then."
            )
    return said


def _tell_left_out(table: Table | None, data: ScoreSet) -> list[str]:
    """What columns of the file that were left out may be."""
    from ssme.data.labels import observe, spell_class
    from ssme.data.readers.wide import advise, find_answers
    from ssme.systems.reading import JUDGES, USUAL

    layout = data.layout
    if layout is None or table is None:
        return []
    labels = observe(list(data.classes), data.n_classes)
    left_out = [name for name in layout.ignored if name in table.columns]
    there = [name for name in left_out if name not in layout.skipped]
    said = []
    judges = [name for name in table.columns if fnmatchcase(name, JUDGES)]
    system = next((name for name in USUAL["system"] if name in table.columns), None)
    if judges and system:
        said.append(
            f"Column {system!r} may name systems whose answers {_list_some(judges, 5)} graded: "
            f"`ssme systems {table.what}` estimates the pass rate of each."
        )
    roles = _guess_roles(table, left_out)
    if roles["id"] and layout.id is None:
        said.append(f"Different in every row, so likely ids: {_list_some(roles['id'], 20)} (--id).")
    if groups := roles["groups"]:
        said.append(
            f"Possibly groups: {_list_some(groups, 20)} (--groups {','.join(groups[:20])})."
        )
    if clusters := roles["clusters"]:
        said.append(
            f"Values that repeat: {_list_some(clusters, 20)}. If rows with the same value belong "
            "together (a patient, a session), they are not independent: name the column with "
            "--cluster."
        )
    found = find_answers(table, there, labels)
    if data.n_labeled:  # without a class of the labels: groups
        spelled = {spell_class(name) for name in data.classes}
        answers = tuple(
            name
            for name in found.answers
            if spelled & {spell_class(value) for value in table.read_values(name)}
        )
        found = replace(found, answers=answers)
    advice = advise(found, table)
    if advice:
        flags = {name: f"--{name}" for name in ("answers", "ratings", "unsure", "classes")}
        said.append(spell_options(f"Left out: {advice}", spell_with(flags)))
    return said


def _guess_roles(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Likely ids, groups and clusters among columns that play no role, by their distinct values."""
    from ssme.data.values import is_missing

    roles: dict[str, list[str]] = {"id": [], "groups": [], "clusters": []}
    for name in names:
        values = table.read_values(name)
        known = values[~is_missing(values)]
        count = len({str(value) for value in known})
        number = table.find_kind(name) != "other"
        whole = not number or all(float(v).is_integer() for v in known)
        if count == len(values) and whole:
            roles["id"].append(name)
        elif 1 < count <= GROUP_VALUES:
            roles["groups"].append(name)
        elif number and count > GROUP_VALUES and ":" not in name:
            roles["groups"].append(f"{name}:quantiles=4")
        elif whole and GROUP_VALUES < count <= len(values) / 2:
            roles["clusters"].append(name)
    return roles


def _list_metrics(data: ScoreSet) -> list[str]:
    """Names of the metrics that can be estimated; of judges alone, none of probabilities."""
    from ssme.metrics import get_metric, metric_names

    judged = len(data.judges) == data.n_models
    metrics = map(get_metric, metric_names(data.n_classes))
    return [
        metric.name
        for metric in metrics
        if not (judged and metric.of_probabilities)
        and (data.ordered or not metric.needs_order(data.n_classes))
    ]


def _list_some(items: list[str], limit: int) -> str:
    return ", ".join(items[:limit]) + (
        f" and {len(items) - limit} more" if len(items) > limit else ""
    )
