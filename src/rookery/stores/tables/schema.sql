-- The schema as it stands, for reading. A test holds it to the sum of the migrations, which make it.

-- The records themselves. Nothing here is deleted but by pruning.

CREATE TABLE state (
    name  TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- `born` is the journal position of the registration; `same_name` the form in which two names are one.
CREATE TABLE agents (
    rid            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    name           TEXT NOT NULL,
    same_name      TEXT NOT NULL,
    kind           TEXT NOT NULL,
    role           TEXT NOT NULL,
    mode           TEXT NOT NULL,
    manager        TEXT,
    project        TEXT,
    model_name     TEXT,
    status         TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    last_active    INTEGER NOT NULL,
    deleted_at     INTEGER,
    born           INTEGER NOT NULL,
    sleeping_until INTEGER
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
    trace        TEXT,
    hops         INTEGER NOT NULL,
    task         TEXT,
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

-- `accepted` is a JSON list of times.
CREATE TABLE pacing (
    sender   TEXT NOT NULL,
    target   TEXT NOT NULL,
    level    INTEGER NOT NULL,
    accepted TEXT NOT NULL,
    PRIMARY KEY (sender, target)
) WITHOUT ROWID;

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

-- What each inbox holds: counting a hundred thousand unread deliveries on each request would cost milliseconds.
-- Changes are counted by triggers, which no code can forget; arrivals by the code that stores them, once for all
-- sends that are committed together.

CREATE TABLE inboxes (
    recipient TEXT NOT NULL PRIMARY KEY,
    new       INTEGER NOT NULL,
    cur       INTEGER NOT NULL,
    done      INTEGER NOT NULL,
    dead      INTEGER NOT NULL,
    unread    INTEGER NOT NULL,
    direct    INTEGER NOT NULL,
    handed    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER deliveries_counted_over AFTER UPDATE ON deliveries
WHEN OLD.folder <> NEW.folder
    OR (OLD.seen_at IS NULL) <> (NEW.seen_at IS NULL)
    OR (OLD.cleared_at IS NULL) <> (NEW.cleared_at IS NULL)
    OR (OLD.handed_off_at IS NULL) <> (NEW.handed_off_at IS NULL)
BEGIN
    UPDATE inboxes SET
        new = new + (NEW.cleared_at IS NULL AND NEW.folder = 'new')
            - (OLD.cleared_at IS NULL AND OLD.folder = 'new'),
        cur = cur + (NEW.cleared_at IS NULL AND NEW.folder = 'cur')
            - (OLD.cleared_at IS NULL AND OLD.folder = 'cur'),
        done = done + (NEW.cleared_at IS NULL AND NEW.folder = 'done')
            - (OLD.cleared_at IS NULL AND OLD.folder = 'done'),
        dead = dead + (NEW.cleared_at IS NULL AND NEW.folder = 'dead')
            - (OLD.cleared_at IS NULL AND OLD.folder = 'dead'),
        unread = unread + (NEW.cleared_at IS NULL AND NEW.folder = 'new' AND NEW.seen_at IS NULL)
            - (OLD.cleared_at IS NULL AND OLD.folder = 'new' AND OLD.seen_at IS NULL),
        handed = handed + (NEW.direct AND NEW.handed_off_at IS NOT NULL)
            - (OLD.direct AND OLD.handed_off_at IS NOT NULL)
    WHERE recipient = NEW.recipient;
END;

CREATE TRIGGER deliveries_counted_out AFTER DELETE ON deliveries BEGIN
    UPDATE inboxes SET
        new = new - (OLD.cleared_at IS NULL AND OLD.folder = 'new'),
        cur = cur - (OLD.cleared_at IS NULL AND OLD.folder = 'cur'),
        done = done - (OLD.cleared_at IS NULL AND OLD.folder = 'done'),
        dead = dead - (OLD.cleared_at IS NULL AND OLD.folder = 'dead'),
        unread = unread - (OLD.cleared_at IS NULL AND OLD.folder = 'new' AND OLD.seen_at IS NULL),
        direct = direct - OLD.direct,
        handed = handed - (OLD.direct AND OLD.handed_off_at IS NOT NULL)
    WHERE recipient = OLD.recipient;
END;

-- Words of the messages. Filled behind the sends: `indexed` is the last rid that is in it, and a search looks
-- through the messages after that one by itself.
CREATE VIRTUAL TABLE search USING fts5 (
    content, content = 'messages', content_rowid = 'rid', tokenize = 'unicode61 remove_diacritics 2'
);
