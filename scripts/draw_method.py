"""The pictures of docs/method-in-pictures.md, from the bundled sample.

Run: python scripts/draw_method.py

Each picture is one step of the default method: what 30 labels say, who agrees with whom, a logistic
regression on the pooled score, a metric as a mean of probabilities, joint draws, and how right the
probabilities are. The truth, which only the last pictures show, is never given to the method.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import expit

import ssme
from canvas import BLUE, GREEN, GREY, INK, VERMILION, Canvas, Panel
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.pool import clip_scores, log_pool, summarize_scores
from ssme.sample import sample_path, truth_path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "method"
WIDTH, HEIGHT = 600, 300
NAME_PLACES = {
    "boosting": ("middle", 0, -9),
    "forest": ("middle", 0, 17),
    "neighbors": ("start", 8, 5),
    "logistic": ("end", -8, 0),
    "neural_net": ("start", 8, 8),
    "naive_bayes": ("end", -8, -4),
}
"""Where the names stand beside their dots, so that none covers another."""


@dataclass(frozen=True)
class Sample:
    """The sample by the default method, and the truth beside it."""

    data: ssme.ScoreSet
    result: ssme.Evaluation
    truth: np.ndarray

    @classmethod
    def read(cls) -> Sample:
        data = ssme.ScoreSet.read(sample_path(), label="label", id="id")
        with truth_path().open(encoding="utf-8", newline="") as stream:
            truth = np.array([int(row["label"]) for row in csv.DictReader(stream)])
        return cls(data, ssme.evaluate(data), truth)

    @cached_property
    def scores(self) -> np.ndarray:
        """P(five or more) (n, M)."""
        return self.data.scores[:, :, 1]

    @cached_property
    def right(self) -> np.ndarray:
        """Whether each answer is right (n, M)."""
        return (self.scores >= 0.5) == self.truth[:, None]

    @cached_property
    def probability(self) -> np.ndarray:
        """P(five or more | scores) (n,) by the method, labeled rows as all others."""
        return self.result.belief.soft[:, 1]

    @cached_property
    def pooled(self) -> np.ndarray:
        """Log odds (n,) of the pooled score."""
        facts, clip = self.result.belief.facts, Constants().pool.clip
        q = clip_scores(self.data.scores, clip)
        weigh = [np.array(list(each.values())) for each in (facts.standing, facts.pool_weights)]
        pool = log_pool(q, np.ones(q.shape[:2], bool), *(each / each.sum() for each in weigh))
        return pool[:, 1] - pool[:, 0]

    def find_column(self, model: str) -> int:
        return list(self.data.models).index(model)


def write_legend(canvas: Canvas, *items: tuple[str, str], x: float = 440, y: float = 40) -> None:
    """Words in the color of what they name."""
    for place, (words, color) in enumerate(items):
        canvas.write_text(x, y + 18 * place, words, color)


def draw_rows(sample: Sample) -> Canvas:
    canvas = Canvas(
        "Scores of two classifiers on 500 unlabeled rows, hollow and grey, and 30 labeled ones, "
        "filled: most lie in two corners, where both classifiers agree",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220)
    panel.draw_axes("score of boosting", "score of logistic")
    panel.draw_ticks((0, 0.5, 1), (0, 0.5, 1))
    first, second = (sample.scores[:, sample.find_column(m)] for m in ("boosting", "logistic"))
    shown = np.flatnonzero(~sample.data.labeled)[:500]
    panel.draw_dots(first[shown], second[shown])
    high, low = (sample.data.labeled & (sample.truth == digit) for digit in (1, 0))
    panel.draw_dots(first[high], second[high], VERMILION, filled=True)
    for a, b in zip(first[low], second[low], strict=True):
        canvas.draw_box(panel.map_x(a) - 3, panel.map_y(b) - 3, 6, 6, BLUE)
    write_legend(
        canvas,
        ("● labeled: five or more", VERMILION),
        ("■ labeled: below five", BLUE),
        ("○ unlabeled", GREY),
    )
    return canvas


def draw_labels_alone(sample: Sample) -> Canvas:
    canvas = Canvas(
        "Accuracy of six classifiers with 95% intervals: wide ones from 30 labels alone, narrower "
        "ones from labels and unlabeled rows, and crosses at the truth",
        WIDTH,
        340,
    )
    panel = Panel(canvas, 110, 20, 320, 270, (0.55, 1.0))
    panel.draw_axes("accuracy")
    panel.draw_ticks((0.6, 0.7, 0.8, 0.9, 1.0))
    table = [row for row in sample.result.rows() if row["metric"] == "accuracy"]
    for place, row in enumerate(sorted(table, key=lambda row: -row["estimate"])):
        at = 1 - (place + 0.5) / len(table)
        name, j = row["model"], sample.find_column(row["model"])
        canvas.write_text(panel.left - 10, panel.map_y(at) + 4, name, INK, "end")
        ends = (row["labels_only_low"], row["labels_only"], row["labels_only_high"])
        panel.draw_interval(*ends, at + 0.03, VERMILION)
        panel.draw_interval(row["low"], row["estimate"], row["high"], at - 0.03, BLUE)
        panel.draw_cross(sample.right[:, j].mean(), at)
    write_legend(
        canvas, ("30 labels alone", VERMILION), ("auto", BLUE), ("× the truth", INK), x=445
    )
    return canvas


def draw_agreement(sample: Sample) -> Canvas:
    canvas = Canvas(
        "Share of rows on which each classifier differs from the others, and its true error: who "
        "differs more errs more",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220, (0, 0.26), (0, 0.26))
    panel.draw_axes("share of rows on which it differs from most others", "its true error")
    panel.draw_ticks((0, 0.1, 0.2), (0, 0.1, 0.2))
    panel.draw_rule((0, 0), (0.26, 0.26))
    constants = Constants()
    q = clip_scores(sample.data.scores, constants.pool.clip)
    told = summarize_scores(q, np.ones(q.shape[:2], bool), constants.agreement)
    for j, name in enumerate(sample.data.models):
        x, y = float(told.disagreement[j]), float(1 - sample.right[:, j].mean())
        canvas.draw_dot(panel.map_x(x), panel.map_y(y), BLUE, filled=True)
        anchor, dx, dy = NAME_PLACES[name]
        canvas.write_text(panel.map_x(x) + dx, panel.map_y(y) + dy, name, INK, anchor, 11)
    write_legend(canvas, ("No label is needed", INK), ("for the horizontal axis.", INK), x=425)
    return canvas


def draw_recalibration(sample: Sample) -> Canvas:
    canvas = Canvas(
        "A logistic curve from 0 to 1 over the log odds of the pooled score, with thirty plausible "
        "curves around it and the 30 labels at heights 0 and 1",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220, (-7, 7), (-0.06, 1.06))
    panel.draw_axes("log odds of the pooled score", "P(five or more)")
    panel.draw_ticks((-6, -3, 0, 3, 6), (0, 0.5, 1))
    facts = sample.result.belief.facts
    x = np.linspace(-7, 7, 80)
    usual = sample.result.belief.draw_posteriors(np.arange(sample.data.n_rows))[:30, :, 1]
    for draw in usual:
        slope, shift = np.polyfit(sample.pooled, np.log(draw / (1 - draw)), 1)
        points = " ".join(
            f"{panel.map_x(a):.1f},{panel.map_y(b):.1f}"
            for a, b in zip(x, expit(slope * x + shift), strict=True)
        )
        canvas.parts.append(
            f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-opacity="0.18"/>'
        )
    panel.draw_curve(x, expit(facts.prior_temperature * x), GREY, dashed=True)
    slope, shift = np.polyfit(
        sample.pooled, np.log(sample.probability / (1 - sample.probability)), 1
    )
    panel.draw_curve(x, expit(slope * x + shift), BLUE)
    known = sample.data.labeled
    panel.draw_dots(
        np.clip(sample.pooled[known], -7, 7), sample.truth[known], VERMILION, filled=True
    )
    write_legend(
        canvas,
        ("labels", VERMILION),
        ("before labels (dashed)", GREY),
        ("after labels", BLUE),
        ("thin: other curves that", BLUE),
        ("labels leave possible", BLUE),
    )
    return canvas


def draw_plug_in(sample: Sample) -> Canvas:
    canvas = Canvas(
        "Rows in the order of the probability that the logistic classifier is right about them: "
        "the area below the curve is its estimated accuracy",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220)
    panel.draw_axes("rows, surest first (share of all)", "P(the answer of logistic is right)")
    panel.draw_ticks((0, 0.5, 1), (0, 0.5, 1))
    answer = sample.scores[:, sample.find_column("logistic")] >= 0.5
    chance = np.where(answer, sample.probability, 1 - sample.probability)
    order = np.argsort(-chance)
    x = np.linspace(0, 1, len(order))
    keep = np.linspace(0, len(order) - 1, 150).astype(int)
    panel.draw_hill(x[keep], chance[order][keep], BLUE)
    share = sample.right[:, sample.find_column("logistic")][order]
    for start in range(0, len(order) - 40, 80):
        part = slice(start, start + 80)
        panel.draw_cross(float(x[part].mean()), float(share[part].mean()))
    write_legend(
        canvas,
        (f"area: {chance.mean():.3f}", BLUE),
        (f"truth: {share.mean():.3f}", INK),
        ("× share truly right,", INK),
        ("80 rows at a time", INK),
    )
    return canvas


def draw_draws(sample: Sample) -> Canvas:
    first, second = "boosting", "neural_net"
    values = sample.result.estimate("accuracy").draws
    a, b = (values[:, sample.find_column(name)] for name in (first, second))
    better = float((a > b).mean() + 0.5 * (a == b).mean())
    canvas = Canvas(
        f"{len(a):,} draws of the accuracies of {first} and {second}: nearly all lie below the "
        "diagonal, although the two intervals overlap",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220, (0.8, 1.0), (0.8, 1.0))
    panel.draw_axes(f"accuracy of {first}", f"accuracy of {second}")
    panel.draw_ticks((0.8, 0.9, 1.0), (0.8, 0.9, 1.0), ".1f")
    panel.draw_rule((0.8, 0.8), (1.0, 1.0))
    panel.draw_dots(np.clip(a, 0.8, 1), np.clip(b, 0.8, 1), BLUE)
    truth = sample.right.mean(axis=0)
    panel.draw_cross(truth[sample.find_column(first)], truth[sample.find_column(second)])
    write_legend(
        canvas,
        ("one draw of the world", BLUE),
        ("× the truth", INK),
        (f"below the line: {better:.0%}", INK),
    )
    return canvas


def draw_reliability(sample: Sample) -> Canvas:
    canvas = Canvas(
        "Share of rows that truly are five or more, over the probability: that of the method lies "
        "near the diagonal, the mean score is too vague",
        WIDTH,
        HEIGHT,
    )
    panel = Panel(canvas, 60, 26, 350, 220)
    panel.draw_axes("probability", "share that truly is five or more")
    panel.draw_ticks((0, 0.5, 1), (0, 0.5, 1))
    panel.draw_rule((0, 0), (1, 1))
    for values, color, dashed in (
        (sample.scores.mean(axis=1), GREEN, True),
        (sample.probability, BLUE, False),
    ):
        cuts = np.quantile(values, np.linspace(0, 1, 13)[1:-1])
        place = np.searchsorted(cuts, values)
        x = [float(values[place == k].mean()) for k in range(12)]
        y = [float(sample.truth[place == k].mean()) for k in range(12)]
        panel.draw_curve(x, y, color, dashed)
        panel.draw_dots(x, y, color, filled=True)
    write_legend(canvas, ("by auto", BLUE), ("mean score (dashed)", GREEN))
    return canvas


PICTURES = {
    "1-rows": draw_rows,
    "2-agreement": draw_agreement,
    "3-recalibration": draw_recalibration,
    "4-plug-in": draw_plug_in,
    "5-draws": draw_draws,
    "6-estimates": draw_labels_alone,
    "7-reliability": draw_reliability,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    sample = Sample.read()
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(sample).to_svg(), encoding="utf-8")
    print(f"{len(PICTURES)} pictures in {FOLDER.relative_to(FOLDER.parents[2])}")


if __name__ == "__main__":
    main()
