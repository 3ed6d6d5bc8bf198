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
