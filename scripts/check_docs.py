"""The documents tell the truth: links and anchors resolve, Python blocks compile, commands exist.

Run: python scripts/check_docs.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\s*\$?\s*ssme ([a-z]+)", re.MULTILINE)
LINE = re.compile(r"^\s*\$?\s*ssme ([a-z]+)((?:[^#|>\n\\]|\\\n)*)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PAGE_WORDS, DOCS_WORDS, VERSION_WORDS, README_LINES = 1_200, 45_000, 1_500, 120
TARGET = re.compile(r"\bmake ([a-z][a-z-]*)")


def list_anchors(text: str) -> set[str]:
    """GitHub's anchors of the headings of a Markdown text, and explicit ones."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for title in re.findall(r"^#+\s+(.*)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", title.strip().lower())
        found.add(words.replace(" ", "-"))
    return found


def check_links(path: Path, text: str) -> list[str]:
    problems = []
    for link in LINK.findall(text):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            problems.append(f"{path.name}: {link} does not exist")
        elif anchor and target.suffix == ".md" and anchor not in list_anchors(target.read_text()):
            problems.append(f"{path.name}: {link} has no such anchor")
    return problems


def check_blocks(path: Path, text: str, commands: set[str]) -> list[str]:
    problems = []
    for language, body in BLOCK.findall(text):
        if language == "python":
            try:
                compile(body, path.name, "exec")
            except SyntaxError as error:
                problems.append(f"{path.name}: Python block does not compile: {error}")
        elif language in ("bash", "console", "sh"):
            for command in COMMAND.findall(body):
                if command not in commands:
                    problems.append(f"{path.name}: there is no command `ssme {command}`")
    return problems


def list_options(command: Any) -> set[str]:
    """Options of a command and of the commands inside it."""
    inside = (list_options(each) for each in getattr(command, "commands", {}).values())
    own = (each.opts + each.secondary_opts for each in command.params)
    return {"--help", "--help-all"}.union(*own, *inside)


def check_options(path: Path, text: str, options: dict[str, set[str]]) -> list[str]:
    """Options of `ssme` that no command has, or not the command that they are given to."""
    bodies = [body for language, body in BLOCK.findall(text) if language in ("bash", "console")]
    found = [
        f"{path.name}: ssme {command} has no option {option}"
        for body in bodies
        for command, rest in LINE.findall(body)
        for option in OPTION.findall(rest)
        if option not in options.get(command, set())
    ]
    every = set().union(*options.values())
    plain = re.findall(r"`(--[a-z][a-z-]*)[^`]*`", text)
    return found + [f"{path.name}: no command has {name}" for name in plain if name not in every]


def check_make(path: Path, text: str, targets: set[str]) -> list[str]:
    code = "\n".join(re.findall(r"`([^`\n]+)`", text) + [body for _, body in BLOCK.findall(text)])
    return [
        f"{path.name}: the Makefile has no target {target!r}"
        for target in sorted(set(TARGET.findall(code)) - targets)
    ]


def count_words(text: str) -> int:
    """Words that are read: without comments, such as the marks of quoted numbers."""
    return len(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split())


def check_length() -> list[str]:
    """Pages that are longer than a reader has time for."""
    version = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
    pages = {page.name: count_words(page.read_text()) for page in ROOT.glob("docs/*.md")}
    others = [*ROOT.glob("docs/tutorials/*"), *ROOT.glob("docs/reference/*.rst")]
    total = sum(pages.values()) + sum(count_words(page.read_text()) for page in others)
    found = [
        *((name, n, PAGE_WORDS) for name, n in pages.items()),
        ("docs, tutorials and reference", total, DOCS_WORDS),
        ("this version in CHANGELOG.md", count_words(version), VERSION_WORDS),
    ]
    lines = (ROOT / "README.md").read_text().count("\n")
    too_long = [f"README.md has {lines} lines, more than {README_LINES}"]
    return too_long * (lines > README_LINES) + [
        f"{name} has {n:,} words, more than {most:,}" for name, n, most in found if n > most
    ]


def main() -> int:
    from typer.main import get_command

    from ssme.cli import app

    program = get_command(app).commands  # type: ignore[attr-defined]
    commands = set(program)
    options = {name: list_options(command) for name, command in program.items()}
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    problems = check_length()
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    for page in sorted(pages):
        text = page.read_text()
        problems += check_links(page, text)
        problems += check_blocks(page, text, commands)
        problems += check_make(page, text, targets)
        if page.parent != ROOT / "benchmarks" and "benchmarks" not in page.parts:
            problems += check_options(page, text, options)
    print("\n".join(problems) or f"{len(pages)} documents hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
