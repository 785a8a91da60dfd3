"""From a source to a `ScoreSet`: source -> columns -> raw table -> checked set.

sources (`sources`, `csv_files`, `array_files`, `arrow`, `tables`) open what people have; `columns`
says which column holds what; `wide` and `long` take the rows out; `frames`, `files` and
`huggingface` are the doors.
"""
