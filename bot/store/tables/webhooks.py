"""Tables of webhooks (URLs that are notified about tasks) and of their undelivered messages."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint, false, text

from bot.store.tables.metadata import Flag, Number, Time, account, index, one_of, optional, required, table

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
