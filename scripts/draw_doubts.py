"""The pictures of docs/doubts.md: one small SVG a code, what the doubt looks like.

Run: python scripts/draw_doubts.py

The rows are made up, with a fixed seed: a picture shows the pattern that a check looks for, not a
result. The words of a picture, for those who cannot see it, are the first argument of its canvas.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from canvas import BLUE, GREEN, GREY, INK, PALE, VERMILION, Canvas, Panel, count_right

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "doubts"
Draw = Callable[[np.random.Generator], Canvas]
SIDE = 262
"""Where the words beside a panel begin."""


def say(canvas: Canvas, *lines: str, at: float = 40) -> Canvas:
    """Words beside the panel."""
    for place, line in enumerate(lines):
        canvas.text(SIDE, at + 17 * place, line)
    return canvas


def key(canvas: Canvas, at: float = 110) -> Canvas:
    """What filled and hollow dots are."""
    canvas.dot(SIDE + 4, at - 4, VERMILION, filled=True)
    canvas.text(SIDE + 14, at, "labeled rows", GREY, size=11)
    canvas.dot(SIDE + 4, at + 13, GREY)
    canvas.text(SIDE + 14, at + 17, "unlabeled rows", GREY, size=11)
    return canvas


def two_scores(rng: np.random.Generator, n: int = 70) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two classifiers that mostly agree."""
    truth = rng.random(n) < 0.5
    first, second = (
        1 / (1 + np.exp(-(2.2 * (2 * truth - 1) + rng.normal(0, 1.3, n)))) for _ in range(2)
    )
    return first, second


def no_labels(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers on many rows; no row has a label")
    panel = Panel(canvas)
    panel.frame("score of A", "score of B")
    panel.dots(*two_scores(rng))
    return key(say(canvas, "Every row is hollow:", "nothing can contradict", "the scores."))


def few_of_a_class(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Number of labels of two classes: 27 of one and 3 of the other, below five")
    panel = Panel(canvas, y_range=(0, 30))
    panel.frame("class", "labels")
    panel.bars([27, 3], VERMILION, gap=0.5)
    panel.rule((0, 5), (1, 5))
    canvas.text(panel.x(0.25), panel.y(27) - 4, "no: 27", INK, "middle", 11)
    canvas.text(panel.x(0.75), panel.y(5) - 5, "yes: 3", INK, "middle", 11)
    return say(canvas, "Recall of 'yes' rests", "on 3 labels. The dashed", "line is at 5.")


def none_unlabeled(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers; every row is labeled")
    panel = Panel(canvas)
    panel.frame("score of A", "score of B")
    panel.dots(*two_scores(rng, 40), VERMILION, filled=True)
    return key(say(canvas, "Every row is filled:", "there is nothing", "left to infer."))


def bell(x: np.ndarray, middle: float, spread: float) -> np.ndarray:
    """A bell curve of height one."""
    return np.exp(-0.5 * ((x - middle) / spread) ** 2)


def unlike_rows(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Top scores of labeled rows lie higher than those of unlabeled rows")
    panel = Panel(canvas, x_range=(0.5, 1), y_range=(0, 1.1))
    panel.frame("top score of a row", "share of rows")
    x = np.linspace(0.5, 1, 60)
    panel.hill(x, 0.7 * bell(x, 0.72, 0.13), GREY)
    panel.hill(x, bell(x, 0.93, 0.05), VERMILION)
    return key(say(canvas, "Somebody labeled the", "easy rows. They are no", "random sample."))


def heavy_weights(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Weights of rows: two rows weigh as much as all others together")
    panel = Panel(canvas, y_range=(0, 1))
    panel.frame("rows, heaviest first", "weight")
    panel.bars([1.0, 0.62, *(0.09 * np.exp(-0.1 * np.arange(18)) + 0.03)], BLUE)
    return say(canvas, "Two rows decide the", "result. The others", "hardly count.")


def missing_scores(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "A table of rows and classifiers; classifier C has no score on half of the rows"
    )
    left, top, size = 60, 32, 13
    for column, name in enumerate("ABCD"):
        canvas.text(left + 40 * column + 15, top - 8, name, INK, "middle")
        for row in range(9):
            there = column != 2 or row in (0, 3, 4, 8)
            canvas.box(
                left + 40 * column, top + size * row, 30, size - 3, BLUE if there else PALE, there
            )
    canvas.text(left - 8, top + 62, "rows", GREY, "end", 11)
    return say(
        canvas, "C scored 4 of 9 rows,", "perhaps the easy ones.", "Its metrics are about", "those."
    )


def small_groups(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Number of labels in six groups; two have fewer than five")
    panel = Panel(canvas, y_range=(0, 16))
    panel.frame("groups", "labels")
    panel.bars([15, 12, 9, 7, 3, 1], VERMILION)
    panel.rule((0, 5), (1, 5))
    return say(canvas, "What is said of the two", "small groups rests on", "labels of other rows.")


def shifted_rows(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of labeled rows, and those of unlabeled rows moved to the right")
    panel = Panel(canvas, y_range=(0, 1.1))
    panel.frame("score", "share of rows")
    x = np.linspace(0, 1, 60)
    panel.hill(x, bell(x, 0.35, 0.16), VERMILION)
    panel.hill(x, bell(x, 0.55, 0.16), GREY)
    return key(say(canvas, "Labels are of then,", "rows are of now."))


def right_answers(rng: np.random.Generator, seen: int, words: tuple[str, ...], alt: str) -> Canvas:
    """How many answers should be right by the scores, and how many are."""
    canvas = Canvas(alt)
    chances = 0.6 + 0.35 * rng.random(30)
    law = count_right(chances)
    panel = Panel(canvas, x_range=(8, 31), y_range=(0, 1.15 * law.max()))
    panel.frame("right answers of 30", "probability by its scores")
    counts = np.arange(8, 31)
    panel.hill(counts, law[8:31], BLUE)
    canvas.line(panel.x(seen), panel.top, panel.x(seen), panel.y(0), VERMILION)
    return say(canvas, *words)


def overconfident(rng: np.random.Generator) -> Canvas:
    words = ("Its scores promise the", "blue curve; the labels", "count 13, far below it.")
    alt = "Right answers promised by the scores, about 23 of 30, and those seen, 13"
    return right_answers(rng, 13, words, alt)


def vague(rng: np.random.Generator) -> Canvas:
    words = ("Its scores promise the", "blue curve; the labels", "count 30, far above it.")
    alt = "Right answers promised by the scores, about 23 of 30, and those seen, 30"
    return right_answers(rng, 30, words, alt)


def worse_than_chance(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An ROC curve that lies below the diagonal")
    panel = Panel(canvas)
    panel.frame("false positive rate", "true positive rate")
    x = np.linspace(0, 1, 40)
    panel.rule((0, 0), (1, 1))
    panel.curve(x, x**3, BLUE)
    return say(canvas, "Turned around it would", "be good: two columns", "are probably swapped.")


def against_the_others(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of one classifier fall where the mean score of the others rises")
    panel = Panel(canvas)
    panel.frame("mean score of the others", "score of C")
    first, second = two_scores(rng)
    panel.dots(first, 1 - second, BLUE)
    return say(canvas, "C says no where the", "others say yes.")


def near_duplicates(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers lie on the diagonal")
    panel = Panel(canvas)
    panel.frame("score of A", "score of B")
    first, _ = two_scores(rng)
    panel.dots(first, np.clip(first + rng.normal(0, 0.008, first.size), 0, 1), BLUE)
    return say(canvas, "B is a copy of A. An", "error of both looks like", "agreement.")


def one_or_two(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Two classifiers disagree in two corners; nothing says which one is right")
    panel = Panel(canvas)
    panel.frame("score of A", "score of B")
    panel.dots(*two_scores(rng))
    panel.rule((0.5, 0), (0.5, 1))
    panel.rule((0, 0.5), (1, 0.5))
    for x, y in ((0.25, 0.72), (0.75, 0.22)):
        canvas.text(panel.x(x), panel.y(y), "?", VERMILION, "middle", 24)
    return say(canvas, "Where two disagree,", "nobody else says which", "one is right.")


def constant_scores(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("A histogram of scores with a single bar")
    panel = Panel(canvas)
    panel.frame("score of C", "share of rows")
    panel.bars([0, 0, 0, 0, 0, 0, 0.95, 0, 0, 0], BLUE)
    return say(canvas, "Every row has the same", "score: C ranks nothing.")


def by_chance(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Scores of two classifiers without any relation, although both are sure")
    panel = Panel(canvas)
    panel.frame("score of A", "score of B")
    panel.dots(*(rng.beta(0.35, 0.35, 90) for _ in range(2)), BLUE)
    return say(
        canvas,
        "Both are sure, and they",
        "agree by chance only:",
        "perhaps the rows are in",
        "another order.",
    )


def agreement_against_confidence(rng: np.random.Generator) -> Canvas:
    canvas = Canvas(
        "Two curves of a pooled score: as sharp as agreement says, and as the scores say"
    )
    panel = Panel(canvas, x_range=(-4, 4))
    panel.frame("log odds of a row", "probability of the class")
    x = np.linspace(-4, 4, 60)
    panel.curve(x, 1 / (1 + np.exp(-2.2 * x)), BLUE)
    panel.curve(x, 1 / (1 + np.exp(-0.7 * x)), GREEN, dashed=True)
    canvas.text(SIDE, 42, "as the scores say", BLUE)
    canvas.text(SIDE, 60, "as agreement says (dashed)", GREEN)
    return say(canvas, "Both curves cannot be", "right.", at=88)


def ratings(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("A histogram of scores with five bars at equal distances")
    panel = Panel(canvas)
    panel.frame("score of C", "share of rows")
    panel.bars([v for h in (0.3, 0.5, 0.85, 0.7, 0.4) for v in (0, h, 0)], BLUE, gap=0.1)
    return say(canvas, "Five values at equal", "steps: grades from 1 to", "5 are no probabilities.")


def consensus(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("The mean score promises to be right in 93 %; the labels say 55 to 84 %")
    panel = Panel(canvas, left=30, width=215, x_range=(0.4, 1))
    panel.frame("right answers of the consensus")
    canvas.dot(panel.x(0.93), panel.y(0.72), BLUE, filled=True)
    canvas.text(panel.x(0.93), panel.y(0.72) - 9, "promised", BLUE, "middle", 11)
    panel.interval(0.55, 0.71, 0.84, 0.3, VERMILION)
    canvas.text(panel.x(0.7), panel.y(0.3) - 9, "by the labels", VERMILION, "middle", 11)
    return say(canvas, "The classifiers err", "together. Unlabeled", "rows cannot show it.")


def unanimous(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Ten labeled rows on which all three classifiers agree; four of them are wrong")
    left, top = 66, 30
    for column, name in enumerate(("A", "B", "C", "label")):
        canvas.text(left + 44 * column + 15, top - 8, name, INK, "middle", 11)
    for row, wrong in enumerate((0, 0, 1, 0, 1, 1, 0, 0, 1, 0)):
        for column in range(4):
            color = VERMILION if column == 3 and wrong else BLUE
            canvas.box(left + 44 * column, top + 12 * row, 30, 8, color)
    canvas.text(left - 8, top + 62, "rows", GREY, "end", 11)
    return say(canvas, "All three say the same,", "and 4 of 10 labels", "say otherwise.")


def not_converged(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An objective that still rises at the last step")
    panel = Panel(canvas, x_range=(0, 1.15))
    panel.frame("steps", "objective")
    x = np.linspace(0, 0.8, 40)
    panel.curve(x, 0.15 + 0.75 * x / (x + 0.35), BLUE)
    canvas.line(panel.x(0.8), panel.top, panel.x(0.8), panel.y(0), VERMILION, dashed=True)
    canvas.text(panel.x(0.82), panel.y(0.1), "last step", VERMILION, size=11)
    return say(canvas, "The fit was cut off", "while it still moved.")


def ignores_the_data(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Accuracies under the fitted posterior equal those under the mean score")
    panel = Panel(canvas, x_range=(0.6, 1), y_range=(0.6, 1))
    panel.frame("accuracy under the mean score", "accuracy under the posterior")
    panel.rule((0.6, 0.6), (1, 1))
    means = np.array([0.66, 0.71, 0.76, 0.8, 0.86, 0.93])
    panel.dots(means, means + rng.normal(0, 0.004, means.size), BLUE, filled=True)
    return say(canvas, "The fit kept its start:", "this is the mean score", "under another name.")


def outside_the_labels(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("An estimate of 0.95 outside the interval 0.58 to 0.88 of the labels alone")
    panel = Panel(canvas, left=30, width=215, x_range=(0.4, 1))
    panel.frame("accuracy")
    panel.interval(0.92, 0.95, 0.97, 0.72, BLUE)
    canvas.text(panel.x(0.95), panel.y(0.72) - 9, "estimate", BLUE, "middle", 11)
    panel.interval(0.58, 0.75, 0.88, 0.3, VERMILION)
    canvas.text(panel.x(0.74), panel.y(0.3) - 9, "labels alone", VERMILION, "middle", 11)
    return say(canvas, "Random labels are the", "only evidence without", "an assumption.")


def another_world(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Probabilities of three worlds; the usual one has less than one half")
    panel = Panel(canvas)
    panel.frame("", "probability")
    panel.bars([0.28, 0.62, 0.1], BLUE, gap=0.4)
    panel.rule((0, 0.5), (1, 0.5))
    for place, name in enumerate(("usual", "too sharp", "others")):
        x = panel.left + panel.width * (place + 0.5) / 3
        canvas.text(x, panel.top + panel.height + 16, name, INK, "middle", 11)
    return say(canvas, "Scores are probably too", "sharp. Only labels can", "tell.")


def best_pulled(rng: np.random.Generator) -> Canvas:
    canvas = Canvas("Estimates of four classifiers; labels say that the best one is better still")
    panel = Panel(canvas, left=52, width=190, x_range=(0.6, 1))
    panel.frame("accuracy")
    for place, (name, value, alone) in enumerate(
        (("A", 0.84, 0.97), ("B", 0.79, 0.8), ("C", 0.77, 0.73), ("D", 0.74, 0.77))
    ):
        at = 0.88 - 0.25 * place
        panel.interval(value - 0.04, value, value + 0.04, at, BLUE)
        canvas.dot(panel.x(alone), panel.y(at), VERMILION, filled=True)
        canvas.text(panel.left - 8, panel.y(at) + 4, name, INK, "end")
    canvas.text(SIDE, 110, "estimate", BLUE, size=11)
    canvas.text(SIDE, 127, "labels alone", VERMILION, size=11)
    return say(canvas, "A is drawn towards the", "others.")


PICTURES: dict[str, Draw] = {
    "D101": no_labels,
    "D102": few_of_a_class,
    "D103": none_unlabeled,
    "D104": unlike_rows,
    "D105": heavy_weights,
    "D106": missing_scores,
    "D107": small_groups,
    "D108": shifted_rows,
    "D201": overconfident,
    "D202": worse_than_chance,
    "D203": against_the_others,
    "D204": near_duplicates,
    "D205": one_or_two,
    "D206": constant_scores,
    "D207": by_chance,
    "D208": agreement_against_confidence,
    "D209": vague,
    "D210": ratings,
    "D301": consensus,
    "D302": unanimous,
    "D303": not_converged,
    "D304": ignores_the_data,
    "D305": outside_the_labels,
    "D306": another_world,
    "D307": best_pulled,
}


def draw_all() -> dict[str, str]:
    """Every picture as SVG, by its code."""
    return {code: draw(np.random.default_rng(7)).svg() for code, draw in PICTURES.items()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for code, picture in draw_all().items():
        (FOLDER / f"{code.lower()}.svg").write_text(picture, encoding="utf-8")
    print(f"{len(PICTURES)} pictures in {FOLDER.relative_to(FOLDER.parents[2])}")


if __name__ == "__main__":
    main()
