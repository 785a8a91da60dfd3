"""Mutation testing: small faults put into the source, to see whether a test notices."""
