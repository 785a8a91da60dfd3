"""Estimates of groups of rows, which borrow strength from all rows."""
