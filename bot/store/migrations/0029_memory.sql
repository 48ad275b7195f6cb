-- What people have told the service to remember. `person` is the account that told it, as platform:id.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person TEXT NOT NULL,
    text TEXT NOT NULL,
    -- The id of the phone for which alone it holds; '' for all.
    phone TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('person', 'screen', 'web')),
    created REAL NOT NULL,
    used REAL,
    -- What made the vector, and the vector as 32-bit floats, little-endian; '' and NULL for none.
    embedder TEXT NOT NULL DEFAULT '',
    vector BLOB
) STRICT;
CREATE INDEX facts_of_person ON facts (person);

-- The words of facts, by three letters; the texts themselves stand in the table alone.
CREATE VIRTUAL TABLE facts_words USING fts5 (text, content = 'facts', content_rowid = 'id', tokenize = 'trigram');
CREATE TRIGGER facts_added AFTER INSERT ON facts BEGIN
    INSERT INTO facts_words (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER facts_removed AFTER DELETE ON facts BEGIN
    INSERT INTO facts_words (facts_words, rowid, text) VALUES ('delete', old.id, old.text);
END;

-- When an account has last had something forgotten: checkpoints of its tasks from before go as soon as these have ended.
CREATE TABLE forgettings (
    person TEXT PRIMARY KEY,
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;
