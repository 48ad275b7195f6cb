"""Tables of what is sent to people and programs: questions, outgoing messages, cards, missed messages and offers in
chats, and webhooks with their undelivered messages.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, PrimaryKeyConstraint, Text, UniqueConstraint, false, text

from bot.store.tables.metadata import Flag, Number, Real, Time, account, index, one_of, optional, required, table

# Questions to people and their answers. The answer to a question for a secret is ''.
questions = table(
    "questions",
    Column("id", Text, primary_key=True),
    # The short id in its buttons.
    required("locator", Text),
    required("task", Number, ForeignKey("tasks.id")),
    required("question", Text),
    required("asked", Time),
    required("expires", Time),
    # The message in the chat that shows the question.
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
    # The sent message, and why sending was given up.
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

# Messages that people wrote while the service was not running. They are listed, and carried out only on request.
missed = table(
    "missed",
    Column("id", Number, primary_key=True),
    *account("person", "name", "language"),
    required("place_address", Text),
    required("place_private", Flag),
    required("event", Text),
    # NULL when it is not known.
    optional("message", Text),
    # The text as typed, then the command with its options that it was parsed into.
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

# Messages, with their files, that become a task only when their writer presses a button.
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

# Cost of transcribed voice notes. What was said is not stored.
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

# Chat messages that show a phone while a person operates it: a reply to one is typed into the phone and not stored,
# even after that person has handed the phone back.
hand_pictures = table(
    "hand_pictures",
    required("place", Text),
    required("message", Text),
    required("sent", Time),
    PrimaryKeyConstraint("place", "message"),
)
index("hand_pictures_by_age", hand_pictures.c.sent)

# Chats whose id changed, like a Telegram group that became a supergroup. Lists that name the old id still apply.
moved_chats = table(
    "moved_chats",
    required("platform", Text),
    required("old", Text),
    required("new", Text),
    required("moved", Time),
    PrimaryKeyConstraint("platform", "old"),
)


# Webhooks and the events that they receive. Messages are signed with the secret, which is shown once.
webhooks = table(
    "webhooks",
    Column("id", Number, primary_key=True),
    *account("person", "name", "language"),
    required("place_address", Text),
    required("place_private", Flag),
    # The command that made it: the same one makes no second.
    required("event", Text),
    required("url", Text),
    required("secret", Text),
    # 1 for the tasks of everybody, 0 for those of its person.
    required("everybody", Flag, server_default=false()),
    # Whether it is called when a task ends, when a task asks, and when a watch reports.
    required("ended", Flag),
    required("asked", Flag),
    required("watched", Flag),
    required("created", Time),
    # Since when nothing has arrived; NULL while it answers. Why it is switched off, '' while it is not.
    optional("failing", Time),
    required("off", Text, server_default=""),
    UniqueConstraint("place_address", "event"),
)

# Undelivered messages to webhooks. A row is deleted when its message has arrived or was given up.
webhook_deliveries = table(
    "webhook_deliveries",
    Column("id", Number, primary_key=True),
    required("webhook", Number, ForeignKey("webhooks.id", ondelete="CASCADE")),
    required("task", Number, ForeignKey("tasks.id")),
    required("kind", Text, one_of("kind", "ended", "asked", "watched")),
    # The question's id; '' for an end.
    required("subject", Text),
    required("attempts", Number, server_default=text("0")),
    required("not_before", Time),
    required("created", Time),
)
index("webhook_deliveries_due", webhook_deliveries.c.not_before)
index("webhook_deliveries_webhook", webhook_deliveries.c.webhook)
index("webhook_deliveries_task", webhook_deliveries.c.task)
