-- Tokens: programs that work with the service, and people who sign in to the console with one. `digest` stands for the
-- secret, which is shown once and not kept.

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    -- Whose it is: an account on another platform, or platform 'api' and its own name for a service account.
    platform TEXT NOT NULL,
    person TEXT NOT NULL,
    person_name TEXT NOT NULL,
    -- A list of rights as JSON, and one of the ids of the only phones that they are for; '[]' for every phone.
    rights TEXT NOT NULL,
    phones TEXT NOT NULL,
    -- Whether questions about its tasks may be approved through MCP.
    approves_by_mcp INTEGER NOT NULL,
    made REAL NOT NULL,
    expires REAL NOT NULL,
    -- NULL until the first use.
    used REAL
) STRICT, WITHOUT ROWID;

-- A session that was begun with a token ends with it; '' for one of the operator.
ALTER TABLE console_sessions ADD COLUMN token TEXT NOT NULL DEFAULT '';

-- Approving and operating stand beside each other: one subject may have several rights for one phone.
CREATE TABLE grants_beside (
    platform TEXT NOT NULL,
    -- The server whose role it is; '' for a person.
    guild TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- '' for every phone.
    phone TEXT NOT NULL,
    may TEXT NOT NULL CHECK (may IN ('use', 'approve', 'operate', 'admin')),
    PRIMARY KEY (platform, guild, subject, phone, may)
) STRICT, WITHOUT ROWID;
INSERT INTO grants_beside SELECT platform, guild, subject, phone, may FROM grants;
DROP TABLE grants;
ALTER TABLE grants_beside RENAME TO grants;
