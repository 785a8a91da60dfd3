"""What each method does and assumes, in plain words: the part of a report an expert asks about."""

from __future__ import annotations

__all__ = ["METHOD_WORDS"]

METHOD_WORDS: dict[str, tuple[str, str]] = {
    "auto": (
        "Pools the classifiers' scores into one, learns from the labels how to recalibrate it, and "
        "computes every metric under it on all rows; intervals come from draws of the "
        "recalibration and of the rows.",
        "That the labeled rows were chosen at random from the same source as the unlabeled ones, "
        "and that the classifiers do not all err alike where no label shows it.",
    ),
    "answers": (
        "Pools the answers of judges, weighed by how they agree with each other and by the labels, "
        "and corrects every judge's metric by what its labeled rows say beyond that.",
        "That judges err somewhat more than they disagree, as judges who find the same rows hard "
        "do; the fewer the labels, the more rests on it.",
    ),
    "labeled": (
        "Computes the metrics on the labeled rows and ignores all others.",
        "That the labeled rows were chosen at random.",
    ),
    "ensemble": (
        "Takes the mean of the classifiers' scores as the probability of each class and draws "
        "labels from it.",
        "That the mean score is calibrated; it uses no labels to check that.",
    ),
    "ssme": (
        "Fits a mixture with one density of scores per class to labeled and unlabeled rows, then "
        "averages every metric over labels drawn from it.",
        "That labeled rows were chosen at random, that each class forms its own region of scores, "
        "and that there are enough rows for densities in as many dimensions as there are models.",
    ),
    "ssme_m": (
        "Fits the mixture of SSME to each classifier by itself.",
        "As SSME, but one classifier at a time: nothing is learned from the others.",
    ),
    "weighted_ensemble": (
        "As the mean score, with weights for the classifiers that fit the labeled rows best.",
        "That some weighted mean of the scores is calibrated.",
    ),
    "majority_vote": (
        "Lets the classifiers vote on every unlabeled row, each weighted by its labeled accuracy.",
        "That the classifiers err independently and that the vote is mostly right.",
    ),
    "pseudo_label": (
        "Learns the label from the scores by logistic regression on the labeled rows.",
        "That the labeled rows suffice to learn that regression.",
    ),
    "dawid_skene": (
        "Estimates each classifier's confusion matrix and the labels together, from the decisions.",
        "That classifiers err independently given the true class; scores are not used.",
    ),
    "bayesian_calibration": (
        "Recalibrates each classifier's scores with a Bayesian regression on the labeled rows.",
        "That a beta calibration curve fits each classifier.",
    ),
    "spe": (
        "Fits two score densities of a fixed shape to each classifier, as semi-supervised "
        "performance evaluation does.",
        "That scores of each class follow that shape.",
    ),
    "autoeval": (
        "Corrects the estimate from the classifiers' own confidence with the labeled rows (PPI++).",
        "That the labeled rows were chosen at random; intervals are for large samples.",
    ),
    "ppi": (
        "Corrects an estimate from pseudo-labels by how wrong it is on the labeled rows.",
        "That the labeled rows were chosen at random; intervals are for large samples.",
    ),
    "stratified_ppi": (
        "Prediction-powered inference within strata of confidence.",
        "That the labeled rows were chosen at random and fill every stratum.",
    ),
    "active_testing": (
        "Reweights labels that were chosen for being informative so that the estimate is unbiased.",
        "That the probabilities the labels were chosen with are the ones declared.",
    ),
    "cbpe": (
        "Takes each classifier's own confidence as the probability of being right.",
        "That every classifier is calibrated.",
    ),
    "atc": (
        "Finds the confidence above which the share of labeled rows equals the labeled accuracy, "
        "and counts unlabeled rows above it.",
        "That this threshold carries over to the unlabeled rows.",
    ),
    "agreement": (
        "Reads accuracy off how often the classifiers agree with one another.",
        "That agreement predicts accuracy, as it does for independently trained networks.",
    ),
}
"""method -> (what it does, what it assumes)."""
