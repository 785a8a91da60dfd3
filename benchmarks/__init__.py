"""Accuracy against published numbers, speed against what a user would write."""
