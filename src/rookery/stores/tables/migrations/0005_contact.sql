ALTER TABLE agents ADD COLUMN sleeping_until INTEGER;

-- The long columns have to stay the last ones, so the table is made anew. Its rows keep their `rid`, which the
-- deliveries and the words point to.
ALTER TABLE messages RENAME TO former_messages;

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
    trace        TEXT,
    hops         INTEGER NOT NULL,
    task         TEXT,
    digest       BLOB NOT NULL,
    content      TEXT NOT NULL,
    metadata     TEXT NOT NULL
);
INSERT INTO messages (
    rid, id, conversation, seq, sender, recipient, type, reply_to, thread, pattern, priority, created_at,
    expires_at, hops, digest, content, metadata
) SELECT
    rid, id, conversation, seq, sender, recipient, type, reply_to, thread, pattern, priority, created_at,
    expires_at, 0, digest, content, metadata
FROM former_messages ORDER BY rid;
DROP TABLE former_messages;
CREATE UNIQUE INDEX messages_by_seq ON messages (conversation, seq);
-- Most messages start a thread of their own; only those that joined one are worth an index entry.
CREATE INDEX messages_by_thread ON messages (thread, rid) WHERE thread <> id;

-- Each of the following is kept whole in `paper`, as JSON; `rid` is the order in which they came. The other columns
-- are copies of what they are looked up by.

CREATE TABLE asks (
    rid        INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE,
    asker      TEXT NOT NULL,
    target     TEXT NOT NULL,
    deadline   INTEGER NOT NULL,
    open       INTEGER NOT NULL,
    paper      TEXT NOT NULL
);
CREATE INDEX asks_open_to ON asks (target, rid) WHERE open;
CREATE INDEX asks_open_by ON asks (asker, rid) WHERE open;
CREATE INDEX asks_due ON asks (deadline, rid) WHERE open;

-- A task is never deleted, so the last `rid` is the number of tasks.
CREATE TABLE tasks (
    rid        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    parent     TEXT,
    requester  TEXT NOT NULL,
    assignee   TEXT NOT NULL,
    not_before INTEGER,
    open       INTEGER NOT NULL,
    paper      TEXT NOT NULL
);
CREATE INDEX tasks_by_parent ON tasks (parent, rid) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_requester ON tasks (requester, rid);
CREATE INDEX tasks_by_assignee ON tasks (assignee, rid);
CREATE INDEX tasks_open ON tasks (rid) WHERE open;
CREATE INDEX tasks_open_by ON tasks (requester, rid) WHERE open;
CREATE INDEX tasks_open_to ON tasks (assignee, rid) WHERE open;
CREATE INDEX tasks_put_off ON tasks (not_before, rid) WHERE open AND not_before IS NOT NULL;

CREATE TABLE rules (
    rid    INTEGER PRIMARY KEY,
    agent  TEXT NOT NULL,
    target TEXT NOT NULL,
    paper  TEXT NOT NULL
);
CREATE UNIQUE INDEX rules_by_target ON rules (agent, target);
CREATE INDEX rules_by_agent ON rules (agent, rid);

CREATE TABLE approvals (
    rid        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    agent      TEXT NOT NULL,
    key        TEXT,
    expires_at INTEGER NOT NULL,
    pending    INTEGER NOT NULL,
    paper      TEXT NOT NULL
);
CREATE INDEX approvals_by_agent ON approvals (agent, rid);
CREATE INDEX approvals_by_key ON approvals (agent, key, rid) WHERE key IS NOT NULL;
CREATE INDEX approvals_pending ON approvals (rid) WHERE pending;
CREATE INDEX approvals_pending_of ON approvals (agent, rid) WHERE pending;
CREATE INDEX approvals_due ON approvals (expires_at, rid) WHERE pending;

CREATE TABLE held (
    rid        INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE,
    approval   TEXT NOT NULL,
    paper      TEXT NOT NULL
);
CREATE INDEX held_by_approval ON held (approval, rid);

CREATE TABLE traces (
    id    TEXT NOT NULL PRIMARY KEY,
    paper TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE attention (
    agent TEXT NOT NULL PRIMARY KEY,
    paper TEXT NOT NULL
) WITHOUT ROWID;
