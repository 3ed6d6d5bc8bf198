-- `members` is a JSON list of agent ids, in the order they joined.
CREATE TABLE channels (
    rid         INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    topic       TEXT,
    members     TEXT NOT NULL,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    archived_at INTEGER
);
