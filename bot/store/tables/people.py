"""Tables about people: rights, accounts, memory, tokens, the web console, and conversations of API clients."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint, false, text

from bot.store.tables.metadata import Flag, Number, Time, account, index, one_of, optional, required, table

# Rights that admins have given. One subject may have several rights for one phone.
grants = table(
    "grants",
    required("platform", Text),
    # The server whose role it is; '' for a person.
    required("guild", Text),
    # Of the person, or of the role.
    required("id", Text),
    # '' for every phone.
    required("phone", Text),
    required("right", Text, one_of('"right"', "use", "approve", "operate", "admin")),
    PrimaryKeyConstraint("platform", "guild", "id", "phone", "right"),
)

# Daily quotas of people and roles: the name of a tier, which the settings define.
person_tiers = table(
    "person_tiers",
    required("platform", Text),
    # The server whose role it is; '' for a person.
    required("guild", Text),
    # Of the person, or of the role.
    required("id", Text),
    required("tier", Text),
    PrimaryKeyConstraint("platform", "guild", "id"),
)

# Accounts on several platforms that belong to one person: the same number is the same person.
links = table(
    "links",
    required("platform", Text),
    required("id", Text),
    required("name", Text),
    required("person", Number),
    PrimaryKeyConstraint("platform", "id"),
    UniqueConstraint("person", "platform"),
)

# What people did with their rights. Entries are added and never changed.
audit = table(
    "audit",
    Column("number", Number, primary_key=True),
    required("at", Time),
    required("kind", Text),
    *account("person", "name"),
    optional("task", Number, ForeignKey("tasks.id")),
    # A text, or an object with fields, as JSON.
    required("detail", Text),
)

# How often strangers were refused. Counts only: nothing is kept about them.
refusals = table(
    "refusals",
    required("platform", Text),
    required("kind", Text),
    required("day", Text),
    required("count", Number),
    PrimaryKeyConstraint("platform", "kind", "day"),
)

# Settings that admins have changed while the service ran, which win over the environment.
settings = table(
    "settings",
    Column("name", Text, primary_key=True),
    # As it was typed.
    required("value", Text),
    *account("by", "name"),
    required("at", Time),
)

# What people have told the service to remember.
facts = table(
    "facts",
    Column("id", Number, primary_key=True),
    # The account whose fact it is, as platform:id.
    required("person", Text),
    required("text", Text),
    # The id of the only phone that it is about; '' for all.
    required("phone", Text),
    required("source", Text, one_of("source", "person", "screen", "web")),
    required("created", Time),
    optional("used", Time),
    # Name of the embedding model and the vector (32-bit floats, little-endian); '' and NULL if there is none.
    required("embedder", Text, server_default=""),
    optional("vector", LargeBinary),
)
index("facts_of_person", facts.c.person)

# When an account last had facts forgotten: checkpoints of its earlier tasks are deleted as soon as these have ended.
forgettings = table(
    "forgettings",
    Column("person", Text, primary_key=True),
    required("at", Time),
)

# Who has uploaded which file: only their tasks may use it, and nobody else who knows its reference.
handed_in = table(
    "handed_in",
    required("content", Text),
    *account("person"),
    required("at", Time),
    PrimaryKeyConstraint("content", "person_platform", "person_id"),
)
index("handed_in_by_age", handed_in.c.at)

# Tokens: programs that work with the service, and people who sign in to the console with one.
tokens = table(
    "tokens",
    Column("name", Text, primary_key=True),
    # Hash of the secret, which is shown once and not stored.
    required("digest", Text, unique=True),
    # Whose it is: an account on another platform, or platform 'api' and its own name for a service account.
    *account("owner", "name"),
    # JSON lists of the rights, and of the ids of the phones that they are limited to; '[]' for every phone.
    required("rights", Text),
    required("phones", Text),
    # Whether questions about its tasks may be approved through MCP.
    required("approves_by_mcp", Flag),
    required("made", Time),
    required("expires", Time),
    # NULL until the first use.
    optional("used", Time),
)

# Who is signed in to the console.
console_sessions = table(
    "console_sessions",
    # Keyed hash of the session id; the id itself is only in the browser.
    Column("digest", Text, primary_key=True),
    # How it was opened: 'token' or 'password'.
    required("way", Text),
    # From which network address.
    required("address", Text),
    required("begun", Time),
    required("used", Time),
    # The token with which it was begun, and with which it ends; '' for one of the operator.
    required("token", Text, server_default=""),
)

# Messages of the console. A deleted message remains as an empty row, so that disconnected pages learn of it.
console_messages = table(
    "console_messages",
    Column("id", Number, primary_key=True),
    required("revision", Number, unique=True),
    # Whose page shows it; '' is the operator's.
    required("owner", Text, server_default=""),
    required("thread", Text),
    required("author", Text, one_of("author", "bot", "operator")),
    required("content", Text),
    required("nonce", Text, unique=True),
    required("sent", Time),
    optional("edited", Time),
    required("deleted", Flag, server_default=false()),
)
index("console_messages_thread", console_messages.c.owner, console_messages.c.thread, console_messages.c.id)
index("console_messages_owner", console_messages.c.owner, console_messages.c.revision)

# Conversations of programs: places where tasks are given.
conversations = table(
    "conversations",
    Column("id", Text, primary_key=True),
    # Whose it is, as platform:id.
    required("owner", Text),
    required("title", Text),
    required("made", Time),
    # When something was last said or done in it.
    required("updated", Time),
    # How its tasks are to be thought about, as JSON.
    required("guidance", Text),
    # How many events of its tasks were numbered in it.
    required("told", Number, server_default=text("0")),
)
index("conversations_of", conversations.c.owner, conversations.c.made)

# The messages of conversations.
conversation_messages = table(
    "conversation_messages",
    Column("id", Number, primary_key=True),
    required("conversation", Text, ForeignKey("conversations.id", ondelete="CASCADE")),
    required("role", Text, one_of("role", "user", "assistant")),
    required("text", Text),
    # The task that it is about, and the question that it asks; NULL and '' for none.
    optional("task", Number),
    required("question", Text),
    # Messages with the same key are stored once.
    required("key", Text),
    required("sent", Time),
    # A deleted message stays as an empty row, so that the same key does not bring it back.
    required("deleted", Flag, server_default=false()),
    UniqueConstraint("conversation", "key"),
)

# API requests with an Idempotency-Key, per person: a repetition gets the stored response.
api_requests = table(
    "api_requests",
    required("person", Text),
    required("key", Text),
    required("digest", Text),
    # 0 while it is worked on.
    required("status", Number),
    required("body", Text),
    required("at", Time),
    PrimaryKeyConstraint("person", "key"),
)
index("api_requests_by_age", api_requests.c.at)
