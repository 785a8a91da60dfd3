"""From a source to a `ScoreSet`: one format per file."""
