"""``ssme doctor``: what is in a file, how it was understood, what can be estimated from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssme.cli.options import FileArgument, OutputOptions, ReadOptions
from ssme.cli.output import Output, csv_text, json_text
from ssme.cli.program import command
from ssme.cli.run import gather, inputs_of, read_scores
from ssme.errors import UnsupportedError

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet

__all__ = ["doctor"]


@command("Evaluate")
def doctor(read: ReadOptions, out: OutputOptions, file: FileArgument = None) -> None:
    """Say what is in a file and what can be estimated from it.

    It tells how the layout, labels and models were understood, which methods and metrics can be
    used, and what looks wrong.

    Example:

    [cyan]ssme doctor scores.csv --label y[/cyan]
    """
    from rich.text import Text

    from ssme.cli.tables import plain_table, print_doubts, short
    from ssme.diagnostics.registry import check_all
    from ssme.metrics import metric_names

    output = Output(out)
    spec = gather(file, read)
    output.refuse_inputs(inputs_of(spec))
    with output.working("reading"):
        data = read_scores(spec)
        doubts = check_all(data)
    understood = data.layout.describe() if data.layout is not None else {}
    can, cannot = _methods(data)
    findings = [asdict(doubt) for doubt in doubts]
    labels, missing = _label_counts(data), _missing_scores(data)
    advice = _advice(data)
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
        "metrics": list(metric_names(data.n_classes)),
        "looks_wrong": findings,
    }
    output.write(out.json, json_text(facts))
    output.write(out.csv, csv_text(findings))
    console = output.console
    table = plain_table("How the file was understood", "", "")
    for title, text in understood.items():
        table.add_row(Text(title), Text(short(text, 400)))
    console.print(table)
    table = plain_table("\nWhat is in it", "", "")
    table.add_row("rows", f"{data.n_rows:,}, {data.n_labeled:,} labeled")
    counts = [f"{short(name)}: {count}" for name, count in labels.items()]
    table.add_row("labels per class", Text(_list_some(counts, 20)))
    table.add_row(
        "models", Text(f"{data.n_models}: {_list_some([short(m) for m in data.models], 20)}")
    )
    if missing:
        gaps = [f"{short(name)}: {count:,}" for name, count in missing.items()]
        table.add_row("missing scores", Text(_list_some(gaps, 20)))
    console.print(table)
    table = plain_table("\nWhat can be estimated", "", "")
    table.add_row("metrics", Text(", ".join(facts["metrics"])))
    table.add_row("methods", Text(", ".join(can) or "none"))
    for name, reason in cannot.items():
        table.add_row(f"not {name}", Text(reason))
    console.print(table)
    for sentence in advice:
        console.print(Text("\n" + short(sentence, 400)))
    if doubts:
        print_doubts(console, doubts)
    else:
        console.print(Text("\nNothing looks wrong", style="bold"))


def _label_counts(data: ScoreSet) -> dict[str, int]:
    return {str(name): int((data.labels == k).sum()) for k, name in enumerate(data.classes)}


def _missing_scores(data: ScoreSet) -> dict[str, int]:
    gaps = (data.scores[:, :, 0] != data.scores[:, :, 0]).sum(axis=0)
    return {model: int(n) for model, n in zip(data.models, gaps, strict=True) if n}


def _advice(data: ScoreSet) -> list[str]:
    """What to do with models that look like judges and were not named as such."""
    hard = [name for name in data.models if name not in data.judges and _answers_only(data, name)]
    advice = []
    if hard:
        advice.append(
            f"{_list_some(hard, 20)}: every score is 0 or 1, so these look like answers, not "
            f"probabilities; name them with --answers {','.join(hard[:20])}."
        )
    if data.judges and data.n_labeled == 0:
        advice.append("No row has a label: how good judges are is told by their agreement alone.")
    return advice


def _answers_only(data: ScoreSet, name: str) -> bool:
    scores = data.scores[:, data.models.index(name)]
    known = scores[scores[:, 0] == scores[:, 0]]
    return bool(((known == 0.0) | (known == 1.0)).all())


def _methods(data: ScoreSet) -> tuple[list[str], dict[str, str]]:
    """Methods that accept ``data``, and why the others do not."""
    from ssme.methods.base import check_supported
    from ssme.methods.registry import method_class, method_names

    can: list[str] = []
    cannot: dict[str, str] = {}
    for name in method_names():
        try:
            check_supported(method_class(name).spec, data, [])
            can.append(name)
        except UnsupportedError as error:
            cannot[name] = error.got
    return can, cannot


def _list_some(items: list[str], limit: int) -> str:
    return ", ".join(items[:limit]) + (
        f" and {len(items) - limit} more" if len(items) > limit else ""
    )
