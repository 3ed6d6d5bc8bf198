-- Words of the messages. Filled behind the sends: `indexed` is the last rid that is in it, and a search looks
-- through the messages after that one by itself.
CREATE VIRTUAL TABLE search USING fts5 (
    content, content = 'messages', content_rowid = 'rid', tokenize = 'unicode61 remove_diacritics 2'
);

INSERT INTO state (name, value) VALUES ('indexed', 0);
