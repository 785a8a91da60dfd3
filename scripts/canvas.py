"""A small canvas for SVG pictures: shapes by presentation attributes only, no style and no script.

Such a picture may stand inside a page whose policy forbids styles. Colors are those of the plots
of the library: labeled rows are vermilion and filled, unlabeled ones grey and hollow, what
classifiers say is blue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
GREY = "#767676"
PALE = "#c9cdd4"
INK = "#1a1c20"
FONT = "Helvetica, Arial, sans-serif"


@dataclass
class Canvas:
    """A picture with its words; ``parts`` are the shapes drawn so far."""

    alt: str
    width: int = 420
    height: int = 170
    parts: list[str] = field(default_factory=list)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = GREY, dashed: bool = False
    ) -> None:
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"'
            f' stroke-width="1.4"{dash}/>'
        )

    def path(
        self, x: Sequence[float], y: Sequence[float], color: str = BLUE, dashed: bool = False
    ) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
        )

    def area(self, x: Sequence[float], y: Sequence[float], color: str) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        self.parts.append(f'<polygon points="{points}" fill="{color}" fill-opacity="0.15"/>')

    def dot(self, x: float, y: float, color: str = GREY, filled: bool = False) -> None:
        fill = color if filled else "none"
        radius = 3.6 if filled else 2.4
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{color}"/>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, color: str, filled: bool = True
    ) -> None:
        fill = color if filled else "none"
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
            f' fill="{fill}" stroke="{color}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        color: str = INK,
        anchor: str = "start",
        size: int = 12,
    ) -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}"'
            f' font-size="{size}">{escape(words)}</text>'
        )

    def svg(self) -> str:
        """The picture as the text of a file."""
        words = escape(self.alt, quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
            f' viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{words}"'
            f' font-family="{FONT}">\n'
            f'<rect width="{self.width}" height="{self.height}" rx="6" fill="#ffffff"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


@dataclass
class Panel:
    """A rectangle of a canvas with axes of its own: data in, pixels out."""

    canvas: Canvas
    left: float = 40
    top: float = 18
    width: float = 200
    height: float = 118
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + self.width * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.top + self.height * (1 - (value - low) / (high - low))

    def frame(self, x_title: str = "", y_title: str = "") -> None:
        """The two axes and what they show."""
        foot, right = self.top + self.height, self.left + self.width
        self.canvas.line(self.left, self.top, self.left, foot)
        self.canvas.line(self.left, foot, right, foot)
        below = foot + (18 if self.canvas.height < 200 else 31)
        self.canvas.text((self.left + right) / 2, below, x_title, GREY, "middle", 11)
        self.canvas.text(self.left, self.top - 6, y_title, GREY, "start", 11)

    def ticks(self, x: Sequence[float] = (), y: Sequence[float] = (), form: str = "g") -> None:
        """Numbers beside the axes."""
        foot = self.top + self.height
        for value in x:
            self.canvas.line(self.x(value), foot, self.x(value), foot + 4)
            self.canvas.text(self.x(value), foot + 15, format(value, form), GREY, "middle", 10)
        for value in y:
            self.canvas.line(self.left - 4, self.y(value), self.left, self.y(value))
            self.canvas.text(
                self.left - 7, self.y(value) + 3.5, format(value, form), GREY, "end", 10
            )

    def cross(self, x: float, y: float, color: str = INK) -> None:
        """A cross: the truth."""
        a, b = self.x(x), self.y(y)
        self.canvas.line(a - 4, b - 4, a + 4, b + 4, color)
        self.canvas.line(a - 4, b + 4, a + 4, b - 4, color)

    def dots(
        self, x: Sequence[float], y: Sequence[float], color: str = GREY, filled: bool = False
    ) -> None:
        for a, b in zip(x, y, strict=True):
            self.canvas.dot(self.x(a), self.y(b), color, filled)

    def curve(
        self, x: Sequence[float], y: Sequence[float], color: str = BLUE, dashed: bool = False
    ) -> None:
        self.canvas.path([self.x(a) for a in x], [self.y(b) for b in y], color, dashed)

    def hill(self, x: Sequence[float], y: Sequence[float], color: str = BLUE) -> None:
        """A curve with the area below it."""
        self.curve(x, y, color)
        foot = self.top + self.height
        across = [self.x(a) for a in (x[0], *x, x[-1])]
        self.canvas.area(across, [foot, *(self.y(b) for b in y), foot], color)

    def rule(self, start: tuple[float, float], end: tuple[float, float], color: str = GREY) -> None:
        """A dashed line between two points."""
        (x1, y1), (x2, y2) = start, end
        self.canvas.line(self.x(x1), self.y(y1), self.x(x2), self.y(y2), color, dashed=True)

    def bars(self, heights: Sequence[float], color: str = BLUE, gap: float = 0.25) -> None:
        """Bars side by side over the whole width."""
        step = self.width / len(heights)
        foot = self.top + self.height
        for place, height in enumerate(heights):
            top = self.y(height)
            left = self.left + step * (place + gap / 2)
            self.canvas.box(left, top, step * (1 - gap), max(foot - top, 0.5), color)

    def interval(
        self, low: float, value: float, high: float, at: float, color: str, filled: bool = True
    ) -> None:
        """A horizontal interval with its point, at height ``at``."""
        self.canvas.line(self.x(low), self.y(at), self.x(high), self.y(at), color)
        for end in (low, high):
            self.canvas.line(self.x(end), self.y(at) - 4, self.x(end), self.y(at) + 4, color)
        self.canvas.dot(self.x(value), self.y(at), color, filled)


def count_right(chances: np.ndarray) -> np.ndarray:
    """P(k right answers), k = 0..n, where answer i is right with ``chances[i]``."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law
