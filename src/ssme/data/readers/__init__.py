"""From a source to a `ScoreSet`: source -> columns -> rows -> checked set (`reading`)."""
