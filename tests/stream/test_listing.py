"""Which files a path stands for: none is left out, none is read twice, and folders have names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.stream.worlds import binary_table, written

import ssme
from ssme.errors import InputError, SsmeWarning
from ssme.stream import evaluate_parquet
from ssme.stream.files import find_files

ASKED: dict[str, Any] = {"method": "ensemble", "n_draws": 5, "metrics": "accuracy"}


def put(place: Path, table: Any | None = None) -> Path:
    """A Parquet file at ``place``, in folders made for it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(binary_table(60, 20) if table is None else table, place)
    return place


def list_names(asked: Path | str, folder: Path) -> list[str]:
    return [os.path.relpath(file.path, folder) for file in find_files([str(asked)])]


def test_a_folder_stands_for_all_files_below_it(tmp_path: Path) -> None:
    names = ("x/b.parquet", "y/c.PARQUET", "x/.hidden.parquet", "_SUCCESS", "x/notes.txt")
    for seed, name in enumerate(names):
        put(tmp_path / name, binary_table(60, 20, seed=seed))
    below = ["x/b.parquet", "y/c.PARQUET"]
    assert list_names(tmp_path, tmp_path) == below
    assert list_names(tmp_path / "**" / "*.parquet", tmp_path) == below[:1]
    assert list_names(tmp_path / "*", tmp_path) == ["_SUCCESS", *below]
    assert evaluate_parquet(tmp_path, **ASKED).settings["n_rows"] == 120


@pytest.mark.parametrize("asked", ["scores", "scores/*.parquet"])
def test_several_files_are_streamed_unasked(tmp_path: Path, asked: str) -> None:
    for seed in range(2):
        put(tmp_path / "scores" / f"{seed}.parquet", binary_table(60, 20, seed=seed))
    source = str(tmp_path / asked)
    with pytest.warns(SsmeWarning, match=r"several Parquet files, which are streamed"):
        result = ssme.evaluate(source, "label", **ASKED)
    assert result.settings["n_rows"] == 120
    assert result.settings["config"]["engine"] == {"engine": "stream"}
    (tmp_path / "scores" / "1.parquet").unlink()
    (tmp_path / "scores" / "0.parquet").rename(tmp_path / "scores" / "0.csv")
    with pytest.raises(InputError):
        ssme.evaluate(source, "label", **ASKED)


def test_files_at_different_depths_are_not_guessed_about(tmp_path: Path) -> None:
    put(tmp_path / "a.parquet"), put(tmp_path / "old" / "a.parquet")
    with pytest.raises(InputError, match=r"depths: a\.parquet and old/a\.parquet.*Name"):
        evaluate_parquet(tmp_path, **ASKED)
    assert list_names(tmp_path / "*.parquet", tmp_path) == ["a.parquet"]
    assert list_names(tmp_path / "**" / "*.parquet", tmp_path) == ["a.parquet", "old/a.parquet"]


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "a.parquet")
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "scores" / "itself").symlink_to(tmp_path / "scores")
    assert list_names(tmp_path / "scores", tmp_path) == ["scores/link/a.parquet"]


@pytest.mark.parametrize("name", ["odd[1].parquet", "a*b?.parquet", "no suffix", "%20.parquet"])
def test_a_file_that_is_there_is_no_pattern(tmp_path: Path, name: str) -> None:
    put(tmp_path / "odd1.parquet"), put(tmp_path / "axby.parquet")
    put(tmp_path / name)
    assert list_names(tmp_path / name, tmp_path) == [name]


def test_an_address_of_a_local_file_is_decoded(tmp_path: Path) -> None:
    place = put(tmp_path / "two words \u00fc.parquet")
    assert "%20" in place.as_uri()
    assert [file.path for file in find_files([place.as_uri()])] == [str(place)]
    pattern = f"{tmp_path.as_uri()}/two%20words*.parquet"
    assert [file.path for file in find_files([pattern])] == [str(place)]


@pytest.mark.parametrize(
    "asked",
    [
        ("a.parquet", "a.parquet"),
        ("a.parquet", "./a.parquet"),
        (".", "*.parquet"),
        ("a.parquet", "b.parquet"),
    ],
)
def test_a_file_is_not_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(Path("a.parquet"))
    if "b.parquet" in asked:
        Path("b.parquet").symlink_to("a.parquet")
    with pytest.raises(InputError, match=r"is read twice.*Name each file"):
        evaluate_parquet(list(asked), **ASKED)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("_temporary/0/a.parquet", r"contains _temporary/0/a\.parquet.*unfinished"),
        ("_a.parquet", r"contains _a\.parquet.*unfinished"),
        ("_delta_log/00.json", "is a Delta table.*file_uris"),
        ("part/_delta_log/00.json", "is a Delta table"),
    ],
)
def test_files_of_unfinished_jobs_and_of_tables_of_versions(
    tmp_path: Path, name: str, said: str
) -> None:
    put(tmp_path / "a.parquet"), put(tmp_path / name)
    with pytest.raises(InputError, match=said):
        find_files([str(tmp_path)])


def write_by_site(folder: Path) -> Any:
    """A table whose group column is in the names of folders; the table, in the files' order."""
    table = binary_table(600, 60)
    apart = []
    for site, name in (("a", "a"), ("b", "b%20c")):
        rows = table.filter(pc.equal(table["group_site"], site))
        put(folder / f"group_site={name}" / "part.parquet", rows.drop_columns(["group_site"]))
        named = pa.array([site if site == "a" else "b c"] * len(rows))
        apart.append(rows.drop_columns(["group_site"]).append_column("group_site", named))
    return pa.concat_tables(apart)


@pytest.mark.parametrize("asked", [".", "*", "*/*.parquet", "group_site=*/*.parquet", "**"])
def test_folders_called_name_and_value_are_a_column(tmp_path: Path, asked: str) -> None:
    table = write_by_site(tmp_path)
    memory = ssme.evaluate(table, **ASKED)
    streamed = evaluate_parquet(str(tmp_path / asked), **ASKED)
    assert [group.name for group in streamed.groups] == ["all", "site=a", "site=b c"]
    np.testing.assert_equal(list(streamed.rows()), list(memory.rows()))
    few = evaluate_parquet(str(tmp_path / asked), sample_rows=100, **ASKED)
    assert [g.n_unlabeled for g in few.groups] == [g.n_unlabeled for g in memory.groups]


def test_the_missing_value_of_a_folder_and_the_column_of_a_file(tmp_path: Path) -> None:
    table = binary_table(60, 20)
    bare = table.drop_columns(["group_site"])
    put(tmp_path / "group_site=__HIVE_DEFAULT_PARTITION__" / "a.parquet", bare)
    other = binary_table(60, 20, seed=1).drop_columns(["group_site"])
    put(tmp_path / "group_site=b" / "a.parquet", other)
    names = [group.name for group in evaluate_parquet(tmp_path, **ASKED).groups]
    assert names == ["all", "site=None", "site=b"]
    put(tmp_path / "own" / "group_site=z" / "a.parquet", table)
    names = [group.name for group in evaluate_parquet(tmp_path / "own", **ASKED).groups]
    assert names == ["all", "site=a", "site=b"]


def test_folders_of_several_depths_are_refused(tmp_path: Path) -> None:
    write_by_site(tmp_path)
    put(tmp_path / "part.parquet", binary_table(60, 20).drop_columns(["group_site"]))
    with pytest.raises(InputError, match="differ in columns: group_site"):
        evaluate_parquet(tmp_path, **ASKED)


def test_one_folder_per_model_is_the_long_layout(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "label": [0, 1], "score": [0.2, 0.7]})
    for model in ("forest", "bert"):
        put(tmp_path / f"model={model}" / "a.parquet", table)
    with pytest.raises(InputError, match="is in the long layout"):
        evaluate_parquet(tmp_path, **ASKED)


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    table = binary_table(60, 20)
    put(tmp_path / "a.parquet", table.append_column("m0", table["m1"]))
    with pytest.raises(InputError, match=r"a\.parquet has two columns called 'm0'"):
        evaluate_parquet(tmp_path, **ASKED)


def test_files_listed_by_a_pattern_are_those_of_their_folder(tmp_path: Path) -> None:
    pattern = written(binary_table(600, 30), tmp_path)
    assert find_files([pattern]) == find_files([str(tmp_path)])
