-- Which machine a phone belongs to: the one that had it first, until an admin moves it.

CREATE TABLE phone_hosts (
    phone TEXT PRIMARY KEY,
    -- The host's name, '' for the machine of the service itself.
    host TEXT NOT NULL
) STRICT, WITHOUT ROWID;
