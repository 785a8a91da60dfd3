"""``ssme doctor``: what is in a file, how it was understood, what can be estimated from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssme.cli.options import FileArgument, OutputOptions, ReadFlags, spell_with
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.cli.run import gather, list_inputs, read_scores
from ssme.errors import spell_options
from ssme.wording import quote
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.spec import RunSpec


@register_command("Evaluate")
def doctor(read: ReadFlags, out: OutputOptions, file: FileArgument = None) -> None:
    """Say what is in a file and what can be estimated from it.

    It tells how the layout, labels and models were understood, which methods and metrics can be
    used, and what looks wrong.

    Example:

    [cyan]ssme doctor scores.csv --label y[/cyan]
    """
    from rich.text import Text

    from ssme.diagnostics.registry import check_all
    from ssme.methods.registry import list_supported
    from ssme.show.document import make_doubts_section
    from ssme.show.terminal import NAME, make_table, print_section
    from ssme.wording import shorten

    output = Output(out)
    spec = gather(file, read)
    output.refuse_inputs(list_inputs(spec))
    with output.show_progress("reading"):
        data = read_scores(spec)
        doubts = check_all(data)
    understood = data.layout.describe() if data.layout is not None else {}
    can, cannot = list_supported(data)
    findings = [asdict(doubt) for doubt in doubts]
    labels, missing = _count_labels(data), _count_missing_scores(data)
    advice = [*_advise(data), *_tell_left_out(spec, data)]
    facts: dict[str, Any] = {
        "file": spec.source,
        "understood": understood,
        "rows": data.n_rows,
        "labeled": data.n_labeled,
        "labels": labels,
        "models": list(data.models),
        "missing_scores": missing,
        "judges": {name: judge.kind for name, judge in data.judges.items()},
        "advice": advice,
        "methods": can,
        "methods_not": cannot,
        "metrics": _list_metrics(data),
        "looks_wrong": findings,
    }
    output.write(out.json, format_json(facts))
    output.write(out.csv, format_csv(findings))
    console = output.console
    table = make_table("How the file was understood", "", "")
    for title, text in understood.items():
        table.add_row(Text(title), Text(shorten(text, 400)))
    console.print(table)
    console.print()
    table = make_table("What is in it", "", "")
    table.add_row("rows", f"{data.n_rows:,}, {data.n_labeled:,} labeled")
    counts = [f"{shorten(name, NAME)}: {count}" for name, count in labels.items()]
    table.add_row("labels per class", Text(_list_some(counts, 20)))
    table.add_row(
        "models",
        Text(f"{data.n_models}: {_list_some([shorten(m, NAME) for m in data.models], 20)}"),
    )
    if missing:
        gaps = [f"{shorten(name, NAME)}: {count:,}" for name, count in missing.items()]
        table.add_row("missing scores", Text(_list_some(gaps, 20)))
    console.print(table)
    console.print()
    table = make_table("What can be estimated", "", "")
    table.add_row("metrics", Text(", ".join(facts["metrics"])))
    table.add_row("methods", Text(", ".join(can) or "none"))
    for name, reason in cannot.items():
        table.add_row(f"not {name}", Text(reason))
    console.print(table)
    for sentence in advice:
        console.print(Text("\n" + shorten(sentence, 400)))
    print_section(console, make_doubts_section(doubts))


def _count_labels(data: ScoreSet) -> dict[str, int]:
    return {str(name): int((data.labels == k).sum()) for k, name in enumerate(data.classes)}


def _count_missing_scores(data: ScoreSet) -> dict[str, int]:
    gaps = (data.scores[:, :, 0] != data.scores[:, :, 0]).sum(axis=0)
    return {model: int(n) for model, n in zip(data.models, gaps, strict=True) if n}


def _advise(data: ScoreSet) -> list[str]:
    """What to do with models that look like judges and were not named as such."""
    hard = [
        name for name in data.models if name not in data.judges and _is_answers_only(data, name)
    ]
    advice = []
    if hard:
        advice.append(
            f"{_list_some(hard, 20)}: every score is 0 or 1, so these look like answers, not "
            f"probabilities; name them with --answers {','.join(hard[:20])}."
        )
    if not data.ordered:
        advice.append(
            f"Nothing says which of the classes {quote(data.classes)} is positive: name it with "
            "--positive for metrics of the positive class."
            if data.n_classes == 2
            else f"Nothing says the order of the classes {quote(data.classes)}: list them with "
            "--classes for metrics of ordered classes."
        )
    if data.judges and data.n_labeled == 0:
        advice.append("No row has a label: how good judges are is told by their agreement alone.")
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


def _tell_left_out(spec: RunSpec, data: ScoreSet) -> list[str]:
    """What columns of the file that were left out may be."""
    from ssme.data.labels import observe
    from ssme.data.readers.sources import find_local_path, find_reader, open_table
    from ssme.data.readers.tables import Table
    from ssme.data.readers.wide import advise, find_answers
    from ssme.schema import ReadOptions

    layout = data.layout
    if layout is None or layout.source is None or not layout.ignored:
        return []
    file = find_local_path(layout.source)
    if find_reader(file).kind == "arrays":
        return []
    frame = open_table(file, ReadOptions.of(spec.read, f"the reader of {file}"))
    table = Table(frame, layout.source)
    labels = observe(list(data.classes), data.n_classes)
    there = [n for n in layout.ignored if n in table.columns and n not in layout.skipped]
    advice = advise(find_answers(table, there, labels))
    flags = {name: f"--{name}" for name in ("answers", "ratings", "unsure", "classes")}
    return [spell_options(f"Left out: {advice}", spell_with(flags))] if advice else []


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


def _is_answers_only(data: ScoreSet, name: str) -> bool:
    scores = data.scores[:, data.models.index(name)]
    known = scores[scores[:, 0] == scores[:, 0]]
    return bool(((known == 0.0) | (known == 1.0)).all())


def _list_some(items: list[str], limit: int) -> str:
    return ", ".join(items[:limit]) + (
        f" and {len(items) - limit} more" if len(items) > limit else ""
    )
