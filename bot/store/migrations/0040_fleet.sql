-- Hosts: other machines whose phones this service uses. A service without hosts, and a host, leave some of these empty.

CREATE TABLE fleet_hosts (
    name TEXT PRIMARY KEY,
    -- The public key that it signs in with, and the one that secrets are encrypted with for it.
    nkey TEXT NOT NULL UNIQUE,
    seal TEXT NOT NULL,
    joined REAL NOT NULL,
    -- NULL until somebody ends it.
    revoked REAL
) STRICT, WITHOUT ROWID;

-- What a host is let in with once. Only digests are kept.
CREATE TABLE fleet_invites (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    expires REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs that are done by hosts: with the hub, each with its host; with a host, those that it was given.
CREATE TABLE fleet_runs (
    run TEXT PRIMARY KEY,
    -- '' for a run on a phone of the hub itself.
    host TEXT NOT NULL,
    person TEXT NOT NULL,
    -- The last event that the record has taken in, or a host has written.
    taken INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Events on their way: with a host those that are not known to have arrived, with the hub those that are not in the
-- record yet.
CREATE TABLE fleet_events (
    run TEXT NOT NULL,
    n INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- How often a hub was started, so that what an earlier one has said is known as such.
CREATE TABLE fleet_epochs (
    epoch INTEGER PRIMARY KEY
) STRICT;
