"""The pictures of docs/warnings-*.md: one small SVG a code, what the warning looks like.

Run: python scripts/draw_warnings.py

The rows are made up, with a fixed seed: a picture shows the pattern that a check looks for, not a
result. The words of a picture, for those who cannot see it, are the first argument of its canvas.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from canvas import BLUE, GREEN, GREY, INK, PALE, VERMILION, Canvas, Panel, count_right

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "warnings"
Draw = Callable[[np.random.Generator], Canvas]
SIDE = 262
"""Where the words beside a panel begin."""


def say(canvas: Canvas, *lines: str, at: float = 40) -> Canvas:
    """Words beside the panel."""
    for place, line in enumerate(lines):
        canvas.write_text(SIDE, at + 17 * place, line)
    return canvas


def draw_key(canvas: Canvas, at: float = 110) -> Canvas:
    """What filled and hollow dots are."""
    canvas.draw_dot(SIDE + 4, at - 4, VERMILION, filled=True)
    canvas.write_text(SIDE + 14, at, "labeled rows", GREY, size=11)
    canvas.draw_dot(SIDE + 4, at + 13, GREY)
    canvas.write_text(SIDE + 14, at + 17, "unlabeled rows", GREY, size=11)
    return canvas


def simulate_scores(rng: np.random.Generator, n: int = 70) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two classifiers that mostly agree."""
    truth = rng.random(n) < 0.5
    first, second = (
        1 / (1 + np.exp(-(2.2 * (2 * truth - 1) + rng.normal(0, 1.3, n)))) for _ in range(2)
    )
    return first, second


def draw_no_labels(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers on many rows; no row has a label")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    panel.draw_dots(*simulate_scores(rng))
    return draw_key(say(canvas, "Every row is hollow:", "nothing can contradict", "the scores."))


def draw_few_of_a_class(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Number of labels of two classes: 27 of one and 3 of the other, below five")
    panel = Panel(canvas, y_range=(0, 30))
    panel.draw_axes("class", "labels")
    panel.draw_bars([27, 3], VERMILION, gap=0.5)
    panel.draw_rule((0, 5), (1, 5))
    canvas.write_text(panel.map_x(0.25), panel.map_y(27) - 4, "no: 27", INK, "middle", 11)
    canvas.write_text(panel.map_x(0.75), panel.map_y(5) - 5, "yes: 3", INK, "middle", 11)
    return say(canvas, "Recall of 'yes' rests", "on 3 labels. The dashed", "line is at 5.")


def draw_none_unlabeled(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers; every row is labeled")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    panel.draw_dots(*simulate_scores(rng, 40), VERMILION, filled=True)
    return draw_key(say(canvas, "Every row is filled:", "there is nothing", "left to infer."))


def compute_bell(x: np.ndarray, middle: float, spread: float) -> np.ndarray:
    """A bell curve of height one."""
    return np.exp(-0.5 * ((x - middle) / spread) ** 2)


def draw_unlike_rows(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Top scores of labeled rows lie higher than those of unlabeled rows")
    panel = Panel(canvas, x_range=(0.5, 1), y_range=(0, 1.1))
    panel.draw_axes("top score of a row", "share of rows")
    x = np.linspace(0.5, 1, 60)
    panel.draw_hill(x, 0.7 * compute_bell(x, 0.72, 0.13), GREY)
    panel.draw_hill(x, compute_bell(x, 0.93, 0.05), VERMILION)
    return draw_key(say(canvas, "Somebody labeled the", "easy rows. They are no", "random sample."))


def draw_heavy_weights(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Weights of rows: two rows weigh as much as all others together")
    panel = Panel(canvas, y_range=(0, 1))
    panel.draw_axes("rows, heaviest first", "weight")
    panel.draw_bars([1.0, 0.62, *(0.09 * np.exp(-0.1 * np.arange(18)) + 0.03)], BLUE)
    return say(canvas, "Two rows decide the", "result. The others", "hardly count.")


def draw_missing_scores(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "A table of rows and classifiers; classifier C has no score on half of the rows"
    )
    left, top, size = 60, 32, 13
    for column, name in enumerate("ABCD"):
        canvas.write_text(left + 40 * column + 15, top - 8, name, INK, "middle")
        for row in range(9):
            there = column != 2 or row in (0, 3, 4, 8)
            canvas.draw_box(
                left + 40 * column, top + size * row, 30, size - 3, BLUE if there else PALE, there
            )
    canvas.write_text(left - 8, top + 62, "rows", GREY, "end", 11)
    return say(
        canvas, "C scored 4 of 9 rows,", "perhaps the easy ones.", "Its metrics are about", "those."
    )


def draw_small_groups(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Number of labels in six groups; two have fewer than five")
    panel = Panel(canvas, y_range=(0, 16))
    panel.draw_axes("groups", "labels")
    panel.draw_bars([15, 12, 9, 7, 3, 1], VERMILION)
    panel.draw_rule((0, 5), (1, 5))
    return say(canvas, "What is said of the two", "small groups rests on", "labels of other rows.")


def draw_shifted_rows(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of labeled rows, and those of unlabeled rows moved to the right")
    panel = Panel(canvas, y_range=(0, 1.1))
    panel.draw_axes("score", "share of rows")
    x = np.linspace(0, 1, 60)
    panel.draw_hill(x, compute_bell(x, 0.35, 0.16), VERMILION)
    panel.draw_hill(x, compute_bell(x, 0.55, 0.16), GREY)
    return draw_key(say(canvas, "Labels are of then,", "rows are of now."))


def draw_assumed_shift(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "Labels of two classes on one range of scores, before and after; which classes the new "
        "rows have is not known"
    )
    panel = Panel(canvas, y_range=(0, 1.1))
    panel.draw_axes("score", "share of rows")
    x = np.linspace(0, 1, 60)
    panel.draw_hill(x, 0.6 * compute_bell(x, 0.3, 0.13), VERMILION)
    panel.draw_hill(x, 0.6 * compute_bell(x, 0.6, 0.13), BLUE)
    panel.draw_hill(x, compute_bell(x, 0.55, 0.16), GREY)
    return draw_key(say(canvas, "More of one class, or", "other rows? Scores", "cannot tell."))


def draw_copied_rows(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers; labeled rows lie on top of each other in pairs")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    panel.draw_dots(*simulate_scores(rng))
    x, y = simulate_scores(rng, 12)
    panel.draw_dots(x, y, VERMILION, filled=True)
    panel.draw_dots(x + 0.012, y + 0.02, VERMILION, filled=True)
    return draw_key(say(canvas, "Every labeled row", "is there twice: its", "label counts twice."))


def draw_right_answers(
    rng: np.random.Generator, seen: int, words: tuple[str, ...], alt: str
) -> Canvas:
    """How many answers should be right by the scores, and how many are."""
    canvas = Canvas(alt)
    chances = 0.6 + 0.35 * rng.random(30)
    law = count_right(chances)
    panel = Panel(canvas, x_range=(8, 31), y_range=(0, 1.15 * law.max()))
    panel.draw_axes("right answers of 30", "probability by its scores")
    counts = np.arange(8, 31)
    panel.draw_hill(counts, law[8:31], BLUE)
    canvas.draw_line(panel.map_x(seen), panel.top, panel.map_x(seen), panel.map_y(0), VERMILION)
    return say(canvas, *words)


def draw_clusters(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of rows in six clusters: rows of one cluster have similar scores")
    panel = Panel(canvas)
    panel.draw_axes("cluster", "score")
    for place, center in enumerate(rng.permutation(np.linspace(0.12, 0.88, 6))):
        x = np.full(5, (place + 0.5) / 6)
        panel.draw_dots(x, center + rng.normal(0, 0.03, 5), VERMILION, filled=True)
    return say(canvas, "30 rows, but only 6", "clusters: they say little", "more than 6 rows.")


def draw_proposals(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Labels and proposals of nine rows; the two agree on all rows but one")
    panel = Panel(canvas, left=70, width=175, x_range=(-1, 9))
    proposed, labels = (np.array([1, 0, 1, 1, 0, 0, 1, 0, 1]) for _ in range(2))
    labels[5] = 1
    for name, at, classes in (("proposal", 0.7, proposed), ("label", 0.3, labels)):
        canvas.write_text(panel.left - 8, panel.map_y(at) + 4, name, INK, "end")
        for place, each in enumerate(classes):
            color = VERMILION if each else BLUE
            canvas.draw_dot(panel.map_x(place), panel.map_y(at), color, filled=True)
    return say(canvas, "Eight labels of nine", "are as proposed. Would", "they be without?")


def draw_overconfident(rng: np.random.Generator) -> Canvas:
    words = ("Its scores promise the", "blue curve; the labels", "count 13, far below it.")
    alt = "Right answers promised by the scores, about 23 of 30, and those seen, 13"
    return draw_right_answers(rng, 13, words, alt)


def draw_vague(rng: np.random.Generator) -> Canvas:
    words = ("Its scores promise the", "blue curve; the labels", "count 30, far above it.")
    alt = "Right answers promised by the scores, about 23 of 30, and those seen, 30"
    return draw_right_answers(rng, 30, words, alt)


def draw_worse_than_chance(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An ROC curve that lies below the diagonal")
    panel = Panel(canvas)
    panel.draw_axes("false positive rate", "true positive rate")
    x = np.linspace(0, 1, 40)
    panel.draw_rule((0, 0), (1, 1))
    panel.draw_curve(x, x**3, BLUE)
    return say(canvas, "Turned around it would", "be good: two columns", "are probably swapped.")


def draw_against_the_others(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of one classifier fall where the mean score of the others rises")
    panel = Panel(canvas)
    panel.draw_axes("mean score of the others", "score of C")
    first, second = simulate_scores(rng)
    panel.draw_dots(first, 1 - second, BLUE)
    return say(canvas, "C says no where the", "others say yes.")


def draw_near_duplicates(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers lie on the diagonal")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    first, _ = simulate_scores(rng)
    panel.draw_dots(first, np.clip(first + rng.normal(0, 0.008, first.size), 0, 1), BLUE)
    return say(canvas, "B is a copy of A. An", "error of both looks like", "agreement.")


def draw_one_or_two(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Two classifiers disagree in two corners; nothing says which one is right")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    panel.draw_dots(*simulate_scores(rng))
    panel.draw_rule((0.5, 0), (0.5, 1))
    panel.draw_rule((0, 0.5), (1, 0.5))
    for x, y in ((0.25, 0.72), (0.75, 0.22)):
        canvas.write_text(panel.map_x(x), panel.map_y(y), "?", VERMILION, "middle", 24)
    return say(canvas, "Where two disagree,", "nobody else says which", "one is right.")


def draw_constant_scores(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("A histogram of scores with a single bar")
    panel = Panel(canvas)
    panel.draw_axes("score of C", "share of rows")
    panel.draw_bars([0, 0, 0, 0, 0, 0, 0.95, 0, 0, 0], BLUE)
    return say(canvas, "Every row has the same", "score: C ranks nothing.")


def draw_by_chance(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers without any relation, although both are sure")
    panel = Panel(canvas)
    panel.draw_axes("score of A", "score of B")
    panel.draw_dots(*(rng.beta(0.35, 0.35, 90) for _ in range(2)), BLUE)
    return say(
        canvas,
        "Both are sure, and they",
        "agree by chance only:",
        "perhaps the rows are in",
        "another order.",
    )


def draw_agreement_against_confidence(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "Two curves of a pooled score: as sharp as agreement says, and as the scores say"
    )
    panel = Panel(canvas, x_range=(-4, 4))
    panel.draw_axes("log odds of a row", "probability of the class")
    x = np.linspace(-4, 4, 60)
    panel.draw_curve(x, 1 / (1 + np.exp(-2.2 * x)), BLUE)
    panel.draw_curve(x, 1 / (1 + np.exp(-0.7 * x)), GREEN, dashed=True)
    canvas.write_text(SIDE, 42, "as the scores say", BLUE)
    canvas.write_text(SIDE, 60, "dashed: as agreement", GREEN)
    canvas.write_text(SIDE, 75, "says", GREEN)
    return say(canvas, "Both curves cannot be", "right.", at=103)


def draw_ratings(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("A histogram of scores with five bars at equal distances")
    panel = Panel(canvas)
    panel.draw_axes("score of C", "share of rows")
    panel.draw_bars([v for h in (0.3, 0.5, 0.85, 0.7, 0.4) for v in (0, h, 0)], BLUE, gap=0.1)
    return say(canvas, "Five values at equal", "steps: grades from 1 to", "5 are no probabilities.")


def draw_consensus(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("The mean score promises to be right in 93%; the labels say 55 to 84%")
    panel = Panel(canvas, left=30, width=215, x_range=(0.4, 1))
    panel.draw_axes("right answers of the consensus")
    canvas.draw_dot(panel.map_x(0.93), panel.map_y(0.72), BLUE, filled=True)
    canvas.write_text(panel.map_x(0.93), panel.map_y(0.72) - 9, "promised", BLUE, "middle", 11)
    panel.draw_interval(0.55, 0.71, 0.84, 0.3, VERMILION)
    canvas.write_text(
        panel.map_x(0.7), panel.map_y(0.3) - 9, "by the labels", VERMILION, "middle", 11
    )
    return say(canvas, "The classifiers err", "together. Unlabeled", "rows cannot show it.")


def draw_unanimous(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Ten labeled rows on which all three classifiers agree; four of them are wrong")
    left, top = 66, 30
    for column, name in enumerate(("A", "B", "C", "label")):
        canvas.write_text(left + 44 * column + 15, top - 8, name, INK, "middle", 11)
    for row, wrong in enumerate((0, 0, 1, 0, 1, 1, 0, 0, 1, 0)):
        for column in range(4):
            color = VERMILION if column == 3 and wrong else BLUE
            canvas.draw_box(left + 44 * column, top + 12 * row, 30, 8, color)
    canvas.write_text(left - 8, top + 62, "rows", GREY, "end", 11)
    return say(canvas, "All three say the same,", "and 4 of 10 labels", "say otherwise.")


def draw_not_converged(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An objective that still rises at the last step")
    panel = Panel(canvas, x_range=(0, 1.15))
    panel.draw_axes("steps", "objective")
    x = np.linspace(0, 0.8, 40)
    panel.draw_curve(x, 0.15 + 0.75 * x / (x + 0.35), BLUE)
    canvas.draw_line(
        panel.map_x(0.8), panel.top, panel.map_x(0.8), panel.map_y(0), VERMILION, dashed=True
    )
    canvas.write_text(panel.map_x(0.82), panel.map_y(0.1), "last step", VERMILION, size=11)
    return say(canvas, "The fit was cut off", "while it still moved.")


def draw_ignores_the_data(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Accuracies under the fitted posterior equal those under the mean score")
    panel = Panel(canvas, x_range=(0.6, 1), y_range=(0.6, 1))
    panel.draw_axes("accuracy under the mean score", "accuracy under the posterior")
    panel.draw_rule((0.6, 0.6), (1, 1))
    means = np.array([0.66, 0.71, 0.76, 0.8, 0.86, 0.93])
    panel.draw_dots(means, means + rng.normal(0, 0.004, means.size), BLUE, filled=True)
    return say(canvas, "The fit kept its start:", "this is the mean score", "under another name.")


def draw_outside_the_labels(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An estimate of 0.95 outside the interval 0.58 to 0.88 of the labels alone")
    panel = Panel(canvas, left=30, width=215, x_range=(0.4, 1))
    panel.draw_axes("accuracy")
    panel.draw_interval(0.92, 0.95, 0.97, 0.72, BLUE)
    canvas.write_text(panel.map_x(0.95), panel.map_y(0.72) - 9, "estimate", BLUE, "middle", 11)
    panel.draw_interval(0.58, 0.75, 0.88, 0.3, VERMILION)
    canvas.write_text(
        panel.map_x(0.74), panel.map_y(0.3) - 9, "labels alone", VERMILION, "middle", 11
    )
    return say(canvas, "Random labels are the", "only evidence without", "an assumption.")


def draw_contradiction(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "An estimate of 0.86 and labels alone of 0.97, each outside the interval of the other"
    )
    panel = Panel(canvas, left=30, width=215, x_range=(0.7, 1))
    panel.draw_axes("accuracy")
    panel.draw_interval(0.8, 0.86, 0.92, 0.72, BLUE)
    canvas.write_text(panel.map_x(0.86), panel.map_y(0.72) - 9, "estimate", BLUE, "middle", 11)
    panel.draw_interval(0.89, 0.97, 0.995, 0.3, VERMILION)
    canvas.write_text(
        panel.map_x(0.95), panel.map_y(0.3) - 9, "labels alone", VERMILION, "middle", 11
    )
    return say(canvas, "Chance hardly explains", "it. The interval is", "widened to 0.97.")


def draw_correlated(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "Two clouds of scores of two classifiers within a class: one along a line, one round"
    )
    panel = Panel(canvas, left=30, width=215, x_range=(-4, 10), y_range=(-4, 4))
    panel.draw_axes("scores of A", "scores of B")
    x, noise = rng.normal(size=(2, 60))
    for shift, y in ((0.0, 0.95 * x + 0.3 * noise), (6.0, noise)):
        for one, other in zip(x, y, strict=True):
            canvas.draw_dot(panel.map_x(one + shift), panel.map_y(other), BLUE)
    return say(canvas, "Left: one model twice.", "Right: independent", "errors. Both are rare.")


def draw_another_world(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Probabilities of three regimes; that of the usual one is below one half")
    panel = Panel(canvas)
    panel.draw_axes("", "probability")
    panel.draw_bars([0.28, 0.62, 0.1], BLUE, gap=0.4)
    panel.draw_rule((0, 0.5), (1, 0.5))
    for place, name in enumerate(("usual", "too sharp", "others")):
        x = panel.left + panel.width * (place + 0.5) / 3
        canvas.write_text(x, panel.top + panel.height + 16, name, INK, "middle", 11)
    return say(canvas, "Scores are probably too", "sharp. Only labels can", "tell.")


def draw_best_pulled(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Estimates of four classifiers; labels say that the best one is better still")
    panel = Panel(canvas, left=52, width=190, x_range=(0.6, 1))
    panel.draw_axes("accuracy")
    for place, (name, value, alone) in enumerate(
        (("A", 0.84, 0.97), ("B", 0.79, 0.8), ("C", 0.77, 0.73), ("D", 0.74, 0.77))
    ):
        at = 0.88 - 0.25 * place
        panel.draw_interval(value - 0.04, value, value + 0.04, at, BLUE)
        canvas.draw_dot(panel.map_x(alone), panel.map_y(at), VERMILION, filled=True)
        canvas.write_text(panel.left - 8, panel.map_y(at) + 4, name, INK, "end")
    canvas.write_text(SIDE, 110, "estimate", BLUE, size=11)
    canvas.write_text(SIDE, 127, "labels alone", VERMILION, size=11)
    return say(canvas, "A is drawn towards the", "others.")


def draw_without_width(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An estimate of 1 without a width beside the interval 0.89 to 1 of labels")
    panel = Panel(canvas, left=30, width=215, x_range=(0.7, 1.05))
    panel.draw_axes("accuracy")
    panel.draw_interval(1.0, 1.0, 1.0, 0.72, BLUE)
    canvas.write_text(panel.map_x(0.98), panel.map_y(0.72) + 4, "estimate", BLUE, "end", 11)
    panel.draw_interval(0.89, 1.0, 1.0, 0.3, VERMILION)
    canvas.write_text(
        panel.map_x(0.945), panel.map_y(0.3) - 9, "labels alone", VERMILION, "middle", 11
    )
    return say(canvas, "30 of 30 right is no", "proof that all are.")


PICTURES: dict[str, Draw] = {
    "D101": draw_no_labels,
    "D102": draw_few_of_a_class,
    "D103": draw_none_unlabeled,
    "D104": draw_unlike_rows,
    "D105": draw_heavy_weights,
    "D106": draw_missing_scores,
    "D107": draw_small_groups,
    "D108": draw_shifted_rows,
    "D109": draw_assumed_shift,
    "D110": draw_clusters,
    "D111": draw_copied_rows,
    "D112": draw_proposals,
    "D201": draw_overconfident,
    "D202": draw_worse_than_chance,
    "D203": draw_against_the_others,
    "D204": draw_near_duplicates,
    "D205": draw_one_or_two,
    "D206": draw_constant_scores,
    "D207": draw_by_chance,
    "D208": draw_agreement_against_confidence,
    "D209": draw_vague,
    "D210": draw_ratings,
    "D301": draw_consensus,
    "D302": draw_unanimous,
    "D303": draw_not_converged,
    "D304": draw_ignores_the_data,
    "D305": draw_outside_the_labels,
    "D306": draw_another_world,
    "D307": draw_best_pulled,
    "D308": draw_without_width,
    "D309": draw_contradiction,
    "D310": draw_correlated,
}


def draw_all() -> dict[str, str]:
    """Every picture as SVG, by its code."""
    return {code: draw(np.random.default_rng(7)).to_svg() for code, draw in PICTURES.items()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for code, picture in draw_all().items():
        (FOLDER / f"{code.lower()}.svg").write_text(picture, encoding="utf-8")
    print(f"{len(PICTURES)} pictures in {FOLDER.relative_to(FOLDER.parents[2])}")


if __name__ == "__main__":
    main()
