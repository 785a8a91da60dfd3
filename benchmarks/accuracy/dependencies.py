"""Which classifiers depend on each other, as weak supervision infers it without labels.

Bach et al. (2017) give the votes v_j of the classifiers and the unknown class y the density

    p(v, y) ~ exp( sum_j a_j [v_j = y] + sum_{j<k} d_jk [v_j = v_k] )

and for each j in turn maximize the marginal pseudolikelihood with an l1 penalty on dependencies,

    1/n sum_i log sum_y p(v_ij, y | v_i without j) - eps sum_k |d_jk|.

A pair is a dependency if d_jk, fitted for j or for k, exceeds eps in absolute value.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from benchmarks.accuracy.tables import PUBLIC
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, experiment, run_jobs, save
from benchmarks.studies import seen_rows
from ssme.arrays import FloatArray
from ssme.bench.protocol import split_rows
from ssme.bench.store import describe_process
from ssme.methods.votes import cast_votes

PENALTIES = (0.001, 0.01, 0.05)
STEPS, STEP = (300, 3_000), 1.0
"""The numbers of steps that are tried, and their length times the number of classifiers."""


def fit_dependencies(votes: FloatArray, j: int, penalty: float, steps: int = 300) -> FloatArray:
    """d_jk (M,) of classifier ``j``, 0 for itself, by proximal gradient steps from a_j = 1.

    ``votes`` are 0 or 1 (n, M, K).
    """
    n, n_models, n_classes = votes.shape
    patterns, times = np.unique(votes.reshape(n, -1), axis=0, return_counts=True)
    votes, share = patterns.reshape(-1, n_models, n_classes), times / n
    own, others = votes[:, j], np.arange(n_models) != j
    accuracy, dependence = np.ones(n_models), np.zeros(n_models)
    same = np.eye(n_classes)
    for _ in range(steps):
        # log p(v_j = l, y) up to a constant (n, l, y), and what it says with v_j known or not
        by_class = np.einsum("nmy,m->ny", votes[:, others], accuracy[others])
        by_vote = np.einsum("nml,m->nl", votes[:, others], dependence[others])
        joint = by_class[:, None, :] + by_vote[:, :, None] + accuracy[j] * same
        free = np.exp(joint - logsumexp(joint, axis=(1, 2), keepdims=True))
        known = np.einsum("nly,nl->ny", joint, own)
        known = np.exp(known - logsumexp(known, axis=1, keepdims=True))
        vote, label = free.sum(axis=2), free.sum(axis=1)
        accuracy_slope = np.einsum("n,nmy,ny->m", share, votes, known - label)
        accuracy_slope[j] = share @ ((own * known).sum(axis=1) - np.einsum("nyy->n", free))
        slope = np.einsum("n,nml,nl->m", share, votes, own - vote)
        accuracy = accuracy + STEP / n_models * accuracy_slope
        moved = dependence + STEP / n_models * slope
        shrunk = np.abs(moved) - STEP / n_models * penalty
        dependence = np.where(others, np.sign(moved) * np.maximum(shrunk, 0.0), 0.0)
    return dependence


@experiment(runs=5)
def dependencies(setup: Setup) -> None:
    """Weak supervision: how many pairs of classifiers are inferred to depend on each other.

    The paper, which applied the estimator of Bach et al. to its sets, says that all classifiers
    came out as dependent. Here on the 1,020 rows of the first runs of its protocol, with three
    penalties and two numbers of steps, since it gives neither; the true labels are not used. The
    latent class can explain most dependencies as well, and does with a larger penalty.
    """
    jobs = [(name, run) for name in PUBLIC for run in range(setup.runs)]
    rows = pd.DataFrame(run_jobs(count_dependencies, jobs, setup))
    table = rows.groupby(["dataset", "penalty", "steps"], sort=False).agg(
        pairs=("pairs", "first"),
        dependent=("dependent", "mean"),
        fewest=("dependent", "min"),
        models=("models", "first"),
        dependent_models=("dependent_models", "min"),
    )
    versions = {name: describe_process()[name] for name in ("ssme", "numpy")}
    save(table.reset_index().assign(runs=setup.runs, **versions), setup)


def count_dependencies(job: tuple[str, int]) -> list[dict[str, Any]]:
    """How many pairs depend on each other in one run, by penalty and number of steps."""
    name, run = job
    data = load_dataset(name)
    rows = seen_rows(data, split_rows(data.labels, 20, 1000, run, seed=0, dataset=name))
    votes, n_models = cast_votes(rows.scores), rows.n_models
    found = []
    for penalty, steps in product(PENALTIES, STEPS):
        fitted = np.array([fit_dependencies(votes, j, penalty, steps) for j in range(n_models)])
        chosen = np.maximum(np.abs(fitted), np.abs(fitted.T)) > penalty
        found.append(
            {
                "dataset": name,
                "penalty": penalty,
                "steps": steps,
                "pairs": len(list(combinations(range(n_models), 2))),
                "dependent": int(np.triu(chosen, 1).sum()),
                "models": n_models,
                "dependent_models": int(chosen.any(axis=1).sum()),
            }
        )
    return found
