-- The whole schema of version 0.1.0. Later versions change it in files of their own, with the next numbers.
--
-- Times are Unix seconds and durations seconds. Addresses, messages, usage and what else has fields is JSON text;
-- booleans are 0 and 1. A person is an account: its platform, its id there, and how it is called.


-- Tasks, and what they were asked by -----------------------------------------------------------------------------

-- What people have asked for: as it was asked, where it stands, and what came of it.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    -- In which language its messages are written; '' is English.
    person_language TEXT NOT NULL DEFAULT '',
    -- Where it was asked; the id of the asking message there, '' for none; where its card and messages go.
    origin TEXT NOT NULL,
    anchor TEXT NOT NULL,
    place TEXT,
    -- The phone is the one that is wished until it has one, '' for any.
    phone TEXT NOT NULL,
    -- The skill that it follows, and what that is done with: an object of texts by the names of its parameters.
    skill TEXT NOT NULL DEFAULT '',
    arguments TEXT NOT NULL DEFAULT '{}',
    -- The schedule of the watch of which it is a reading; '' for a task that is none.
    schedule TEXT NOT NULL DEFAULT '',
    -- All else that it was accepted with, as JSON.
    request TEXT NOT NULL,

    -- The task on several phones of which it is one phone's part, and of how many parts it consists itself.
    parent INTEGER REFERENCES tasks (id),
    parts INTEGER NOT NULL DEFAULT 0,

    state TEXT NOT NULL CHECK (state IN ('queued', 'working', 'waiting', 'paused', 'interrupted', 'ended')),
    created REAL NOT NULL,
    changed REAL NOT NULL,
    -- When its person was first told that it waits for a phone.
    waiting REAL,
    started REAL,
    ended REAL,
    -- What its phone is called; '' before it has one.
    phone_name TEXT NOT NULL DEFAULT '',
    -- The todo list as last planned.
    todos TEXT NOT NULL DEFAULT '[]',
    steps INTEGER NOT NULL DEFAULT 0,
    -- How many of its steps were shown as messages.
    told INTEGER NOT NULL DEFAULT 0,
    -- The reference of its last picture.
    frame TEXT,
    -- The acting model that was set when it was accepted; '' until then.
    model TEXT NOT NULL DEFAULT '',
    usage TEXT NOT NULL,
    -- The pages that were read for it: a list of titles and addresses.
    sources TEXT NOT NULL DEFAULT '[]',
    outcome TEXT,
    summary TEXT NOT NULL DEFAULT '',
    data TEXT,
    -- What came of a reading; '' before its end, and for a task that is none.
    verdict TEXT NOT NULL DEFAULT '',
    -- How much of it was removed because of its age: 0 nothing, 1 its checkpoints, 2 its steps and messages too.
    pruned INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'ended') = (outcome IS NOT NULL)),
    CHECK ((state = 'ended') = (ended IS NOT NULL))
) STRICT;
CREATE INDEX tasks_live ON tasks (state) WHERE state <> 'ended';
CREATE INDEX tasks_place ON tasks (place);
CREATE INDEX tasks_person ON tasks (person_platform, person_id);
CREATE INDEX tasks_created ON tasks (created);
CREATE INDEX tasks_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_prunable ON tasks (ended) WHERE state = 'ended' AND pruned < 2;
CREATE INDEX tasks_of_skills ON tasks (skill) WHERE skill <> '';

-- The messages that tasks came from: the same one makes no second task.
CREATE TABLE events (
    source TEXT NOT NULL,
    event TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (id),
    seen REAL NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;

-- The tier of each task's person when it was accepted; roles are known only then.
CREATE TABLE task_tiers (
    task INTEGER PRIMARY KEY REFERENCES tasks (id),
    tier TEXT NOT NULL
) STRICT;

-- Tasks that are given again at set times, and watches.
CREATE TABLE schedules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    person_language TEXT NOT NULL,
    origin TEXT NOT NULL,
    private INTEGER NOT NULL,
    -- The command that made it: the same one makes no second.
    event TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('at', 'every', 'cron')),
    rule TEXT NOT NULL,
    zone TEXT NOT NULL,
    -- The times as they were written.
    words TEXT NOT NULL,
    -- The task with how it is to be done, as JSON.
    draft TEXT NOT NULL,
    created REAL NOT NULL,
    due REAL NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    -- The run that was begun last, and how many were left out since because that one still worked.
    task INTEGER REFERENCES tasks (id),
    skipped INTEGER NOT NULL DEFAULT 0,
    -- What a person has allowed ahead (agent.standing_yes.StandingYes); '' for nothing.
    standing TEXT NOT NULL DEFAULT '',
    -- What it watches, and what it remembers of its readings; '' for a schedule that watches nothing.
    watch TEXT NOT NULL DEFAULT '',
    readings TEXT NOT NULL DEFAULT '',
    UNIQUE (origin, event)
) STRICT;
CREATE INDEX schedules_due ON schedules (due) WHERE paused = 0;


-- What is done for a task ----------------------------------------------------------------------------------------

-- Each step on a phone, for the card, the thread and the replay.
CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (id),
    run TEXT NOT NULL,
    subtask INTEGER NOT NULL,
    step INTEGER NOT NULL,
    max_steps INTEGER NOT NULL,
    summary TEXT NOT NULL,
    thought TEXT NOT NULL,
    action TEXT NOT NULL,
    -- What came of it, as a list of facts (agent.effect_facts).
    effects TEXT NOT NULL,
    -- The app's package, and what the phone calls it; '' where the phone did not tell.
    app TEXT NOT NULL,
    app_name TEXT NOT NULL DEFAULT '',
    -- The reference of its picture, and where that was touched.
    frame TEXT,
    mark_x INTEGER,
    mark_y INTEGER,
    -- What it touched and on what screen, which a skill can be made of (agent.recorded_skills.step_record).
    record TEXT NOT NULL,
    usage TEXT NOT NULL,
    seconds REAL NOT NULL,
    at REAL NOT NULL,
    UNIQUE (task, run, subtask, step)
) STRICT;
-- Whose steps show a picture. Twelve of 64 digits find the row, in a fifth of the room.
CREATE INDEX steps_frame ON steps (substr(frame, 1, 12)) WHERE frame IS NOT NULL;

-- What has happened to each task, in order: the log that everybody reads who follows it.
CREATE TABLE task_events (
    task INTEGER NOT NULL REFERENCES tasks (id),
    -- Counted up from 1 without a gap.
    number INTEGER NOT NULL,
    -- The id of the phone's part in which it happened; '' where one phone works, or for the whole task.
    part TEXT NOT NULL,
    at REAL NOT NULL,
    -- The kind of the event and what it says (bot.domain.task_events). Answers of people and secrets are not in it.
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    -- The conversation that it is told in, the number there of the last event that it is, and its message.
    conversation TEXT REFERENCES conversations (id) ON DELETE SET NULL,
    told INTEGER NOT NULL,
    message INTEGER,
    PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_events_of_conversation ON task_events (conversation, told) WHERE conversation IS NOT NULL;

-- The journal of inputs: each is written here before it is sent to the phone.
CREATE TABLE actions (
    run TEXT NOT NULL,
    subtask INTEGER NOT NULL,
    step INTEGER NOT NULL,
    part INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    action TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'rejected', 'uncertain')),
    effect TEXT NOT NULL DEFAULT '',
    begun REAL NOT NULL,
    finished REAL,
    PRIMARY KEY (run, subtask, step, part)
) STRICT, WITHOUT ROWID;

-- Calls of tools that need no phone, each written before it runs; arguments and result are without secrets.
CREATE TABLE tool_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL,
    member TEXT NOT NULL,
    number INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    part INTEGER NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    -- Whether it may be run again when its end is unknown.
    repeatable INTEGER NOT NULL,
    -- The same text for equal calls, whose result is taken again; '' for calls that are never equal.
    same TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'failed', 'skipped', 'stopped', 'uncertain')),
    result TEXT NOT NULL DEFAULT '{}',
    cached INTEGER NOT NULL DEFAULT 0,
    begun REAL NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    UNIQUE (task, member, number, turn, part)
) STRICT;
CREATE INDEX tool_calls_same ON tool_calls (task, same) WHERE state = 'done' AND same <> '';

-- Who works on which phone. A lease is open until it is released; each of a phone has a higher fence.
CREATE TABLE leases (
    phone TEXT NOT NULL,
    fence INTEGER NOT NULL,
    run TEXT NOT NULL,
    taken REAL NOT NULL,
    expires REAL NOT NULL,
    released REAL,
    PRIMARY KEY (phone, fence)
) STRICT, WITHOUT ROWID;
-- Two runs can never hold one phone, whatever the program does.
CREATE UNIQUE INDEX leases_one_run_per_phone ON leases (phone) WHERE released IS NULL;
CREATE UNIQUE INDEX leases_one_phone_per_run ON leases (run) WHERE released IS NULL;

-- The order in which runs wait for a phone.
CREATE TABLE tickets (
    run TEXT PRIMARY KEY,
    rank INTEGER NOT NULL
) STRICT, WITHOUT ROWID;


-- What people are asked and told ---------------------------------------------------------------------------------

-- Questions to people and what became of them. The answer to a question for a secret is ''.
CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (id),
    question TEXT NOT NULL,
    asked REAL NOT NULL,
    expires REAL NOT NULL,
    -- The message that shows it.
    message TEXT,
    answer TEXT,
    answered_by TEXT NOT NULL DEFAULT '',
    -- 1 once it is closed without an answer.
    expired INTEGER NOT NULL DEFAULT 0,
    -- When it was closed, and why without an answer: 'expired', 'cancelled', 'ended', 'went_on' or 'given_up'.
    closed REAL,
    closing TEXT NOT NULL DEFAULT '',
    CHECK (expired = 0 OR answer IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_task ON questions (task);
CREATE INDEX questions_message ON questions (message);
CREATE INDEX questions_open ON questions (expires) WHERE answer IS NULL AND expired = 0;

-- Messages to send, written together with what causes them. What `subject` and `name` are depends on the kind.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (id),
    kind TEXT NOT NULL CHECK (kind IN ('final', 'question', 'notice', 'file')),
    subject TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
    -- 1 when the process died while it was being sent: it may have arrived.
    uncertain INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    -- As what it arrived, and why it was given up.
    message TEXT,
    why TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX outbox_one_final_per_task ON outbox (task) WHERE kind = 'final';
CREATE UNIQUE INDEX outbox_one_message_per_question ON outbox (subject) WHERE kind = 'question';
CREATE INDEX outbox_open ON outbox (task, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_task ON outbox (task);

-- The message that is each task's card.
CREATE TABLE cards (
    task INTEGER PRIMARY KEY REFERENCES tasks (id),
    message TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;


-- People: their rights, accounts and memory ----------------------------------------------------------------------

-- Rights that admins have given. One subject may have several rights for one phone.
CREATE TABLE grants (
    platform TEXT NOT NULL,
    -- The server whose role it is; '' for a person.
    guild TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- '' for every phone.
    phone TEXT NOT NULL,
    may TEXT NOT NULL CHECK (may IN ('use', 'approve', 'operate', 'admin')),
    PRIMARY KEY (platform, guild, subject, phone, may)
) STRICT, WITHOUT ROWID;

-- How much somebody may use in a day: the name of a tier, which the settings define.
CREATE TABLE person_tiers (
    platform TEXT NOT NULL,
    -- The server whose role it is; '' for a person.
    guild TEXT NOT NULL,
    subject TEXT NOT NULL,
    tier TEXT NOT NULL,
    PRIMARY KEY (platform, guild, subject)
) STRICT, WITHOUT ROWID;

-- Accounts on several platforms that belong to one person: the same number is the same person.
CREATE TABLE links (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    person INTEGER NOT NULL,
    PRIMARY KEY (platform, account),
    UNIQUE (person, platform)
) STRICT, WITHOUT ROWID;

-- What people did with their rights. Entries are added and never changed.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    task INTEGER REFERENCES tasks (id),
    detail TEXT NOT NULL
) STRICT;

-- How often strangers were refused. Counts only: nothing is kept about them.
CREATE TABLE refusals (
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,
    day TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (platform, kind, day)
) STRICT, WITHOUT ROWID;

-- Settings that admins have changed while the service ran, which win over the environment.
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    -- As it was typed.
    value TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What people have told the service to remember.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The account that told it, as platform:id.
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

-- The words of facts, by three letters; the texts themselves are in the table of facts alone.
CREATE VIRTUAL TABLE facts_words USING fts5 (text, content = 'facts', content_rowid = 'id', tokenize = 'trigram');
CREATE TRIGGER facts_added AFTER INSERT ON facts BEGIN
    INSERT INTO facts_words (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER facts_removed AFTER DELETE ON facts BEGIN
    INSERT INTO facts_words (facts_words, rowid, text) VALUES ('delete', old.id, old.text);
END;

-- When an account has last had something forgotten: earlier checkpoints of its tasks go as soon as these have ended.
CREATE TABLE forgettings (
    person TEXT PRIMARY KEY,
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Who has handed in which file: it is taken for a task of theirs, not of somebody else who knows its reference.
CREATE TABLE handed_in (
    content TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (content, person_platform, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX handed_in_by_age ON handed_in (at);


-- Chats ----------------------------------------------------------------------------------------------------------

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
    -- As it was typed, for people; what it means follows: a command with its options.
    text TEXT NOT NULL,
    prefix TEXT NOT NULL,
    command TEXT NOT NULL,
    options TEXT NOT NULL,
    rest TEXT NOT NULL,
    files TEXT NOT NULL,
    written REAL NOT NULL,
    -- The message that lists it; NULL until there is one.
    listed TEXT,
    done INTEGER NOT NULL DEFAULT 0,
    UNIQUE (place, event)
) STRICT;
CREATE INDEX missed_unlisted ON missed (place) WHERE listed IS NULL;

-- Texts in private chats that are a task only once their writer has pressed for it, with the files that came along.
CREATE TABLE offers (
    id TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    person_language TEXT NOT NULL,
    place TEXT NOT NULL,
    private INTEGER NOT NULL,
    event TEXT NOT NULL,
    -- The id of the message there; '' when it is not known.
    message TEXT NOT NULL,
    text TEXT NOT NULL,
    files TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;

-- Voice notes that an endpoint has written down, for what they cost. What was said is not kept.
CREATE TABLE voice_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    model TEXT NOT NULL,
    seconds REAL NOT NULL,
    -- In the currency of the prices; NULL where there was none.
    cost REAL,
    created REAL NOT NULL
) STRICT;
CREATE INDEX voice_notes_created ON voice_notes (created);

-- Messages of chats that show a phone in somebody's hands: a reply to one is typed into the phone and kept nowhere, also
-- after that person has let the phone go.
CREATE TABLE hand_pictures (
    place TEXT NOT NULL,
    message TEXT NOT NULL,
    sent REAL NOT NULL,
    PRIMARY KEY (place, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX hand_pictures_by_age ON hand_pictures (sent);

-- Chats that have another id now: a Telegram group that became a supergroup. Lists that name the old one mean it still.
CREATE TABLE moved_chats (
    platform TEXT NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    moved REAL NOT NULL,
    PRIMARY KEY (platform, old)
) STRICT, WITHOUT ROWID;


-- The web console, programs and their conversations --------------------------------------------------------------

-- Tokens: programs that work with the service, and people who sign in to the console with one.
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    -- It stands for the secret, which is shown once and not kept.
    digest TEXT NOT NULL UNIQUE,
    -- Whose it is: an account on another platform, or platform 'api' and its own name for a service account.
    platform TEXT NOT NULL,
    person TEXT NOT NULL,
    person_name TEXT NOT NULL,
    -- A list of rights, and one of the ids of the only phones that they are for; '[]' for every phone.
    rights TEXT NOT NULL,
    phones TEXT NOT NULL,
    -- Whether questions about its tasks may be approved through MCP.
    approves_by_mcp INTEGER NOT NULL,
    made REAL NOT NULL,
    expires REAL NOT NULL,
    -- NULL until the first use.
    used REAL
) STRICT, WITHOUT ROWID;

-- Who is signed in to the console.
CREATE TABLE console_sessions (
    -- It is made with the session's id as key; the id itself is in the browser alone.
    digest TEXT PRIMARY KEY,
    -- How it was opened: 'token' or 'password'.
    way TEXT NOT NULL,
    -- From which network address.
    address TEXT NOT NULL,
    begun REAL NOT NULL,
    used REAL NOT NULL,
    -- The token with which it was begun, and with which it ends; '' for one of the operator.
    token TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- What the console has shown. A deleted message stays as an empty row, so that a page that was away hears of it.
CREATE TABLE console_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    revision INTEGER NOT NULL UNIQUE,
    -- Whose page shows it; '' is the operator's.
    owner TEXT NOT NULL DEFAULT '',
    thread TEXT NOT NULL,
    author TEXT NOT NULL CHECK (author IN ('bot', 'operator')),
    content TEXT NOT NULL,
    nonce TEXT NOT NULL UNIQUE,
    sent REAL NOT NULL,
    edited REAL,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX console_messages_thread ON console_messages (owner, thread, id);
CREATE INDEX console_messages_owner ON console_messages (owner, revision);

-- Conversations of programs: places where tasks are given.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    -- Whose it is, as platform:id.
    owner TEXT NOT NULL,
    title TEXT NOT NULL,
    made REAL NOT NULL,
    -- How its tasks are to be thought about; '' for what is set.
    model TEXT NOT NULL DEFAULT '',
    system_prompt TEXT NOT NULL DEFAULT '',
    -- How many events of its tasks were told in it.
    told INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversations_of ON conversations (owner, made);

-- What was said in them.
CREATE TABLE conversation_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL,
    -- The task that it is about, and the question that it asks; NULL and '' for none.
    task INTEGER,
    question TEXT NOT NULL,
    -- The same one is kept once.
    key TEXT NOT NULL,
    sent REAL NOT NULL,
    UNIQUE (conversation, key)
) STRICT;

-- Requests that carried an Idempotency-Key, by whose token: what was answered is answered again.
CREATE TABLE api_requests (
    person TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    -- 0 while it is worked on.
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (person, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_requests_by_age ON api_requests (at);


-- Recorded skills ------------------------------------------------------------------------------------------------

-- Who has saved a recorded skill, and of which task.
CREATE TABLE saved_skills (
    name TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    task INTEGER NOT NULL,
    saved REAL NOT NULL,
    -- What the gate's reader said of the presses that it was recorded with. It is kept here and not in the skill's
    -- folder: a folder from elsewhere could say that its presses are harmless.
    verdicts TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- What would be saved, as it was shown to the person who is to confirm it.
CREATE TABLE skill_drafts (
    id TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    name TEXT NOT NULL,
    task INTEGER NOT NULL,
    skill TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;

-- What the words of a recorded skill are called on phones with another locale, by the folded recorded word.
CREATE TABLE skill_names (
    skill TEXT NOT NULL,
    locale TEXT NOT NULL,
    names TEXT NOT NULL,
    PRIMARY KEY (skill, locale)
);


-- Phones, and the hosts that have them ---------------------------------------------------------------------------

-- What people call the phones. Names differ, in whatever case they are written.
CREATE TABLE phone_names (
    phone TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    changed REAL NOT NULL
) STRICT;

-- What phones are called without a name from people: their model, and a number behind it when another phone has that.
-- Kept, so that a name means the same phone after a restart, whichever is attached first.
CREATE TABLE usual_phone_names (
    phone TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Hosts: other machines whose phones this service uses. The tables of a fleet serve the hub and each host, which leaves
-- some of them empty.
CREATE TABLE fleet_hosts (
    name TEXT PRIMARY KEY,
    -- The public key that it signs in with, and the one that secrets are encrypted with for it.
    nkey TEXT NOT NULL UNIQUE,
    seal TEXT NOT NULL,
    joined REAL NOT NULL,
    -- NULL until somebody ends it.
    revoked REAL,
    -- Since when its key is not let in, because two machines used it. A new invitation ends it.
    blocked REAL
) STRICT, WITHOUT ROWID;

-- Which machine a phone belongs to: the one that had it first, until an admin moves it.
CREATE TABLE phone_hosts (
    phone TEXT PRIMARY KEY,
    -- The host's name, '' for the machine of the service itself.
    host TEXT NOT NULL
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

-- How often a hub was started, so that what an earlier start has said is known as such.
CREATE TABLE fleet_epochs (
    epoch INTEGER PRIMARY KEY
) STRICT;
