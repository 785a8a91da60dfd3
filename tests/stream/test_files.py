"""Paths and addresses of Parquet files, an object store on loopback among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.stream.object_store import served
from tests.stream.worlds import binary_table, written

from ssme.errors import InputError
from ssme.stream import evaluate_parquet, files
from ssme.stream.files import find_files

S3_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A bucket ``bucket`` with two files in the folder ``scores``."""
    folder = tmp_path / "bucket" / "scores"
    folder.mkdir(parents=True)
    written(binary_table(600, 30), folder, row_group=100)
    files._open_file_system.cache_clear()
    with served(tmp_path) as endpoint:
        for name, value in {**S3_ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint}.items():
            monkeypatch.setenv(name, value)
        yield folder
    files._open_file_system.cache_clear()


@pytest.mark.parametrize("asked", ["*.parquet", "", "part[01].parquet"])
def test_a_bucket_is_listed(bucket: Path, asked: str) -> None:
    found = find_files([f"s3://bucket/scores/{asked}".rstrip("/")])
    assert [file.path for file in found] == [
        f"s3://bucket/scores/part{i}.parquet" for i in range(2)
    ]
    assert files.open_parquet(files.identify(*found[0])).metadata.num_rows == 300


def test_folders_of_a_bucket_are_listed_with_what_their_names_say(bucket: Path) -> None:
    for site in ("north", "south"):
        inside = bucket / f"site={site}"
        inside.mkdir()
        (inside / "part0.parquet").write_bytes((bucket / "part0.parquet").read_bytes())
    for part in bucket.glob("*.parquet"):
        part.unlink()
    found = find_files(["s3://bucket/scores"])
    assert [(file.path, file.partition) for file in found] == [
        (f"s3://bucket/scores/site={site}/part0.parquet", (("site", site),))
        for site in ("north", "south")
    ]


def test_an_object_store_answers_as_the_disk(bucket: Path) -> None:
    answers = [
        evaluate_parquet(place, method="ensemble", n_draws=5, sample_rows=200, by=[])
        for place in (bucket, bucket.as_uri(), "s3://bucket/scores/*.parquet")
    ]
    values = [[row["estimate"] for row in answer.rows()] for answer in answers]
    np.testing.assert_array_equal(values[1], values[0])
    np.testing.assert_array_equal(values[2], values[0])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://nowhere/*.parquet", "NO_SUCH_BUCKET"),
        ("s3://bucket/nothing/*.parquet", "does not exist"),
        ("nosuch://bucket/*.parquet", "nosuch://"),
    ],
)
def test_what_cannot_be_listed_is_said(bucket: Path, address: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        find_files([address])
    assert "credentials" in str(caught.value)


def test_a_missing_object_is_said(bucket: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(.*Check the path"):
        evaluate_parquet("s3://bucket/scores/part7.parquet")


def test_numbered_rows_are_no_model(tmp_path: Path) -> None:
    """A column `comment_id` was refused for not being a probability."""
    numbered = binary_table(600, 30).append_column("comment_id", [np.arange(600)])
    written(numbered, tmp_path, row_group=100)
    result = evaluate_parquet(tmp_path, metrics="accuracy", method="ensemble", n_draws=20)
    assert result.data.models == ("m0", "m1", "m2")
