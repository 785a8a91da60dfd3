"""Runs evaluation harnesses on made-up models, each with its own logs: python harnesses.py NAME."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def run_inspect(folder: Path) -> None:
    """Two models, three scorers of which one gives two grades, four items, two epochs."""
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, Target, accuracy, match, mean, scorer
    from inspect_ai.solver import TaskState, generate

    from ssme.systems.inspect import corrected_rate

    @scorer(metrics=[accuracy(), corrected_rate("checked")])
    def judge():  # type: ignore[no-untyped-def]
        async def score(state: TaskState, target: Target) -> Score:
            partial = "P" if state.sample_id == 2 else "I"
            return Score(value="C" if "4" in state.output.completion else partial)

        return score

    @scorer(metrics={"helpful": [mean()], "long": [mean()]})
    def grader():  # type: ignore[no-untyped-def]
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value={"helpful": 0.75, "long": len(state.output.completion) > 3})

        return score

    items = [
        Sample(
            id=i,
            input=f"What is {i}+{i}?",
            target=str(2 * i),
            metadata={"topic": "sum", "checked": i % 2},
        )
        for i in range(1, 5)
    ]
    for kind in ("eval", "json"):
        for model in ("a", "b"):
            outputs = []
            for number in range(8):
                answer = ModelOutput.from_content(f"mockllm/{model}", str(4 + number % 3))
                answer.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
                outputs.append(answer)
            task = Task(
                items, solver=generate(), scorer=[match(), judge(), grader()], epochs=2, name="sums"
            )
            run(
                task,
                model=get_model(f"mockllm/{model}", custom_outputs=outputs),
                log_dir=str(folder / kind),
                log_format=kind,
                display="none",
            )
    from inspect_ai.analysis import EvalModel, SampleSummary, samples_df

    frame = samples_df(str(folder / "eval"), columns=EvalModel + SampleSummary)
    frame.to_parquet(folder / "samples.parquet")


TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
doc_to_text: "{{{{question}}}}"
{rest}
"""
CHOICE = """output_type: multiple_choice
doc_to_target: "{{label}}"
doc_to_choice: ["yes", "no", "maybe"]
metric_list: [{metric: acc}]"""
GENERATION = """output_type: generate_until
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"]}
filter_list:
  - {name: strict, filter: [{function: regex, regex_pattern: "(lo)"}, {function: take_first}]}
  - {name: flexible, filter: [{function: take_first}]}
metric_list: [{metric: exact_match}]"""


def run_lm_eval(folder: Path) -> None:
    """The harness's own dummy model on six questions with options, and six generations."""
    data = folder / "questions.jsonl"
    lines = [
        {"question": f"Is {i} even?", "label": i % 3, "answer": "lo" if i % 2 else "lol"}
        for i in range(6)
    ]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, rest in (("options", CHOICE), ("texts", GENERATION)):
        (folder / f"{name}.yaml").write_text(TASK.format(name=name, data=data, rest=rest))
        harness = str(Path(sys.executable).with_name("lm_eval"))
        asked = ["--model", "dummy", "--tasks", name, "--include_path", str(folder)]
        kept = ["--log_samples", "--output_path", str(folder / name)]
        subprocess.run([harness, *asked, *kept], check=True, cwd=folder)


def run_deepeval(folder: Path) -> None:
    """One metric of our own on four test cases."""
    from deepeval import evaluate
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Short(BaseMetric):
        threshold = 0.5
        async_mode = False

        def measure(self, case, *_, **__):  # type: ignore[no-untyped-def]
            self.score = float(len(case.actual_output) < 5)
            self.success = self.score >= 0.5
            return self.score

        async def a_measure(self, case, *_, **__):  # type: ignore[no-untyped-def]
            return self.measure(case)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return "Short"

    cases = [
        LLMTestCase(input=f"q{i}", actual_output="x" * (i + 3), expected_output="xx")
        for i in range(4)
    ]
    evaluate(test_cases=cases, metrics=[Short()], identifier="bot-1")


PROMPTFOO = """
prompts: ["Answer: {{q}}"]
providers: [{id: "file://echo.js", label: echo}, {id: "file://mute.js", label: mute}]
tests:
  - {vars: {q: one}, assert: [{type: contains, value: one}]}
  - {vars: {q: two}, assert: [{type: contains, value: two}]}
"""
PROVIDER = "module.exports = class { id() { return 'x' } async callApi(p) { return {output: %s} } }"


def run_promptfoo(folder: Path) -> None:
    """Two providers of our own, one prompt, two tests, each asked twice."""
    (folder / "promptfooconfig.yaml").write_text(PROMPTFOO)
    for name, output in (("echo", "p"), ("mute", "'-'")):
        (folder / f"{name}.js").write_text(PROVIDER % output)
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    asked = ["promptfoo", "eval", "--no-cache", "--repeat", "2"]
    for name in ("results.json", "results.jsonl"):
        subprocess.run(  # exits with 100 where an assertion failed
            [*asked, "-o", name],
            check=False,
            cwd=folder,
            env={**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": str(folder / "config")},
        )


def run_ragas(folder: Path) -> None:
    """A metric without a language model on four samples."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas.metrics import ExactMatch

    samples = [
        SingleTurnSample(
            user_input=f"q{i}", response="no" if i % 2 == 0 else "yes", reference="yes"
        )
        for i in range(4)
    ]
    result = evaluate(EvaluationDataset(samples=samples), metrics=[ExactMatch()])
    result.to_pandas().to_json(folder / "bot-1.jsonl", orient="records", lines=True)


def run_mlflow(folder: Path) -> None:
    """Three traces with an assessment by an LLM, one by a person and an expected answer."""
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
    import mlflow
    from mlflow.entities import AssessmentSource

    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    mlflow.set_experiment("traces")

    @mlflow.trace(name="bot")
    def answer(question: str) -> str:
        return question.upper()

    for number in range(3):
        answer(f"q{number}")
        trace = mlflow.get_last_active_trace_id()
        judge = AssessmentSource(source_type="LLM_JUDGE", source_id="gpt")
        person = AssessmentSource(source_type="HUMAN", source_id="ada")
        mlflow.log_feedback(trace_id=trace, name="relevant", value="yes", source=judge)
        mlflow.log_feedback(trace_id=trace, name="good", value=number > 0, source=person)
        mlflow.log_expectation(trace_id=trace, name="answer", value=f"Q{number}", source=person)
    frame = mlflow.search_traces()
    from ssme import read_logs

    read_logs(frame).to_csv(folder / "from_frame.csv", index=False)
    traces = mlflow.search_traces(return_type="list")
    (folder / "traces.jsonl").write_text("".join(trace.to_json() + "\n" for trace in traces))


if __name__ == "__main__":
    place = Path(sys.argv[2])
    place.mkdir(exist_ok=True)
    os.chdir(place)  # tools keep files where they are started
    {
        "inspect": run_inspect,
        "lm_eval": run_lm_eval,
        "deepeval": run_deepeval,
        "mlflow": run_mlflow,
        "promptfoo": run_promptfoo,
        "ragas": run_ragas,
    }[sys.argv[1]](place)
