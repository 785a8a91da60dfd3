"""Panels of classifiers on many public tables: what `auto` is learned from and judged on."""
