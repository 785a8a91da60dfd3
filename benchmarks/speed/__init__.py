"""Ratios within one run."""
