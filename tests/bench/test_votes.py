"""Rules that make labels of votes, and the dependencies that weak supervision infers from them."""

import numpy as np
import pytest
from benchmarks.accuracy.dependencies import fit_dependencies
from benchmarks.accuracy.votes import RULES, Ballot

from ssme.data.scoreset import UNLABELED, ScoreSet


@pytest.fixture(scope="module")
def ballot() -> Ballot:
    """Seven classifiers, ten labeled rows of which three are positive."""
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.3
    truth[:10] = np.arange(10) < 3
    scores = np.clip(0.3 + 0.4 * truth[:, None] + 0.2 * rng.standard_normal((200, 7)), 0.01, 0.99)
    labels = np.where(np.arange(200) < 10, truth, UNLABELED)
    return Ballot(ScoreSet.from_arrays(scores, labels, unlabeled=UNLABELED))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_every_row_a_probability_and_follows_the_votes(ballot, name):
    chance = np.asarray(RULES[name](ballot), dtype=float)
    assert chance.shape == (200,)
    assert ((chance >= 0.0) & (chance <= 1.0)).all()
    all_for, all_against = ballot.votes.all(axis=1), ~ballot.votes.any(axis=1)
    assert chance[all_for].mean() >= chance[all_against].mean()


def test_the_cut_at_the_positive_share_leaves_out_ties(ballot):
    strict = RULES["threshold: positive share of labels"](ballot)
    with_ties = RULES["threshold: positive share of labels, ties in"](ballot)
    assert strict.mean() <= ballot.positive <= with_ties.mean()
    assert (with_ties >= strict).all()
    assert ballot.share[strict].min() > ballot.share[~strict].max()


def test_a_classifier_that_copies_another_depends_on_it_and_on_no_third():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    decided = np.where(rng.random((6, 2000)) < 0.8, truth, 1 - truth).T
    decided[:, 1] = np.where(rng.random(2000) < 0.7, decided[:, 0], decided[:, 1])
    votes = (decided[:, :, None] == np.arange(2)).astype(float)
    found = fit_dependencies(votes, 0, penalty=0.05)
    assert found[1] > 0.1
    assert np.abs(found[[0, 2, 3, 4, 5]]).max() < 0.05
