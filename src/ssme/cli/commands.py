"""All commands: one file each; an import line adds it."""

from ssme.cli import bench, compare, demo, doctor, evaluate, methods, metrics, report
from ssme.cli import doubts as doubts
from ssme.cli import serve as serve
from ssme.cli import suggest as suggest
from ssme.cli import track as track
from ssme.cli.program import app, main

__all__ = [
    "app",
    "bench",
    "compare",
    "demo",
    "doctor",
    "evaluate",
    "main",
    "methods",
    "metrics",
    "report",
    "serve",
]
