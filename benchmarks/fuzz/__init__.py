"""Seeded fuzzers: generated and damaged input, and counts of what came of it."""
