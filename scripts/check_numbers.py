"""No number at the top of a module changes a result, unless it is the default of a field.

A number that decides a result is an option of a method, a field of a dataclass of constants, or the
default of an argument, so that a study can change it without patching a module. The numbers that
stand at the top of a module of ``src/ssme`` for another reason are listed here with that reason; a
new one has to be listed, and one that is gone is named, to leave the list.

Run: python scripts/check_numbers.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ssme"

REASONS: dict[str, dict[str, str]] = {
    "how much is shown, drawn or written for people; the numbers behind it are the same": {
        "cli/bench.py": "MOST_WORKERS",
        "cli/deciding.py": "SHOWN_PAIRS PAIR_NAME ROOM",
        "cli/output.py": "TABLE_WIDTH",
        "cli/program.py": "WIDTH NARROWEST",
        "cli/suggest.py": "SHOWN",
        "cli/tables.py": "LIMIT WIDE_NAME NARROW_NAME",
        "decide/written.py": "PAIRED_MODELS",
        "errors.py": "LONGEST_PART",
        "fitting.py": "UNDEFINED_SHOWN",
        "markup.py": "SHORT",
        "plots/curves.py": "PANELS SQUARE DIAGONAL UNIT",
        "plots/display.py": "UNCUT CONFIG",
        "plots/heatmaps.py": "PANELS WRITTEN SLANTED LEVEL_NAME",
        "plots/history.py": "SHOWN",
        "plots/intervals.py": "SHOWN_MODELS SHOWN_GROUPS",
        "plots/names.py": "LABEL_WIDTH TITLE_WIDTH NAME_WIDTH LONGEST",
        "report/charts.py": "WIDE STYLE",
        "report/html.py": "PRINTED_ROWS",
        "decide/choose.py": "NAMED",
        "report/summary.py": "TOGETHER_MODELS",
        "results/curves.py": "THRESHOLDS",
        "results/frames.py": "LONGEST_NAME SHOWN_ROWS",
        "results/notebook.py": "MODELS NAME",
        "results/reliability.py": "MARGINS",
        "run.py": "UNDEFINED_SHOWN",
        "serve/drawing.py": "WIDTH ROW MARGIN TICKS STEPS MODELS "
        "SMALL_WIDTH SMALL_HEIGHT SMALL_TICKS",
        "serve/files.py": "LISTED",
        "serve/looking.py": "SAMPLE EXAMPLES WIDTH",
    },
    "how work is cut into pieces that fit into memory, or which of two ways to the same sum is "
    "quicker; results are equal to rounding": {
        "bench/studies.py": "AHEAD",
        "bench/tables.py": "PARQUET_ROWS",
        "data/readers/csv_files.py": "BLOCK",
        "datasets/fetch.py": "PIECE",
        "diagnostics/significance.py": "FEW LEAST_PRINTED",
        "engines/kernels.py": "DENSE_BYTES QUERY_TILE POINT_TILE SPARSE_BELOW FACTOR_BELOW",
        "engines/sparse.py": "WORTH_REDOING MOST_NEIGHBORS SPARSE_SHARE PROBES",
        "engines/torch_kernels.py": "BLOCK_PAIRS",
        "engines/triton_kernels.py": "PADDING BLOCK",
        "integrations/mlflow.py": "BATCH",
        "methods/auto/model.py": "FEW_CLASSES",
        "methods/auto/pool.py": "CHUNK_CELLS BINARY_CHUNK_CELLS",
        "methods/auto/sampler.py": "CACHED_CELLS",
        "methods/estimators/ssme.py": "APPLIED_ROWS",
        "metrics/mass.py": "_PIECE",
        "metrics/ranking.py": "_DENSE_SHARE _CACHED_CELLS _LEAST_PAIRS",
        "metrics/split_ranking.py": "_LEAST_ROWS _LARGEST_SHARE _PIECE",
        "stream/counting.py": "CHUNK_ROWS SECONDS_BETWEEN_CHECKPOINTS",
        "stream/files.py": "OPEN_FILES TAIL_BYTES",
        "metrics/influence.py": "CELLS",
    },
    "what is refused or waited for; within it results do not depend on it": {
        "bench/protocol.py": "MOST_RUNS",
        "config.py": "LARGEST DEEPEST",
        "data/grouping.py": "LARGEST_NUMBER_OF_GROUPS MOST_QUANTILES",
        "data/readers/array_files.py": "UNPACKED_BYTES UNPACKED_TIMES",
        "data/readers/excel.py": "UNPACKED_BYTES UNPACKED_TIMES MOST_ROWS LEAST_CELLS HOLES",
        "data/readers/json_lines.py": "LEAST_CELLS HOLES",
        "data/arrays.py": "MANY_MODELS",
        "data/simplex.py": "SUM_TOLERANCE FEW_LOGITS RANGE_TOLERANCE",
        "data/validation.py": "LARGEST_EXPONENT COMPARED ROUNDING",
        "engines/executors.py": "RETRIES",
        "estimator.py": "SUM_TOLERANCE",
        "data/labels.py": "FEW",
        "integrations/mlflow.py": "KEY_LENGTH",
        "memory/database.py": "SECONDS_TO_WAIT",
        "methods/parts/draw_options.py": "MOST_DRAWS",
        "serve/arguments.py": "SHORTEST_PASSWORD",
        "serve/choosing.py": "LONGEST",
        "serve/entering.py": "LONGEST_NAME PAUSE FAILURES WINDOW",
        "serve/jobs.py": "TRIES PULSE",
        "serve/project.py": "AHEAD PAGES LOOKS",
        "serve/results.py": "PATIENCE",
        "serve/security.py": "LARGEST_FORM DAYS",
        "serve/server.py": "BACKLOG GRACE",
        "serve/worker.py": "PAUSE COURTESY SPARE REST",
        "serve/workshop.py": "LONGEST_LINE",
        "stream/group_keys.py": "MOST_VALUES",
        "stream/group_sums.py": "MOST_CELLS",
        "theory/own_data.py": "LEAST_LABELS",
    },
    "keeps arithmetic finite or says what counts as rounding; it is far below what is reported": {
        "decide/set_metrics.py": "NEARLY_ONE",
        "densities/bandwidth.py": "LEAST_BANDWIDTH UNDERFLOW",
        "densities/gaussian_mixture.py": "TINY_VARIANCE",
        "engines/kernels.py": "DROPPED TINY TINY_SHARE GEMM_ERROR FACTOR_ERROR",
        "engines/sparse.py": "ERROR",
        "engines/triton_kernels.py": "LOST NEAR",
        "groups/scales.py": "EDGE",
        "groups/shifts.py": "LEAST",
        "methods/auto/binary.py": "LARGEST",
        "methods/parts/label_intervals.py": "BISECTIONS",
        "metrics/mass.py": "_SAME_WEIGHT",
        "metrics/ranking.py": "_ROUNDING",
        "results/gaps.py": "LEAST",
        "results/simultaneous.py": "LEAST",
        "theory/own_data.py": "CLIP FLAT",
    },
    "a code, a version or a definition: another number would be another thing by another name": {
        "cli/program.py": "CONDITION_FAILED BAD_INPUT FAULT INTERRUPTED PIPE_CLOSED",
        "data/scoreset.py": "UNLABELED",
        "data/values.py": "EXACT_INTEGER",
        "datasets/adult.py": "N_CLASSIFIERS N_TRUTH",
        "densities/bandwidth.py": "NORMAL_REFERENCE IQR_OF_NORMAL ISJ_GRID ISJ_STAGES",
        "densities/realnvp.py": "LOG_SCALE_BOUND",
        "groups/estimates.py": "GROUP_DRAWS",
        "memory/schema.py": "APPLICATION",
        "serve/schema.py": "VERSION",
        "tracking/record.py": "SCORE_BINS",
        "stream/score_bins.py": "MANTISSA_BITS OCTAVES N_BINS _DROPPED_BITS",
    },
    "the default of a field, an option or an argument": {
        "densities/gaussian_mixture.py": "RANK",
        "methods/beliefs/posterior.py": "BATCH_CELLS",
        "methods/estimators/ssme.py": "PRESET_DRAWS",
        "metrics/kinds.py": "DEFAULT_THRESHOLD",
        "spec/run_spec.py": "SAMPLE_ROWS",
    },
    "decides what columns of a stream are taken for; a file that disagrees later is refused": {
        "stream/columns.py": "HEAD_ROWS ROWS_OF_LATE_COLUMN",
    },
}


def find_numbers(tree: ast.Module) -> Iterator[str]:
    """Names at the top of a module that are bound to numbers, or to plain containers of them."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        parts = list(ast.walk(node.value))
        plain = not any(
            isinstance(part, ast.Call | ast.comprehension | ast.Subscript) for part in parts
        )
        if plain and any(map(_is_number, parts)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def list_known() -> set[tuple[str, str]]:
    """(file, name) of every number that is listed."""
    return {
        (file, name)
        for table in REASONS.values()
        for file, names in table.items()
        for name in names.split()
    }


def main() -> int:
    """Compare what there is with what is listed; print each difference."""
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in sorted(SOURCE.rglob("*.py"))
        for name in find_numbers(ast.parse(path.read_text(encoding="utf-8")))
    }
    new, gone = found - list_known(), list_known() - found
    for file, name in sorted(new):
        print(
            f"src/ssme/{file}: {name} is a number at the top of a module. Make it a field or the "
            "default of an argument; if it changes no result, say why in scripts/check_numbers.py"
        )
    for file, name in sorted(gone):
        print(f"scripts/check_numbers.py lists {name} of src/ssme/{file}, which is not there")
    if not new and not gone:
        print(
            f"{len(found)} numbers at the top of modules, each with the reason why it is no field"
        )
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
