"""What a notebook shows."""

from __future__ import annotations

from tests.made_sets import HOSTILE, binary_set, hostile_set

import ssme


def test_table_has_estimate_interval_and_labels_only() -> None:
    result = ssme.evaluate(binary_set(), method="ensemble", metrics=["accuracy", "ece"], n_draws=50)
    html = result._repr_html_()
    row = next(result.rows())
    assert f"<b>{row['estimate']:.3f}</b> ({row['low']:.3f} to {row['high']:.3f})" in html
    assert f"labels {row['labels_only']:.3f}" in html
    assert "40 labeled and 260 unlabeled rows" in html


def test_names_are_escaped_and_models_are_cut() -> None:
    result = ssme.evaluate(hostile_set(), method="ensemble", metrics="accuracy", n_draws=20)
    html = result._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert HOSTILE[-1] not in html
    many = binary_set(tuple(f"m{j}" for j in range(40)), n=60)
    html = ssme.evaluate(many, method="ensemble", metrics="accuracy", n_draws=5)._repr_html_()
    assert "10 more models in .frame()" in html
