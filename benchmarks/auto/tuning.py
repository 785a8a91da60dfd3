"""How the constants of the mixture and of the draws' spread are chosen: recorded once, tried often.

A fit of ``auto`` is slow beside what is tuned here: probabilities of the regimes, densities of what
scores show, the spread of the draws. So every regime's value and draws, before they are weighed and
recentered, are kept per task (`records`: stress, set, number of labels, run),

    python -m benchmarks.auto.tuning record --out .records --workers 15 --extra extra

and a set of constants is judged by weighing and recentering them anew, by the very functions of
the method. ``try`` measures constants as `study` does, ``search`` draws constants at random about
the shipped ones and prints those with the least loss (`judge`),

    python -m benchmarks.auto.tuning try --records .records
    python -m benchmarks.auto.tuning search --records .records --tries 40
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.decisions import summarize_decisions
from benchmarks.auto.records import (
    FURTHER,
    PLAIN,
    Part,
    Record,
    plan_records,
    read_records,
    weigh_scores,
    write_records,
)
from benchmarks.auto.study import compare_with_truth, summarize_by_variant
from benchmarks.experiment import add_places, open_places, run_cells
from ssme.arrays import FloatArray
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import choose_spread, recenter
from ssme.methods.auto.method import allot_draws
from ssme.methods.auto.regimes import STATED, shrink_stated_evidence
from ssme.methods.base import Estimate
from ssme.metrics import get_metric

ALL_DRAWS = 200


def weigh(record: Record, constants: Constants, label_power: float = 1.0) -> FloatArray:
    """P(r) of the regimes of a task; a label counts ``label_power``."""
    prior = constants.regimes.prior
    logs = np.array(
        [
            label_power * part.log_labels
            + weigh_scores(part.name, record, constants)
            + np.log(max(prior.get(part.name, 0.0), np.finfo(np.float64).tiny))
            for part in record.parts
        ]
    )
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    chance[chance < constants.regimes.negligible] = 0.0
    return chance / chance.sum()


def _shrink_stated(record: Record, constants: Constants) -> Record:
    """The record with the labels' evidence against "stated" as it counts in sharing out draws."""
    n_labeled, usual = record.job[2], record.parts[0].log_labels

    def shrink(part: Part) -> Part:
        if part.name != STATED:
            return part
        ratio = shrink_stated_evidence(part.log_labels - usual, n_labeled, constants.regimes)
        return replace(part, log_labels=usual + ratio)

    return replace(record, parts=[shrink(part) for part in record.parts])


def widen(name: str, record: Record, constants: Constants) -> float:
    """Factor of a regime's spread; classifiers that answer 0 or 1 know no regime by scores."""
    if name != "usual":
        return constants.regimes.widening
    of, against = constants.regimes, min(0.0, record.conflict or 0.0)
    answers = of.answers_widening if record.answers_only else 1.0
    return answers * float(np.sqrt(1.0 + (of.conflict_widening * against) ** 2))


def replay(record: Record, constants: Constants) -> list[dict[str, Any]]:
    """The rows of `study.beside_truth` with other constants."""
    stress, name, n_labeled, run = record.job
    chance, of = weigh(record, constants), constants.recentering
    omega = (chance / chance.max()) ** constants.regimes.sureness
    omega[omega < constants.regimes.least_weight * omega.sum()] = 0.0
    omega /= omega.sum()
    power = n_labeled / (n_labeled + constants.regimes.sharing)
    shares = np.maximum(chance, weigh(_shrink_stated(record, constants), constants, power))
    counts = allot_draws(ALL_DRAWS, shares / shares.sum())
    rows = []
    for m, metric in enumerate(map(get_metric, record.metrics)):
        exact, (value, low, high) = record.truth[m], record.labels[m]
        resampled = None if record.resampled[m] is None else record.resampled[m].astype(np.float64)
        pooled = []
        for part, size in zip(record.parts, counts, strict=True):
            if size == 0:
                continue
            sizes = (part.weights[m], record.n_effective, record.n_classes)
            wide = widen(part.name, record, constants)
            spread = choose_spread(metric, *sizes, of, wide)
            draws = part.draws[m][np.resize(np.arange(len(part.draws[m])), size)] / 32767.0
            pooled.append(recenter(metric, part.values[m], draws, resampled, spread, of.edge))
        center = np.sum(
            [w * part.values[m] for w, part in zip(omega, record.parts, strict=True)], 0
        )
        ours = Estimate(center, np.concatenate(pooled))
        labels = Estimate(value, bounds=partial(_say_ends, (low, high)))
        told = {"variant": stress, "dataset": name, "n_labeled": n_labeled, "run": run}
        rows.append(
            {
                **told,
                "metric": metric.name,
                "warnings": "",
                **compare_with_truth(metric, ours, labels, exact),
            }
        )
    return rows


def _say_ends(ends: tuple[FloatArray, FloatArray], level: float) -> tuple[FloatArray, FloatArray]:
    """The interval of labels alone as it was recorded, whatever ``level`` is asked for."""
    return ends


def measure(records: list[Record], constants: Constants) -> pd.DataFrame:
    return pd.DataFrame([row for record in records for row in replay(record, constants)])


def judge(frame: pd.DataFrame) -> float:
    """Loss of constants: shortfalls of coverage and of pairs, P(best) off, width, error.

    Ordinary sets should cover 0.96 by metric and 0.92 by set, pairs 0.955 and 0.9 by set, stresses
    0.93 by number of labels; a bin of P(best) off by 0.1 costs as much as 0.05 of coverage.
    """
    plain = frame[frame["variant"] == PLAIN]
    loss = 0.0
    for keys, target, share in (
        (["n_labeled", "metric"], 0.96, 0.955),
        (["n_labeled", "dataset"], 0.92, 0.9),
    ):
        means = plain.groupby(keys)[["covered", "pairs", "held_pairs"]].mean()
        loss += float(np.maximum(target - means["covered"], 0.0).mean())
        held = means["held_pairs"] / means["pairs"].clip(lower=1)
        loss += float(np.maximum(share - held, 0.0).mean())
    odd = frame[frame["variant"] != PLAIN].groupby(["variant", "n_labeled"])["covered"].mean()
    loss += float(np.maximum(0.93 - odd, 0.0).mean()) if odd.size else 0.0
    said = summarize_decisions(frame[frame["variant"].isin([PLAIN, FURTHER])])
    off = (said["said"] - said["so"]).abs() * said["cases"] / said["cases"].sum()
    table = summarize_by_variant(plain, "stress")
    return (
        5.0 * loss
        + float(off.sum())
        + 0.5 * float(table["width_ratio"].mean())
        + float(table["rmae"].mean())
    )


def vary(constants: Constants, rng: np.random.Generator) -> Constants:
    """Constants at random about those given: probabilities, densities, spread."""

    def draw_about(value: float, spread: float) -> float:
        return float(value * np.exp(spread * rng.standard_normal()))

    regimes, spread = constants.regimes, constants.recentering
    prior = {name: draw_about(chance, 0.5) for name, chance in regimes.prior.items()}
    total = sum(prior.values())
    return replace(
        constants,
        regimes=replace(
            regimes,
            prior={name: chance / total for name, chance in prior.items()},
            usual_conflict=draw_about(regimes.usual_conflict, 0.2),
            widening=draw_about(regimes.widening, 0.1),
        ),
        recentering=replace(
            spread,
            spread={
                kind: (draw_about(shared, 0.15), draw_about(own, 0.15))
                for kind, (shared, own) in spread.spread.items()
            },
            evenness=min(1.0, draw_about(spread.evenness, 0.2)),
        ),
    )


def record_all(args: argparse.Namespace) -> None:
    files = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    with open_places(args) as executor:
        rows, times = run_cells(
            plan_records(files),
            "auto_records",
            executor,
            seconds=60.0 * args.minutes,
            leave_out="cells",
        )
    write_records(args.out, rows.get("record", ()))
    print(f"{len(rows)} tasks, {sum(times.get('seconds', ())) / 60:.1f} CPU minutes")


def try_constants(args: argparse.Namespace) -> None:
    frame = measure(read_records(args.records, args.only), Constants())
    print(summarize_by_variant(frame, "stress").round(3).to_string(index=False))
    said = summarize_decisions(frame[frame["variant"].isin([PLAIN, FURTHER])])
    print(said.groupby("variant").apply(lambda part: part.round(2).to_string(index=False)))
    print("loss", round(judge(frame), 4))


def tune_constants(args: argparse.Namespace) -> None:
    records, rng = read_records(args.records, args.only), np.random.default_rng(args.seed)
    tried = []
    for i in range(args.tries):
        constants = Constants() if i == 0 else vary(Constants(), rng)
        tried.append((judge(measure(records, constants)), constants))
    for loss, constants in sorted(tried, key=lambda one: one[0])[:5]:
        print(round(loss, 4), constants.regimes.prior, constants.regimes.usual_conflict)
        print("   ", constants.regimes.widening, constants.recentering)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    what = parser.add_subparsers(required=True)
    recording = what.add_parser("record", help="fit every regime on every task")
    recording.add_argument("--out", type=Path, required=True)
    add_places(recording)
    recording.add_argument("--minutes", type=float, default=60.0, help="begin nothing after this")
    recording.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    recording.set_defaults(do=record_all)
    for name, do in (("try", try_constants), ("search", tune_constants)):
        trying = what.add_parser(name)
        trying.add_argument("--records", type=Path, required=True)
        trying.add_argument("--only", nargs="+", help="stresses")
        trying.add_argument("--tries", type=int, default=40)
        trying.add_argument("--seed", type=int, default=0)
        trying.set_defaults(do=do)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
