"""What people are asked and told, in chats."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, PrimaryKeyConstraint, Text, UniqueConstraint, false, text

from bot.store.tables.metadata import Flag, Number, Real, Time, account, index, one_of, optional, required, table

# Questions to people and what became of them. The answer to a question for a secret is ''.
questions = table(
    "questions",
    Column("id", Text, primary_key=True),
    # By what its buttons name it.
    required("locator", Text),
    required("task", Number, ForeignKey("tasks.id")),
    required("question", Text),
    required("asked", Time),
    required("expires", Time),
    # The message that shows it.
    optional("message", Text),
    optional("answer", Text),
    required("answered_by", Text, server_default=""),
    # 1 once it is closed without an answer.
    required("expired", Flag, server_default=false()),
    # When it was closed, and why without an answer: 'expired', 'cancelled', 'ended', 'went_on' or 'given_up'.
    optional("closed", Time),
    optional("closing", Text),
    CheckConstraint("NOT expired OR answer IS NULL"),
)
index("questions_task", questions.c.task)
index("questions_message", questions.c.message)
index("questions_locator", questions.c.locator)
index("questions_open", questions.c.expires, where=questions.c.answer.is_(None) & ~questions.c.expired)

# Messages to send, written together with what causes them. What `subject` and `name` are depends on the kind.
outbox = table(
    "outbox",
    Column("id", Number, primary_key=True),
    required("task", Number, ForeignKey("tasks.id")),
    required("kind", Text, one_of("kind", "final", "question", "notice", "file")),
    required("subject", Text),
    required("name", Text, server_default=""),
    required("state", Text, one_of("state", "pending", "sending", "sent", "dead"), server_default="pending"),
    # 1 when the process died while it was being sent: it may have arrived.
    required("uncertain", Flag, server_default=false()),
    required("attempts", Number, server_default=text("0")),
    required("not_before", Time, server_default=text("0")),
    required("created", Time),
    # As what it arrived, and why it was given up.
    optional("message", Text),
    required("why", Text, server_default=""),
)
index("outbox_one_final_per_task", outbox.c.task, where=outbox.c.kind == "final", unique=True)
index("outbox_one_message_per_question", outbox.c.subject, where=outbox.c.kind == "question", unique=True)
index("outbox_open", outbox.c.task, outbox.c.id, where=outbox.c.state.in_(("pending", "sending")))
index("outbox_task", outbox.c.task)

# The message that is each task's card.
cards = table(
    "cards",
    Column("task", Number, ForeignKey("tasks.id"), primary_key=True),
    required("message", Text),
    required("made", Time),
)

# What people wrote while the service was away: told to them, and done only when they say so.
missed = table(
    "missed",
    Column("id", Number, primary_key=True),
    *account("person", "name", "language"),
    required("place_address", Text),
    required("place_private", Flag),
    required("event", Text),
    # NULL when it is not known.
    optional("message", Text),
    # As it was typed, for people; what it means follows: a command with its options.
    required("text", Text),
    required("prefix", Text),
    required("call_name", Text),
    required("call_options", Text),
    required("call_rest", Text),
    required("files", Text),
    required("written", Time),
    # The message that lists it; NULL until there is one.
    optional("listed", Text),
    required("done", Flag, server_default=false()),
    UniqueConstraint("place_address", "event"),
)
index("missed_unlisted", missed.c.place_address, where=missed.c.listed.is_(None))

# Texts in private chats that are a task only once their writer has pressed for it, with the files that came along.
offers = table(
    "offers",
    # In the order in which they were made.
    Column("number", Number, primary_key=True),
    required("id", Text, unique=True),
    *account("person", "name", "language"),
    required("place_address", Text),
    required("place_private", Flag),
    required("event", Text),
    # NULL when it is not known.
    optional("message", Text),
    required("text", Text),
    required("files", Text),
    required("made", Time),
)

# Voice notes that an endpoint has written down, for what they cost. What was said is not kept.
voice_notes = table(
    "voice_notes",
    Column("id", Number, primary_key=True),
    *account("person", "name"),
    required("model", Text),
    required("seconds", Real),
    # In the currency of the prices; NULL where there was none.
    optional("cost", Real),
    required("created", Time),
)
index("voice_notes_created", voice_notes.c.created)

# Messages of chats that show a phone in somebody's hands: a reply to one is typed into the phone and kept nowhere, also
# after that person has let the phone go.
hand_pictures = table(
    "hand_pictures",
    required("place", Text),
    required("message", Text),
    required("sent", Time),
    PrimaryKeyConstraint("place", "message"),
)
index("hand_pictures_by_age", hand_pictures.c.sent)

# Chats that have another id now: a Telegram group that became a supergroup. Lists that name the old one mean it still.
moved_chats = table(
    "moved_chats",
    required("platform", Text),
    required("old", Text),
    required("new", Text),
    required("moved", Time),
    PrimaryKeyConstraint("platform", "old"),
)
