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

    def draw_line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = GREY, dashed: bool = False
    ) -> None:
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"'
            f' stroke-width="1.4"{dash}/>'
        )

    def draw_path(
        self, x: Sequence[float], y: Sequence[float], color: str = BLUE, dashed: bool = False
    ) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
        )

    def fill_area(self, x: Sequence[float], y: Sequence[float], color: str) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        self.parts.append(f'<polygon points="{points}" fill="{color}" fill-opacity="0.15"/>')

    def draw_dot(self, x: float, y: float, color: str = GREY, filled: bool = False) -> None:
        fill = color if filled else "none"
        radius = 3.6 if filled else 2.4
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{color}"/>'
        )

    def draw_box(
        self, x: float, y: float, width: float, height: float, color: str, filled: bool = True
    ) -> None:
        fill = color if filled else "none"
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
            f' fill="{fill}" stroke="{color}"/>'
        )

    def write_text(
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

    def to_svg(self) -> str:
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

    def map_x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + self.width * (value - low) / (high - low)

    def map_y(self, value: float) -> float:
        low, high = self.y_range
        return self.top + self.height * (1 - (value - low) / (high - low))

    def draw_axes(self, x_title: str = "", y_title: str = "") -> None:
        """The two axes and what they show."""
        foot, right = self.top + self.height, self.left + self.width
        self.canvas.draw_line(self.left, self.top, self.left, foot)
        self.canvas.draw_line(self.left, foot, right, foot)
        below = foot + (18 if self.canvas.height < 200 else 31)
        self.canvas.write_text((self.left + right) / 2, below, x_title, GREY, "middle", 11)
        self.canvas.write_text(self.left, self.top - 6, y_title, GREY, "start", 11)

    def draw_ticks(self, x: Sequence[float] = (), y: Sequence[float] = (), form: str = "g") -> None:
        """Numbers beside the axes."""
        foot = self.top + self.height
        for value in x:
            self.canvas.draw_line(self.map_x(value), foot, self.map_x(value), foot + 4)
            self.canvas.write_text(
                self.map_x(value), foot + 15, format(value, form), GREY, "middle", 10
            )
        for value in y:
            self.canvas.draw_line(self.left - 4, self.map_y(value), self.left, self.map_y(value))
            self.canvas.write_text(
                self.left - 7, self.map_y(value) + 3.5, format(value, form), GREY, "end", 10
            )

    def draw_cross(self, x: float, y: float, color: str = INK) -> None:
        """A cross: the truth."""
        a, b = self.map_x(x), self.map_y(y)
        self.canvas.draw_line(a - 4, b - 4, a + 4, b + 4, color)
        self.canvas.draw_line(a - 4, b + 4, a + 4, b - 4, color)

    def draw_dots(
        self, x: Sequence[float], y: Sequence[float], color: str = GREY, filled: bool = False
    ) -> None:
        for a, b in zip(x, y, strict=True):
            self.canvas.draw_dot(self.map_x(a), self.map_y(b), color, filled)

    def draw_curve(
        self, x: Sequence[float], y: Sequence[float], color: str = BLUE, dashed: bool = False
    ) -> None:
        self.canvas.draw_path([self.map_x(a) for a in x], [self.map_y(b) for b in y], color, dashed)

    def draw_hill(self, x: Sequence[float], y: Sequence[float], color: str = BLUE) -> None:
        """A curve with the area below it."""
        self.draw_curve(x, y, color)
        foot = self.top + self.height
        across = [self.map_x(a) for a in (x[0], *x, x[-1])]
        self.canvas.fill_area(across, [foot, *(self.map_y(b) for b in y), foot], color)

    def draw_rule(
        self, start: tuple[float, float], end: tuple[float, float], color: str = GREY
    ) -> None:
        """A dashed line between two points."""
        (x1, y1), (x2, y2) = start, end
        self.canvas.draw_line(
            self.map_x(x1), self.map_y(y1), self.map_x(x2), self.map_y(y2), color, dashed=True
        )

    def draw_bars(self, heights: Sequence[float], color: str = BLUE, gap: float = 0.25) -> None:
        """Bars side by side over the whole width."""
        step = self.width / len(heights)
        foot = self.top + self.height
        for place, height in enumerate(heights):
            top = self.map_y(height)
            left = self.left + step * (place + gap / 2)
            self.canvas.draw_box(left, top, step * (1 - gap), max(foot - top, 0.5), color)

    def draw_interval(
        self, low: float, value: float, high: float, at: float, color: str, filled: bool = True
    ) -> None:
        """A horizontal interval with its point, at height ``at``."""
        self.canvas.draw_line(
            self.map_x(low), self.map_y(at), self.map_x(high), self.map_y(at), color
        )
        for end in (low, high):
            self.canvas.draw_line(
                self.map_x(end), self.map_y(at) - 4, self.map_x(end), self.map_y(at) + 4, color
            )
        self.canvas.draw_dot(self.map_x(value), self.map_y(at), color, filled)


def count_right(chances: np.ndarray) -> np.ndarray:
    """P(k right answers), k = 0..n, where answer i is right with ``chances[i]``."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law
