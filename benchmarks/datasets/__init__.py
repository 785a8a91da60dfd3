"""Named data sets, how they are fetched, and synthetic ones."""
