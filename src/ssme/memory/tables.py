"""The tables of a project's file. Step k (from 0) leads from version k to version k + 1.

What `ssme.memory` keeps is only added to. The tables of the page (`ssme.serve.store`) are in the
same file, so that one query and one transaction cover both.
"""

from __future__ import annotations

MIGRATIONS = (
    # Version 1: labels, evaluations and decisions.
    """
    CREATE TABLE label_event (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL, row TEXT NOT NULL,
        label TEXT, annotator TEXT NOT NULL, given_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX label_event_row ON label_event (data, row);
    CREATE TABLE evaluation (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL,
        spec TEXT NOT NULL, method TEXT NOT NULL, n_rows INTEGER NOT NULL,
        n_labeled INTEGER NOT NULL, version TEXT NOT NULL, made_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE estimate (
        evaluation INTEGER NOT NULL REFERENCES evaluation (id), model TEXT NOT NULL,
        metric TEXT NOT NULL, "group" TEXT NOT NULL,
        estimate REAL, low REAL, high REAL, labels_only REAL,
        PRIMARY KEY (evaluation, model, metric, "group")
    ) STRICT;
    CREATE TABLE decision (
        evaluation INTEGER NOT NULL REFERENCES evaluation (id), metric TEXT NOT NULL,
        pick TEXT NOT NULL, p_best REAL, regret REAL, possible_best TEXT NOT NULL,
        PRIMARY KEY (evaluation, metric)
    ) STRICT;
    """,
    # Version 2: how a row was chosen for its label, and the distribution of scores.
    """
    ALTER TABLE label_event ADD COLUMN probability REAL;
    ALTER TABLE label_event ADD COLUMN reason TEXT NOT NULL DEFAULT '';
    ALTER TABLE evaluation ADD COLUMN scores TEXT NOT NULL DEFAULT '{}';
    """,
    # Version 3: how sure a decision was, in words, and how many rows each model has scored.
    """
    ALTER TABLE decision ADD COLUMN sureness TEXT NOT NULL DEFAULT '';
    ALTER TABLE evaluation ADD COLUMN scored TEXT NOT NULL DEFAULT '{}';
    """,
    # Version 4: the page, which had a file of its own. The last three tables follow from the label
    # events (`ssme.serve.labels`): what everybody said last, which label of a row counts, totals.
    """
    CREATE TABLE token (
        id TEXT PRIMARY KEY, role TEXT NOT NULL, annotator TEXT NOT NULL, made_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE session (
        id TEXT PRIMARY KEY, csrf TEXT NOT NULL, annotator TEXT NOT NULL,
        role TEXT NOT NULL DEFAULT 'owner', made_at TEXT NOT NULL,
        seen_at TEXT NOT NULL DEFAULT '', ended_at TEXT
    ) STRICT;
    CREATE TABLE file (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        sha256 TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
        read TEXT NOT NULL DEFAULT '{}', run TEXT NOT NULL DEFAULT '{}', shown TEXT, names TEXT,
        design TEXT NOT NULL DEFAULT 'goal', look INTEGER, tried INTEGER,
        opened_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE job (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES file (id), kind TEXT NOT NULL,
        key TEXT NOT NULL, request TEXT NOT NULL, labels INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '',
        made_at TEXT NOT NULL, ended_at TEXT
    ) STRICT;
    CREATE INDEX job_state ON job (state, kind);
    CREATE INDEX job_key ON job (key);
    CREATE INDEX job_file ON job (file, kind);
    CREATE TABLE suggestion (
        data TEXT NOT NULL, row TEXT NOT NULL, round INTEGER NOT NULL, place INTEGER NOT NULL,
        probability REAL, reason TEXT NOT NULL, given_by TEXT NOT NULL DEFAULT '',
        needs INTEGER NOT NULL DEFAULT 0, cells TEXT NOT NULL,
        PRIMARY KEY (data, row, round)
    ) STRICT;
    CREATE INDEX suggestion_round ON suggestion (data, round, place);
    CREATE INDEX suggestion_open ON suggestion (data, given_by, round, place) WHERE needs > 0;
    CREATE TABLE claim (
        data TEXT NOT NULL, row TEXT NOT NULL, annotator TEXT NOT NULL, at TEXT NOT NULL,
        skipped INTEGER NOT NULL,
        PRIMARY KEY (data, row, annotator)
    ) STRICT;
    CREATE TABLE given (
        data TEXT NOT NULL, row TEXT NOT NULL, annotator TEXT NOT NULL, label TEXT,
        event INTEGER NOT NULL,
        PRIMARY KEY (data, row, annotator)
    ) STRICT;
    CREATE INDEX given_by ON given (data, annotator, event);
    CREATE TABLE labeled_row (
        data TEXT NOT NULL, row TEXT NOT NULL, label TEXT, verdict TEXT,
        in_conflict INTEGER NOT NULL,
        PRIMARY KEY (data, row)
    ) STRICT;
    CREATE INDEX labeled_row_conflict ON labeled_row (data) WHERE in_conflict;
    CREATE TABLE total (
        data TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL,
        PRIMARY KEY (data, name)
    ) STRICT
    """,
    # Version 5: a guideline, how many rows go to two people, who sees results; notes on rows.
    """
    ALTER TABLE file ADD COLUMN guide TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE file ADD COLUMN double_every INTEGER NOT NULL DEFAULT 5;
    ALTER TABLE file ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE suggestion ADD COLUMN people INTEGER NOT NULL DEFAULT 1;
    UPDATE suggestion SET people = iif(place % 5, 1, 2);
    CREATE TABLE note (
        data TEXT NOT NULL, row TEXT NOT NULL, annotator TEXT NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (data, row, annotator)
    ) STRICT
    """,
    # Version 6: how many people label some rows, which rows each person labels, and their keys.
    """
    ALTER TABLE file ADD COLUMN people INTEGER NOT NULL DEFAULT 2;
    ALTER TABLE file ADD COLUMN third INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE suggestion ADD COLUMN groups TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE suggestion ADD COLUMN assigned TEXT NOT NULL DEFAULT '';
    CREATE TABLE person (
        file INTEGER NOT NULL REFERENCES file (id), annotator TEXT NOT NULL,
        keys TEXT NOT NULL DEFAULT '{}', share REAL NOT NULL DEFAULT 0,
        "group" TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (file, annotator)
    ) STRICT
    """,
    # Version 7: indexes, so that a click costs the same whatever the number of labels.
    """
    CREATE INDEX label_event_data ON label_event (data);
    CREATE INDEX claim_of ON claim (data, annotator)
    """,
    # Version 8: classes that a file proposes, whether they are shown, and which a label followed.
    """
    ALTER TABLE label_event ADD COLUMN proposal TEXT;
    ALTER TABLE file ADD COLUMN proposed INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE proposal (
        data TEXT NOT NULL, row TEXT NOT NULL, proposal TEXT NOT NULL,
        PRIMARY KEY (data, row)
    ) STRICT
    """,
)
