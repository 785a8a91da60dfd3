"""docs/data.md and docs/files.md name every format, usual name and code for a missing value."""

from pathlib import Path

from ssme.data.readers.columns import USUAL_NAMES
from ssme.data.readers.csv_files import MISSING_TEXT
from ssme.data.readers.sources import READERS


def test_names_and_suffixes_are_all_told() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = "".join((docs / name).read_text() for name in ("files.md", "data.md"))
    told = [*READERS, *(f"`{name}`" for usual in USUAL_NAMES.values() for name in usual)]
    told += [f"`{word}`" for word in MISSING_TEXT if word]
    assert [word for word in told if word not in text] == []
