"""What evaluation harnesses write, as one table with a row per graded answer.

    log --> records --> system, item, epoch, input, output, target, judge_<name>, ..., human_<name>

``system`` is the model, prompt or agent that answered, ``item`` what it was asked, ``epoch`` which
of its answers to the item this is. A judge's grade is a number where it is one (pass is 1, fail 0)
and text otherwise. Log-likelihoods of the options of a question become class scores.

Each format is one entry of `FORMATS`: how it is recognized, and how its records are read. Nothing
is guessed from a file's name but the system where the format does not store it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ssme.data.readers.tables import Table, is_frame
from ssme.data.values import to_objects
from ssme.data.writing import make_frame
from ssme.errors import InputError, translate_foreign_errors, warn
from ssme.wording import cut_end, quote

Record = dict[str, Any]

WORDS = {
    **dict.fromkeys(("c", "correct", "pass", "passed", "true", "yes"), 1),
    **dict.fromkeys(("i", "incorrect", "n", "fail", "failed", "false", "no"), 0),
    "p": 0.5,
}
"""Words of a grade: those of Inspect (correct, partial, incorrect, no answer), pass and fail."""
LONGEST_LOG = 2**31
"""Bytes of a log that is read into memory."""


class Format(NamedTuple):
    """A format of logs: ``title``, whether ``content`` is one, and the records in it.

    ``content`` is the parsed JSON; of JSON Lines the list of its objects.
    """

    title: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, Path], Iterator[Record]]


def read_logs(logs: Any) -> Any:
    """Read logs of evaluation harnesses into one table.

    Logs of Inspect (``.eval`` where ``inspect_ai`` is installed, ``.json``, and the frame that
    ``inspect_ai.analysis.samples_df`` returns), lm-evaluation-harness (``samples_*.jsonl``),
    Promptfoo (``--output results.json`` or ``.jsonl``), DeepEval (``.latest_test_run.json``),
    Ragas (the frame that ``result.to_pandas()`` returns, or its rows as JSON Lines), OpenAI Evals
    (JSON Lines of events) and MLflow (the frame that ``mlflow.search_traces`` returns, or traces
    as JSON Lines).

    Parameters
    ----------
    logs : path, frame, or list of them
        Logs; of a folder, all logs in it and in its subfolders.

    Returns
    -------
    pandas.DataFrame
        One row per answer: ``system``, ``item``, ``epoch``, the grade of each judge in
        ``judge_*``, verdicts of people in ``human_*``, and ``input``, ``output`` and ``target``
        where the log has them. Where a log has the log-likelihoods of options: one row per item,
        ``id``, ``label`` and the scores of each model.

    Examples
    --------
    >>> import ssme
    >>> frame = ssme.read_logs("logs/")  # doctest: +SKIP
    """
    columns = gather_logs(logs if isinstance(logs, list | tuple) else [logs])
    return make_frame({name: to_objects(values) for name, values in columns.items()})


def gather_logs(given: Sequence[Any]) -> dict[str, list[Any]]:
    """The columns of the table; see `read_logs`."""
    records: list[Record] = []
    for log in given:
        if isinstance(log, str | Path):
            records.extend(_read_path(Path(log)))
        elif is_frame(log):
            records.extend(_read_frame(log))
        else:
            problem = f"a log is a {type(log).__name__}"
            raise InputError(problem, hint="give a path, or a data frame of samples")
    if not records:
        raise InputError("the logs have no samples", hint="check that the runs were finished")
    have_scores = {"scores" in record for record in records}
    if have_scores == {True}:
        return _gather_options(records)
    if True in have_scores:
        problem = "some logs have log-likelihoods of options, others have grades of answers"
        raise InputError(problem, hint="read them apart")
    return _gather_answers(records)


# -------------------------------------------------------------------------------------------------
# Files


def _read_path(path: Path) -> list[Record]:
    """The records of a log, or of all logs in a folder, which may contain other files."""
    if not path.exists():
        raise InputError(f"no file {path}", hint="check the path")
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in (".eval", ".json", ".jsonl"))
    records, others = [], []
    for file in files:
        found = _read_file(file)
        if found is None:
            others.append(file.name)
        else:
            records.extend(found)
    titles = ", ".join(each.title for each in FORMATS)
    if len(others) == len(files):
        problem = f"{path} is not a log of a known harness"
        hint = f"give a log of {titles}, or write a table with a row per answer"
        raise InputError(problem, hint=hint)
    if others:
        warn(f"{path}: {quote(others, 3)} left out, not a log of {titles}")
    return records


def find_harness(path: Path) -> str | None:
    """The harness that wrote a file of JSON; None where it is not known."""
    found = None
    if path.suffix.lower() in (".json", ".jsonl"):
        with suppress(InputError, OSError):
            found = _find_format(_parse(path))
    return None if found is None else found.title


def _find_format(content: Any) -> Format | None:
    return next((each for each in FORMATS if _is_of(each, content)), None)


def _read_file(path: Path) -> list[Record] | None:
    """The records of a log; None where it has no known format."""
    content = _open_eval(path) if path.suffix == ".eval" else _parse(path)
    found = _find_format(content)
    if found is None:
        is_summary = isinstance(content, dict) and {"configs", "n-shot"} <= content.keys()
        return [] if is_summary else None  # what lm-evaluation-harness writes next to its samples
    records: list[Record] = []
    try:
        for record in found.read(content, path):
            for name in ("system", "task", "item", "epoch"):
                value = record.get(name, "")
                if not isinstance(value, str | int):
                    raise ValueError(f"its {name} is {cut_end(repr(value), 40)}")
            if not np.isfinite(record.get("scores", 0)).all():
                raise ValueError("it has a log-likelihood that is not a number")
            records.append(record)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        problem = f"sample {len(records) + 1} of {path} is not as {found.title} writes it: {reason}"
        hint = "write the log again with a current version of the harness"
        raise InputError(problem, hint=hint) from None
    return records


def _is_of(kind: Format, content: Any) -> bool:
    try:
        return kind.matches(content)
    except (LookupError, TypeError, AttributeError):
        return False


def is_log(path: Path) -> bool:
    """Whether a file is a log by its suffix, the first line of JSON Lines, or a list in JSON."""
    if path.suffix.lower() not in (".json", ".jsonl"):
        return path.suffix.lower() == ".eval" or path.is_dir()
    with suppress(OSError, ValueError, RecursionError), path.open(encoding="utf-8-sig") as file:
        if path.suffix.lower() == ".json":
            return file.read(100).lstrip()[:1] != "[" or find_harness(path) is not None
        first = [json.loads(file.readline())]
        return any(_is_of(each, first) for each in FORMATS)
    return False


def _parse(path: Path) -> Any:
    """The JSON in a file; of JSON Lines the list of its objects."""
    if path.stat().st_size > LONGEST_LOG:
        raise InputError(f"{path} is larger than 2 GB", hint="split it, or write a table")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error}", hint="save it as UTF-8") from None
    try:
        try:
            return json.loads(text)
        except ValueError:
            if path.suffix != ".jsonl" and "\n{" not in text:
                raise
        lines = [line for line in text.splitlines() if line.strip()]
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        problem = f"{path} is not JSON, or is truncated: {error}"
        raise InputError(problem, hint="export the log again") from None


def _open_eval(path: Path) -> Any:
    """A binary log of Inspect as its JSON."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        problem = f"{path} is a binary log of Inspect, and inspect_ai is not installed"
        hint = "run `pip install inspect_ai`, or write JSON: `inspect log convert --to json`"
        raise InputError(problem, hint=hint) from None
    with translate_foreign_errors(f"reading {path}", hint="export the log again"):
        return read_eval_log(str(path)).model_dump(mode="json")


# -------------------------------------------------------------------------------------------------
# Formats


def _read_inspect(content: Any, path: Path) -> Iterator[Record]:
    """Samples of Inspect; those that ended with an error have no scores."""
    system, task = content["eval"]["model"], content["eval"]["task"]
    if content.get("status", "success") != "success":
        number = len(content.get("samples") or ())
        warn(
            f"{path}: the run did not end with success but with {content['status']!r}, after "
            f"{number:,} samples"
        )
    for sample in content.get("samples") or ():
        extra = {name: v for name, v in (sample.get("metadata") or {}).items() if _is_plain(v)}
        judges: Record = {}
        for scorer, score in (sample.get("scores") or {}).items():
            value = score["value"]
            if isinstance(value, Mapping):
                judges |= {f"{scorer}_{part}": each for part, each in value.items()}
            else:
                judges[scorer] = value
        yield {
            "system": system,
            "task": task,
            "item": sample["id"],
            "epoch": sample["epoch"],
            "input": _join_messages(sample["input"]),
            "output": (sample.get("output") or {}).get("completion"),
            "target": _join(sample["target"]),
            "judges": judges,
            "extra": extra,
        }


def _read_lm_eval(content: Any, path: Path) -> Iterator[Record]:
    """Samples of lm-evaluation-harness: options with log-likelihoods, or graded generations.

    The scores of a question are the softmax of its options' log-likelihoods, by which the metric
    acc of the harness picks an option. Each filter of a generation is graded separately.
    """
    task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT.*$", "", path.stem)
    system = path.resolve().parent.name.replace("__", "/", 1)
    for line in content:
        item, replies = line["doc_id"], line["filtered_resps"]
        if _are_options(replies) and isinstance(line["target"], int | str):
            logs = np.array([float(reply[0]) for reply in replies])
            weights = np.exp(logs - logs.max())
            label = _find_option(line, len(logs))
            scores = (weights / weights.sum()).tolist()
            yield {"system": system, "task": task, "item": item, "label": label, "scores": scores}
            continue
        graded = line.get("metrics") or [k for k, v in line.items() if _is_grade(k, v)]
        kept = "" if line.get("filter") in (None, "none") else f" {line['filter']}"
        yield {
            "system": system,
            "task": task,
            "item": item,
            "epoch": 1,
            "input": _find_prompt(line),
            "output": _join(replies),
            "target": _join(line["target"]),
            "judges": {f"{name}{kept}": line[name] for name in graded if _is_plain(line[name])},
        }


def _are_options(replies: Any) -> bool:
    """Whether these are (log-likelihood, is the most probable text) of several options."""
    return len(replies) > 1 and all(
        isinstance(each, list | tuple) and len(each) == 2 and str(each[1]) in ("True", "False")
        for each in replies
    )


def _find_option(line: Record, n_options: int) -> int:
    """The number of the right option; the target is it, or its text or letter."""
    target = line["target"]
    if isinstance(target, str) and not target.strip().lstrip("-").isdecimal():
        texts = [_get_continuation(line, i).strip() for i in range(n_options)]
        return texts.index(target.strip())
    if not 0 <= int(target) < n_options:
        raise ValueError(f"the target is option {target} of {n_options}")
    return int(target)


def _get_continuation(line: Record, option: int) -> str:
    arguments = line["arguments"]
    if isinstance(arguments, Mapping):
        return str(arguments[f"gen_args_{option}"]["arg_1"])
    return str(arguments[option][1])


def _find_prompt(line: Record) -> str | None:
    arguments = line.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = [[*each.values()] for each in arguments.values()]
    return str(arguments[0][0]) if arguments and arguments[0] else None


def _is_grade(name: str, value: Any) -> bool:
    return isinstance(value, bool | int | float) and name != "doc_id"


def _read_promptfoo(content: Any, _: Path) -> Iterator[Record]:
    """Results of Promptfoo: a system is a provider, with its prompt where it has several.

    ``testIdx`` counts repeats on, and ``promptIdx`` prompts over all providers: a test is known by
    its variables, a repeat by its place among the answers to them.
    """
    results = content if isinstance(content, list) else content["results"]["results"]
    results = sorted(results, key=lambda result: result.get("testIdx") or 0)
    prompts: dict[str, list[int]] = {}
    for result in results:
        known = prompts.setdefault(_name_provider(result), [])
        if result.get("promptIdx", 0) not in known:
            known.append(result.get("promptIdx", 0))
    seen: dict[Any, int] = {}
    items: dict[str, Any] = {}
    for result in results:
        system = _name_provider(result)
        if len(prompts[system]) > 1:
            number = sorted(prompts[system]).index(result.get("promptIdx", 0)) + 1
            system = f"{system}, prompt {number}"
        told = json.dumps(result.get("vars"), sort_keys=True)
        item = items.setdefault(told, told if result.get("testIdx") is None else result["testIdx"])
        seen[system, item] = seen.get((system, item), 0) + 1
        graded = (result.get("gradingResult") or {}).get("componentResults") or ()
        judges: Record = {"passed": result["success"]}
        for number, part in enumerate(graded, start=1):
            asserted = part.get("assertion") or {}
            name = asserted.get("metric") or asserted.get("type") or f"assertion {number}"
            judges[name if name not in judges else f"{name} {number}"] = part["pass"]
        judges |= result.get("namedScores") or {}
        yield {
            "system": system,
            "item": item,
            "epoch": seen[system, item],
            "input": (result.get("prompt") or {}).get("raw"),
            "output": _join((result.get("response") or {}).get("output")),
            "judges": judges,
            "extra": {k: v for k, v in (result.get("vars") or {}).items() if _is_plain(v)},
        }


def _name_provider(result: Record) -> str:
    provider = result["provider"]
    return str(provider if isinstance(provider, str) else provider.get("label") or provider["id"])


def _read_deepeval(content: Any, path: Path) -> Iterator[Record]:
    """Test cases of DeepEval; the system is the identifier of the run or its model."""
    run = content.get("testRunData") or content
    told = run.get("hyperparameters") or {}
    system = run.get("identifier") or told.get("model") or path.parent.name
    for number, case in enumerate(run["testCases"]):
        yield {
            "system": system,
            "item": case.get("name") or number,
            "epoch": 1,
            "input": case["input"],
            "output": case.get("actualOutput"),
            "target": case.get("expectedOutput"),
            "judges": {m["name"]: m["success"] for m in case.get("metricsData") or ()},
        }


RAGAS = {"user_input", "response", "reference", "retrieved_contexts", "reference_contexts"}
"""Columns of Ragas with something other than a metric."""


def _read_ragas(content: Any, path: Path | None) -> Iterator[Record]:
    """Rows of a result of Ragas: every number is a metric."""
    for number, row in enumerate(content):
        system = row.get("model") or row.get("system") or (path.stem if path else "system")
        yield {
            "system": system,
            "item": number,
            "epoch": 1,
            "input": _join_messages(row["user_input"]),
            "output": _join(row.get("response")),
            "target": _join(row.get("reference")),
            "judges": {k: v for k, v in row.items() if k not in RAGAS and _is_grade(k, v)},
            "extra": {k: v for k, v in row.items() if k not in RAGAS and isinstance(v, str)},
        }


def _read_openai(content: Any, path: Path) -> Iterator[Record]:
    """Events of OpenAI Evals: a sample's match, or its metrics, is its grade."""
    spec = content[0]["spec"]
    system = _join(spec.get("completion_fns")) or spec.get("model_name") or path.stem
    samples: dict[str, Record] = {}
    for event in content:
        if "sample_id" not in event:
            continue
        sample, data = samples.setdefault(event["sample_id"], {"judges": {}}), event["data"]
        if event["type"] == "sampling":
            sample["input"] = _join_messages(data.get("prompt"))
            sample["output"] = _join(data.get("sampled"))
        elif event["type"] == "match":
            sample["judges"]["match"] = data["correct"]
            sample["target"] = _join(data.get("expected"))
            sample.setdefault("output", _join(data.get("sampled")))
        elif event["type"] == "metrics":
            sample["judges"] |= {k: v for k, v in data.items() if _is_plain(v)}
    for item, sample in samples.items():
        yield {"system": system, "item": item, "epoch": 1, **sample}


def _read_traces(content: Any, path: Path) -> Iterator[Record]:
    """Traces of MLflow with their assessments: feedback of code and LLMs, and of people."""
    for trace in content:
        info = trace["info"]
        tags = info.get("tags") or {}
        yield _describe_trace(
            system=tags.get("model") or tags.get("mlflow.traceName") or path.stem,
            item=info.get("client_request_id") or info["trace_id"],
            shown=(info.get("request_preview"), info.get("response_preview")),
            assessments=info.get("assessments") or (),
        )


def _describe_trace(
    *, system: str, item: str, shown: tuple[Any, Any], assessments: Iterable[Any]
) -> Record:
    judges: Record = {}
    people: Record = {}
    target = None
    for each in assessments:
        if "expectation" in each:
            target = _join(each["expectation"]["value"])
        elif each.get("valid", True):  # else a later one took its place
            source, name = each["source"], each["assessment_name"]
            grades = people if source["source_type"].upper() == "HUMAN" else judges
            name = f"{name} {source.get('source_id')}" if name in grades else name
            grades[name] = each["feedback"]["value"]
    return {
        "system": system,
        "item": item,
        "epoch": 1,
        "input": _join(shown[0]),
        "output": _join(shown[1]),
        "target": target,
        "judges": judges,
        "people": people,
    }


FORMATS = (
    Format("Inspect", lambda c: "model" in c["eval"] and "plan" in c, _read_inspect),
    Format(
        "Promptfoo",
        lambda c: (
            "promptIdx" in c[0] if isinstance(c, list) else "provider" in c["results"]["results"][0]
        ),
        _read_promptfoo,
    ),
    Format("DeepEval", lambda c: "testCases" in (c.get("testRunData") or c), _read_deepeval),
    Format("lm-evaluation-harness", lambda c: "filtered_resps" in c[0], _read_lm_eval),
    Format("OpenAI Evals", lambda c: "spec" in c[0], _read_openai),
    Format("Ragas", lambda c: "user_input" in c[0], _read_ragas),
    Format("MLflow", lambda c: "trace_id" in c[0]["info"], _read_traces),
)
"""Formats of logs, each recognized by keys that no other one has."""


# -------------------------------------------------------------------------------------------------
# Frames, and what all of them become


def _read_frame(frame: Any) -> Iterator[Record]:
    """Records of the frames that Inspect, MLflow and Ragas return."""
    table = Table(frame, "the frame")
    columns = {name: table.read_values(name).tolist() for name in table.columns}
    if "user_input" in columns:
        rows = zip(*columns.values(), strict=True)
        yield from _read_ragas((dict(zip(columns, row, strict=True)) for row in rows), None)
        return
    if "assessments" in columns and "trace_id" in columns:
        for at, assessments in enumerate(columns["assessments"]):
            row = {name: values[at] for name, values in columns.items()}
            tags = row.get("tags") or {}
            yield _describe_trace(
                system=tags.get("model") or tags.get("mlflow.traceName") or "system",
                item=row.get("client_request_id") or row["trace_id"],
                shown=(row.get("request"), row.get("response")),
                assessments=() if assessments is None else assessments,
            )
        return
    scorers = [name for name in columns if name.startswith("score_")]
    if not scorers or "id" not in columns:
        problem = f"the frame has the columns {quote(table.columns)}"
        known = "samples_df of inspect_ai.analysis, mlflow.search_traces or to_pandas of Ragas"
        raise InputError(problem, hint=f"give what {known} returns")
    if "model" not in columns:
        raise InputError(
            "the frame of samples has no column 'model'",
            hint="pass columns=EvalModel + SampleSummary to samples_df, all three of "
            "inspect_ai.analysis",
        )
    for at in range(table.n_rows):
        row = {name: values[at] for name, values in columns.items()}
        judges: Record = {}
        for name in scorers:
            value, scorer = row[name], name.removeprefix("score_")
            if isinstance(value, str) and value.startswith("{"):
                judges |= {f"{scorer}_{part}": each for part, each in json.loads(value).items()}
            else:
                judges[scorer] = value
        yield {
            "system": row["model"],
            "task": row.get("task_name"),
            "item": row["id"],
            "epoch": row.get("epoch") or 1,
            "input": row.get("input"),
            "target": row.get("target"),
            "judges": judges,
            "extra": {
                name.removeprefix("metadata_"): value
                for name, value in row.items()
                if name.startswith("metadata_") and _is_plain(value)
            },
        }


def _gather_answers(records: list[Record]) -> dict[str, list[Any]]:
    """One row per answer; parts of one answer that a log has apart are joined."""
    answers: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in _name_items(records):
        key = (record["system"], record["item"], record["epoch"])
        row = {
            "id": "/".join(map(str, key)),
            **{name: record.get(name) for name in ("system", "item", "epoch")},
            **{name: record.get(name) for name in ("input", "output", "target")},
            **{f"judge_{name}": value for name, value in record.get("judges", {}).items()},
            **{f"human_{name}": value for name, value in record.get("people", {}).items()},
        }
        row |= {name: v for name, v in record.get("extra", {}).items() if name not in row}
        before = answers.setdefault(key, row)
        twice = [name for name in row if name.startswith("judge_") and name in before]
        if before is not row and twice:
            raise InputError(
                f"{key[0]!r} has two grades by {twice[0]!r} of item {key[1]!r}, epoch {key[2]}",
                hint="leave out logs of a run that was repeated, or give each run its own name",
            )
        before |= {name: value for name, value in row.items() if name not in before}
    names = list(dict.fromkeys(name for row in answers.values() for name in row))
    names.sort(key=lambda name: (not name.startswith("judge_"), not name.startswith("human_")))
    first = ("id", "system", "item", "epoch", "input", "output", "target")
    columns = {}
    for name in [*first, *(name for name in names if name not in first)]:
        values = [row.get(name) for row in answers.values()]
        if name.startswith(("judge_", "human_")):
            values = _grade(values)
        if any(value is not None for value in values):
            columns[name] = values
    return columns


def _gather_options(records: list[Record]) -> dict[str, list[Any]]:
    """One row per item: its label, and the scores that each system gave its options."""
    rows: dict[Any, dict[str, Any]] = {}
    widths = {len(record["scores"]) for record in records}
    if len(widths) > 1:
        problem = f"questions have {min(widths)} to {max(widths)} options"
        raise InputError(problem, hint="read the logs of questions with as many options each apart")
    for record in _name_items(records):
        row = rows.setdefault(record["item"], {"id": record["item"], "label": record["label"]})
        scores = {f"{record['system']}:{k}": score for k, score in enumerate(record["scores"])}
        if not scores.keys().isdisjoint(row):
            problem = f"{record['system']!r} answered item {record['item']!r} twice"
            raise InputError(problem, hint="leave out logs of a run that was repeated")
        if row["label"] != record["label"]:
            raise InputError(
                f"item {record['item']!r} has the label {row['label']!r} in one log and "
                f"{record['label']!r} in another",
                hint="give logs of the same version of the task",
            )
        row |= scores
    names = dict.fromkeys(name for row in rows.values() for name in row)
    return {name: [row.get(name) for row in rows.values()] for name in names}


def _name_items(records: list[Record]) -> Iterator[Record]:
    """The records, with the task in the name of an item where there are several tasks."""
    several = len({record.get("task") for record in records}) > 1
    for record in records:
        if several and record.get("task"):
            record = {**record, "item": f"{record['task']}/{record['item']}"}
        yield record


def _grade(values: list[Any]) -> list[Any]:
    """Grades as numbers, where all that are text are words of a grade."""
    texts = {value.strip().casefold() for value in values if isinstance(value, str)}
    are_words = texts <= WORDS.keys()
    return [
        WORDS[value.strip().casefold()]
        if isinstance(value, str) and are_words
        else int(value)
        if isinstance(value, bool)
        else value
        if _is_plain(value)
        else None
        for value in values
    ]


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | int | float)


def _join(value: Any) -> str | None:
    """Text, or the texts of a list."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "\n".join(text for each in value if (text := _join(each)) is not None)
    return str(value) if _is_plain(value) else json.dumps(value)


def _join_messages(value: Any) -> str | None:
    """Text, or what the messages of a chat contain."""
    if isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
        return _join([each.get("content") for each in value])
    return _join(value)
