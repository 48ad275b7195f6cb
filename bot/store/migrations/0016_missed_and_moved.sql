-- What people wrote while the service was away: told to them, and done only when they say so.

CREATE TABLE missed (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    person_language TEXT NOT NULL,
    place TEXT NOT NULL,
    private INTEGER NOT NULL,
    event TEXT NOT NULL,
    -- The id of the message there; '' when it is not known.
    message TEXT NOT NULL,
    -- As it was typed, for people; what it means follows: a command with its options as JSON text.
    text TEXT NOT NULL,
    prefix TEXT NOT NULL,
    command TEXT NOT NULL,
    options TEXT NOT NULL,
    rest TEXT NOT NULL,
    files TEXT NOT NULL,
    written REAL NOT NULL,
    -- The message that lists it; NULL before.
    listed TEXT,
    done INTEGER NOT NULL DEFAULT 0,
    UNIQUE (place, event)
) STRICT;
CREATE INDEX missed_unlisted ON missed (place) WHERE listed IS NULL;

-- Chats that have another id now: a Telegram group that became a supergroup. Lists that name the old one mean it still.
CREATE TABLE moved_chats (
    platform TEXT NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    moved REAL NOT NULL,
    PRIMARY KEY (platform, old)
) STRICT, WITHOUT ROWID;
