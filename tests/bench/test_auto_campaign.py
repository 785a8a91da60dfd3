"""The campaign of `auto`: time for every stage, runs nobody tuned on, decisions over all sets."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.auto import campaign
from benchmarks.auto.campaign import Stage, allot_time
from benchmarks.auto.decisions import BINS, summarize_decisions, summarize_together
from benchmarks.auto.priors import SETS, TORTURE


def make_stage(share):
    return Stage("made", [], lambda frame: None, share)


def make_rows(dataset, runs, said=0.55, so=0.5, n_labeled=20):
    """Ten cases a run in the first bin of P(better), none elsewhere."""
    none = {
        f"{kind} {b} {of}": 0.0
        for kind, edges in BINS.items()
        for b in range(len(edges) - 1)
        for of in ("cases", "said", "so")
    }
    first = {"better 0 cases": 10.0, "better 0 said": 10 * said, "better 0 so": 10 * so}
    head = {"variant": "auto", "dataset": dataset, "n_labeled": n_labeled, "metric": "accuracy"}
    return pd.DataFrame([{**head, "run": run, **none, **first} for run in runs])


def take_first_bin(table):
    return table[(table["kind"] == "better") & (table["low"] == 0.5)].iloc[0]


def test_no_stage_starves_those_after_it():
    asked = [make_stage(share) for share in (0.1, 0.6, 0.3)]
    assert allot_time(asked, 100.0) == pytest.approx(10.0)
    assert allot_time(asked[1:], 90.0) == pytest.approx(60.0)
    assert allot_time(asked[2:], 30.0) == pytest.approx(30.0)


def test_what_a_stage_leaves_goes_to_those_after_it():
    asked = [make_stage(share) for share in (0.5, 0.5)]
    assert allot_time(asked, 100.0) == pytest.approx(50.0)
    assert allot_time(asked[1:], 99.0) == pytest.approx(99.0)
    assert allot_time(asked, -5.0) == 0.0


def test_every_stage_has_a_share_of_the_time():
    args = Namespace(extra=None, runs=25, labels=[20, 100], stresses=[])
    shares = [stage.share for stage in campaign.list_stages(args)]
    assert min(shares) > 0.0
    assert sum(shares) == pytest.approx(1.0)


def test_sets_have_as_many_runs_as_the_one_with_fewest():
    development = make_rows("one", range(25), so=0.2)
    further = pd.concat([make_rows("two", range(6)), make_rows("three", range(5), so=0.8)])
    row = take_first_bin(summarize_together(development, further))
    assert row["cases"] == 3 * 5 * 10
    assert row["so"] == pytest.approx((0.2 + 0.5 + 0.8) / 3)


def test_the_standard_error_leaves_out_one_set_at_a_time():
    so = (0.2, 0.5, 0.8)
    parts = [make_rows(name, range(4), so=s) for name, s in zip("abc", so, strict=True)]
    row = take_first_bin(summarize_together(*parts))
    without = [0.55 - np.mean([s for s in so if s != left]) for left in so]
    assert row["se"] == pytest.approx(np.sqrt(2.0 * np.var(without)))


def test_more_runs_of_the_same_sets_make_no_surer():
    few, many = (
        pd.concat([make_rows("a", range(runs), so=0.3), make_rows("b", range(runs), so=0.7)])
        for runs in (2, 20)
    )
    assert take_first_bin(summarize_decisions(few))["se"] == pytest.approx(
        take_first_bin(summarize_decisions(many))["se"]
    )


def test_the_torture_test_is_in_no_table_of_decisions():
    parts = [make_rows(SETS[0], range(3)), make_rows(TORTURE, range(3), so=0.0)]
    assert take_first_bin(summarize_together(*parts))["so"] == pytest.approx(0.5)
