-- How much somebody may use in a day: the name of a tier, which the settings define.

CREATE TABLE person_tiers (
    platform TEXT NOT NULL,
    -- The server whose role it is; '' for a person.
    guild TEXT NOT NULL,
    subject TEXT NOT NULL,
    tier TEXT NOT NULL,
    PRIMARY KEY (platform, guild, subject)
) STRICT, WITHOUT ROWID;

-- The tier of its person when the task was accepted; roles are known only then.
CREATE TABLE task_tiers (
    task INTEGER PRIMARY KEY REFERENCES tasks (id),
    tier TEXT NOT NULL
) STRICT;
