"""`ssme serve` as people start it: how soon it answers, under load, and what a kill leaves."""
