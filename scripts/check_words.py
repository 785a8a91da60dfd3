"""Words of the field: texts that people read avoid those that nobody would search for.

Run: python scripts/check_words.py [--count]

Looks at the Markdown pages without their code, at the templates, the tutorials and the reference,
and at every string of `src` that is a text (it has a space), docstrings included. STYLE: a word has
one meaning in code, help, docs and page; what is listed here has a better one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AVOID = {
    r"(?:is|are|was|were) (?-i:none)": "is not one, does not exist",
    r"(?<!there\s)(?:is|are|was|were) no(?! (?:longer|more|less|\w+er)\b)": "is not a",
    r"beside": "next to, in addition to, compared with",
    r"alike": "equally, the same, similar",
    r"told": "given, declared, unless set",
    r"stands?(?: for| beside| alone)?(?!-)": "represents, is",
    r"such a one": "one",
    r"of (?:its|their|one's|his|her) own": "its own, separate",
    r"nobody (?:says|said)": "it is not declared",
    r"holds": "contains, is true",
    r"a fault of": "an error in",
    r"likeliest": "most probable",
    r"grows no more": "stops growing",
}
SPACE = r"(?:[ \t]+\n?|\n)[ \t]*"  # at most one line break: paragraphs do not run on
WORDS = {
    re.compile(rf"\b{pattern}\b".replace(" ", SPACE), re.IGNORECASE): use
    for pattern, use in AVOID.items()
}
WORDS[re.compile(r"(?:^|\d) %(?=\W|$)")] = "95%, without a space"  # ^: after a value in an f-string
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
MARKUP = re.compile(r"<style.*?</style>|<script.*?</script>|\{[%{#].*?[%}#]\}|<[^>]*>", re.DOTALL)


def list_texts() -> Iterator[tuple[Path, int, str]]:
    """(file, line, text) of everything that is looked at."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/**/*.md")]:
        yield page, 1, _blank(CODE, page.read_text(encoding="utf-8"))
    for page in [*ROOT.glob("docs/tutorials/*"), *ROOT.glob("docs/reference/*.rst")]:
        if page.suffix in (".py", ".rst"):
            yield page, 1, _blank(CODE, page.read_text(encoding="utf-8"))
    for page in (ROOT / "src").rglob("*.html"):
        yield page, 1, _blank(MARKUP, page.read_text(encoding="utf-8"))
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield file, node.lineno, _blank(CODE, node.value)


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """``text`` without what the pattern finds; the lines stay where they are."""
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


def main(count: bool) -> int:
    found = [
        (path.relative_to(ROOT), line + text.count("\n", 0, hit.start()), hit[0], use)
        for path, line, text in list_texts()
        for word, use in WORDS.items()
        for hit in word.finditer(text)
    ]
    if count:
        for word, times in Counter(each[2].lower() for each in found).most_common():
            print(f"{times:5} {word}")
    else:
        print("\n".join(f"{path}:{line}: {word!r}: {use}" for path, line, word, use in found))
    print(f"{len(found)} words to avoid")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main("--count" in sys.argv))
