"""What judges say about each other: every step by hand or against a slow search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.special import softmax as softmax_of

from ssme.arrays import FloatArray
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import JudgeAgreement, discount_dependence
from ssme.methods.votes import measure_disagreement

OF = AnswerConstants()


def votes_of(said: list[list[int | None]], n_classes: int) -> FloatArray:
    out = np.zeros((len(said), len(said[0]), n_classes))
    for row, answers in enumerate(said):
        for judge, answer in enumerate(answers):
            if answer is not None:
                out[row, judge, answer] = 1.0
    return out


def test_disagreement_is_with_those_who_answered_too() -> None:
    votes = votes_of([[0, 0, 1], [1, 1, None], [0, None, None], [None, 1, 0]], 2)
    own, counts = measure_disagreement(votes)
    assert counts.tolist() == [2, 3, 2]
    # first: row 0 is split between the others, row 1 agrees; second: half, agrees, disagrees
    np.testing.assert_allclose(own, [(0.5 + 0.0) / 2, (0.5 + 0.0 + 1.0) / 3, (1.0 + 1.0) / 2])


def made(n: int = 300, n_classes: int = 3, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=[0.6, 0.3, 0.1][:n_classes] if n_classes == 3 else None)
    right = rng.random((n, 4)) < [0.95, 0.9, 0.8, 0.7]
    said = np.where(
        right, y[:, None], (y[:, None] + rng.integers(1, n_classes, (n, 4))) % n_classes
    )
    return votes_of(said.tolist(), n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_shares_and_weights_follow_from_disagreement(n_classes: int) -> None:
    votes = made(n_classes=n_classes)
    found = JudgeAgreement.estimate(votes, votes, OF)
    own, counts = measure_disagreement(votes)
    mean = (own * counts).sum() / counts.sum()
    assert found.disagreement == pytest.approx(mean)
    gap = OF.gap - OF.gap_per_class * (n_classes - 2)
    assert found.error == pytest.approx(expit(logit(mean) + gap))
    each = expit(logit((own * counts + 20.0 * mean) / (counts + 20.0)) + gap)
    np.testing.assert_allclose(found.weights, np.log((1 - each) * (n_classes - 1) / each))
    said = votes.mean(axis=(0, 1))
    np.testing.assert_allclose(
        found.shares, said + OF.share_mix * found.error * (1 / n_classes - said)
    )
    assert found.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_pool_errs_as_often_as_agreement_says(n_classes: int) -> None:
    votes = made(n_classes=n_classes)
    found = JudgeAgreement.estimate(
        votes, votes, replace(OF, log_b_up=0.0, log_b=(-4.0, 4.0), bisections=30)
    )
    pool = np.einsum("nmk,m->nk", votes, found.weights)
    pool *= discount_dependence(votes, OF.dependence)[:, None]
    w = softmax_of(found.offset + np.exp(found.log_b) * pool, axis=1)
    np.testing.assert_allclose(w.mean(axis=0), found.shares, atol=1e-4)
    wrong = 1.0 - (w[:, None] * votes).sum(axis=2).mean()
    assert wrong == pytest.approx(found.error, abs=2e-4)
