-- The records themselves. Nothing here is deleted but by pruning.

CREATE TABLE state (
    name  TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- `born` is the journal position of the registration; `same_name` the form in which two names are one.
CREATE TABLE agents (
    rid         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    same_name   TEXT NOT NULL,
    kind        TEXT NOT NULL,
    role        TEXT NOT NULL,
    mode        TEXT NOT NULL,
    manager     TEXT,
    project     TEXT,
    model_name  TEXT,
    status      TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    last_active INTEGER NOT NULL,
    deleted_at  INTEGER,
    born        INTEGER NOT NULL
);
CREATE UNIQUE INDEX agents_by_name ON agents (same_name) WHERE deleted_at IS NULL;

CREATE TABLE conversations (
    id       TEXT NOT NULL PRIMARY KEY,
    last_seq INTEGER NOT NULL
) WITHOUT ROWID;

-- `rid` is the order of arrival; `priority` a rank, so that it sorts; `digest` covers every other column.
-- The long columns come last: what looks at the short ones never walks through a long text.
CREATE TABLE messages (
    rid          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    sender       TEXT NOT NULL,
    recipient    TEXT NOT NULL,
    type         TEXT NOT NULL,
    reply_to     TEXT,
    thread       TEXT NOT NULL,
    pattern      TEXT,
    priority     INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    digest       BLOB NOT NULL,
    content      TEXT NOT NULL,
    metadata     TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_by_seq ON messages (conversation, seq);
-- Most messages start a thread of their own; only those that joined one are worth an index entry.
CREATE INDEX messages_by_thread ON messages (thread, rid) WHERE thread <> id;

-- `priority`, `expires_at` and `direct` are copies of the message's, so that an index can hold them.
CREATE TABLE deliveries (
    rid            INTEGER PRIMARY KEY,
    message        INTEGER NOT NULL,
    recipient      TEXT NOT NULL,
    priority       INTEGER NOT NULL,
    expires_at     INTEGER,
    direct         INTEGER NOT NULL,
    folder         TEXT NOT NULL,
    stored_at      INTEGER NOT NULL,
    handed_off_at  INTEGER,
    handed_off_via TEXT,
    seen_at        INTEGER,
    seen_via       TEXT,
    claimed_at     INTEGER,
    claimed_by     TEXT,
    expiries       INTEGER NOT NULL DEFAULT 0,
    completed_at   INTEGER,
    completed_by   TEXT,
    result         TEXT,
    error          TEXT,
    note           TEXT,
    replied_at     INTEGER,
    reply_id       TEXT,
    cleared_at     INTEGER
);
CREATE UNIQUE INDEX deliveries_by_message ON deliveries (message, recipient);
CREATE INDEX deliveries_by_folder ON deliveries (recipient, folder, priority DESC, rid)
    WHERE cleared_at IS NULL;
CREATE INDEX deliveries_unread ON deliveries (recipient, priority DESC, rid)
    WHERE folder = 'new' AND seen_at IS NULL AND cleared_at IS NULL;
CREATE INDEX deliveries_claimed ON deliveries (claimed_at)
    WHERE folder = 'cur' AND cleared_at IS NULL;
CREATE INDEX deliveries_expiring ON deliveries (expires_at, recipient)
    WHERE expires_at IS NOT NULL AND folder = 'new' AND seen_at IS NULL AND cleared_at IS NULL;

-- `audience` is '*' for everyone, else the ids, separated by spaces. Those ids are in `audiences` as well,
-- so that one agent's share of the journal is a range.
CREATE TABLE events (
    position   INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    token_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    audience   TEXT NOT NULL,
    message_id TEXT,
    data       TEXT NOT NULL
);
CREATE INDEX events_for_everyone ON events (position) WHERE audience = '*';
CREATE INDEX events_of_clearing ON events (position) WHERE type = 'messages_cleared';

CREATE TABLE audiences (
    agent    TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (agent, position)
) WITHOUT ROWID;

CREATE TABLE tokens (
    rid        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    digest     BLOB NOT NULL UNIQUE,
    holder     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE INDEX tokens_by_holder ON tokens (holder);

CREATE TABLE idempotency (
    sender     TEXT NOT NULL,
    key        TEXT NOT NULL,
    message_id TEXT NOT NULL,
    digest     BLOB NOT NULL,
    PRIMARY KEY (sender, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_message ON idempotency (message_id);

-- `accepted` is a JSON list of times.
CREATE TABLE pacing (
    sender   TEXT NOT NULL,
    target   TEXT NOT NULL,
    level    INTEGER NOT NULL,
    accepted TEXT NOT NULL,
    PRIMARY KEY (sender, target)
) WITHOUT ROWID;

-- The journal goes on after this position at the least, whatever it holds.
INSERT INTO state (name, value) VALUES ('floor', 0);
