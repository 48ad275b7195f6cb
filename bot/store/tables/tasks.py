"""Tables of tasks and their schedules, steps, events, actions, tool calls and leases, and of recorded skills."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    false,
    func,
    text,
)

from bot.store.tables.metadata import Flag, Number, Real, Time, account, index, one_of, optional, required, table

# What people have asked for: as it was asked, where it stands, and what came of it.
tasks = table(
    "tasks",
    Column("id", Number, primary_key=True),
    required("text", Text),
    *account("person", "name"),
    # In which language its messages are written; '' is English.
    required("person_language", Text, server_default=""),
    # Where it was asked; the id of the asking message there, '' for none; where its card and messages go.
    required("origin", Text),
    required("anchor", Text),
    optional("place", Text),
    # The phone is the one that is wished until it has one, '' for any.
    required("phone", Text),
    # The skill that it follows, and what that is done with: an object of texts by the names of its parameters.
    required("skill", Text, server_default=""),
    required("arguments", Text, server_default="{}"),
    # The schedule of the watch of which it is a reading; '' for a task that is none.
    required("schedule", Text, server_default=""),
    # All else that it was accepted with, as JSON.
    required("request", Text),
    # The task on several phones of which it is one phone's part, and of how many parts it consists itself.
    optional("parent", Number, ForeignKey("tasks.id")),
    required("parts", Number, server_default=text("0")),
    required("state", Text, one_of("state", "queued", "working", "waiting", "paused", "interrupted", "ended")),
    required("created", Time),
    required("changed", Time),
    # When its person was first told that it waits for a phone.
    optional("waiting", Time),
    optional("started", Time),
    optional("ended", Time),
    # What its phone is called; '' before it has one.
    required("phone_name", Text, server_default=""),
    # The todo list as last planned.
    required("todos", Text, server_default="[]"),
    required("steps", Number, server_default=text("0")),
    # How many of its steps were shown as messages.
    required("told", Number, server_default=text("0")),
    # The reference of its last picture.
    optional("frame", Text),
    # The acting model that was set when it was accepted; '' until then.
    required("model", Text, server_default=""),
    required("usage", Text),
    # The pages that were read for it: a list of titles and addresses.
    required("sources", Text, server_default="[]"),
    # What it lacked where it took a model and none was set: instructions that come near; '' for any other task.
    required("needs_model", Text, server_default=""),
    optional("outcome", Text),
    required("summary", Text, server_default=""),
    optional("data", Text),
    # What came of a reading; '' before its end, and for a task that is none.
    required("verdict", Text, server_default=""),
    # How much of it was removed because of its age: 0 nothing, 1 its checkpoints, 2 its steps and messages too.
    required("pruned", Number, server_default=text("0")),
    CheckConstraint("(state = 'ended') = (outcome IS NOT NULL)"),
    CheckConstraint("(state = 'ended') = (ended IS NOT NULL)"),
)
index("tasks_live", tasks.c.state, where=tasks.c.state != "ended")
index("tasks_place", tasks.c.place)
index("tasks_person", tasks.c.person_platform, tasks.c.person_id)
index("tasks_created", tasks.c.created)
index("tasks_parent", tasks.c.parent, where=tasks.c.parent.is_not(None))
index("tasks_prunable", tasks.c.ended, where=(tasks.c.state == "ended") & (tasks.c.pruned < 2))
index("tasks_of_skills", tasks.c.skill, where=tasks.c.skill != "")

# The messages that tasks came from: the same one makes no second task.
events = table(
    "events",
    required("source", Text),
    required("event", Text),
    required("task", Number, ForeignKey("tasks.id")),
    required("seen", Time),
    PrimaryKeyConstraint("source", "event"),
)

# The tier of each task's person when it was accepted; roles are known only then.
task_tiers = table(
    "task_tiers",
    Column("task", Number, ForeignKey("tasks.id"), primary_key=True),
    required("tier", Text),
)

# Tasks that are given again at set times, by notifications of a phone or by calls of programs, and watches.
schedules = table(
    "schedules",
    Column("id", Number, primary_key=True),
    *account("person", "name", "language"),
    required("place_address", Text),
    required("place_private", Flag),
    # The command that made it: the same one makes no second.
    required("event", Text),
    required("rule_kind", Text, one_of("rule_kind", "at", "every", "cron", "notification", "call")),
    required("rule_text", Text),
    required("rule_zone", Text),
    # The times as they were written.
    required("words", Text),
    # The task with how it is to be done, as JSON.
    required("draft", Text),
    required("created", Time),
    required("due", Time),
    required("paused", Flag, server_default=false()),
    # The run that was begun last, and how many were left out since because that one still worked.
    optional("task", Number, ForeignKey("tasks.id")),
    required("skipped", Number, server_default=text("0")),
    # What a person has allowed ahead (agent.standing_yes.StandingYes); NULL for nothing.
    optional("standing", Text),
    # What it watches, NULL for a schedule that watches nothing; and what it remembers of its readings.
    optional("watch", Text),
    required("readings", Text, server_default="{}"),
    # Which notifications begin a task, NULL where times do: it is due at no time then (infinity).
    optional("trigger", Text),
    # What is called to begin a task, as JSON with its secret; NULL where neither.
    optional("hook", Text),
    UniqueConstraint("place_address", "event"),
)
index("schedules_due", schedules.c.due, where=~schedules.c.paused)
# An address that is called belongs to one hook.
index("schedules_hooks", schedules.c.words, where=schedules.c.hook.is_not(None), unique=True)

# Notifications that a trigger has dealt with, so that none begins anything twice.
trigger_marks = table(
    "trigger_marks",
    required("schedule", Number, ForeignKey("schedules.id", ondelete="CASCADE")),
    required("mark", Text),
    required("at", Time),
    # 1 where it has begun a task, 0 where it was only told why it has not.
    required("begins", Flag),
    PrimaryKeyConstraint("schedule", "mark"),
)

# Each step on a phone, for the card, the thread and the replay.
steps = table(
    "steps",
    Column("number", Number, primary_key=True),
    required("task", Number, ForeignKey("tasks.id")),
    required("run", Text),
    required("subtask", Number),
    required("step", Number),
    required("max_steps", Number),
    required("summary", Text),
    required("thought", Text),
    required("action", Text),
    # What came of it, as a list of facts (agent.effect_facts).
    required("effects", Text),
    # The app's package, and what the phone calls it; '' where the phone did not tell.
    required("app", Text),
    required("app_name", Text, server_default=""),
    # The reference of its picture, and where that was touched.
    optional("frame", Text),
    optional("mark_x", Number),
    optional("mark_y", Number),
    # What it touched and on what screen, which a skill can be made of (agent.recorded_skills.step_record).
    required("record", Text),
    required("usage", Text),
    required("seconds", Real),
    required("at", Time),
    UniqueConstraint("task", "run", "subtask", "step"),
)
# Whose steps show a picture. Twelve of 64 digits find the row, in a fifth of the room.
index("steps_frame", func.substr(steps.c.frame, 1, 12), where=steps.c.frame.is_not(None))

# What has happened to each task, in order: the log that everybody reads who follows it.
task_events = table(
    "task_events",
    required("task", Number, ForeignKey("tasks.id")),
    # Counted up from 1 without a gap.
    required("number", Number),
    # Its place among the events of all tasks: the microsecond in which it was appended, or the next that is free.
    required("position", Number, unique=True),
    # The id of the phone's part in which it happened; '' where one phone works, or for the whole task.
    required("part", Text),
    required("at", Time),
    # The kind of the event and what it says (bot.domain.task_events). Answers of people and secrets are not in it.
    required("kind", Text),
    required("data", Text),
    # How many touches of phones and uses of tools there have been, this one included.
    required("done", Number),
    # The conversation that it is told in, the number there of the last event that it is, and its message.
    optional("conversation", Text, ForeignKey("conversations.id", ondelete="SET NULL")),
    required("told", Number),
    optional("message", Number),
    PrimaryKeyConstraint("task", "number"),
)
index(
    "task_events_of_conversation",
    task_events.c.conversation,
    task_events.c.told,
    where=task_events.c.conversation.is_not(None),
)

# One word at most, made anew for a record that comes from a backup: what was read of another one is not gone on from.
epochs = table("epochs", Column("word", Text, primary_key=True))

# The journal of inputs: each is written here before it is sent to the phone.
actions = table(
    "actions",
    required("run", Text),
    required("subtask", Number),
    required("step", Number),
    required("part", Number),
    required("fence", Number),
    required("action", Text),
    required("state", Text, one_of("state", "begun", "done", "rejected", "uncertain")),
    required("effect", Text, server_default=""),
    required("begun", Time),
    optional("finished", Time),
    PrimaryKeyConstraint("run", "subtask", "step", "part"),
)

# Calls of tools that need no phone, each written before it runs; arguments and result are without secrets.
tool_calls = table(
    "tool_calls",
    Column("id", Number, primary_key=True),
    required("task", Text),
    required("member", Text),
    required("number", Number),
    required("turn", Number),
    required("index", Number),
    required("name", Text),
    required("arguments", Text),
    # Whether it may be run again when its end is unknown.
    required("repeatable", Flag),
    # The same text for equal calls, whose result is taken again; '' for calls that are never equal.
    required("same", Text),
    required("state", Text, one_of("state", "begun", "done", "failed", "skipped", "stopped", "uncertain")),
    required("result", Text, server_default="{}"),
    required("cached", Flag, server_default=false()),
    required("begun", Time),
    required("seconds", Real, server_default=text("0")),
    UniqueConstraint("task", "member", "number", "turn", "index"),
)
index(
    "tool_calls_same",
    tool_calls.c.task,
    tool_calls.c.same,
    where=(tool_calls.c.state == "done") & (tool_calls.c.same != ""),
)

# Who works on which phone. A lease is open until it is released; each of a phone has a higher fence.
leases = table(
    "leases",
    required("phone", Text),
    required("fence", Number),
    required("run", Text),
    required("taken", Time),
    required("expires", Time),
    optional("released", Time),
    PrimaryKeyConstraint("phone", "fence"),
)
# Two runs can never hold one phone, whatever the program does.
index("leases_one_run_per_phone", leases.c.phone, where=leases.c.released.is_(None), unique=True)
index("leases_one_phone_per_run", leases.c.run, where=leases.c.released.is_(None), unique=True)

# The order in which runs wait for a phone.
tickets = table(
    "tickets",
    Column("run", Text, primary_key=True),
    required("rank", Number),
)

# Who has saved a recorded skill, and of which task.
saved_skills = table(
    "saved_skills",
    Column("name", Text, primary_key=True),
    *account("person", "name"),
    required("task", Number),
    required("saved", Time),
    # What the gate's reader said of the presses that it was recorded with. It is kept here and not in the skill's
    # folder: a folder from elsewhere could say that its presses are harmless.
    required("verdicts", Text, server_default="[]"),
)

# What would be saved, as it was shown to the person who is to confirm it.
skill_drafts = table(
    "skill_drafts",
    Column("id", Text, primary_key=True),
    *account("person", "name"),
    required("name", Text),
    required("task", Number),
    required("skill", Text),
    required("made", Time),
)

# What the words of a recorded skill are called on phones with another locale, by the folded recorded word.
skill_names = table(
    "skill_names",
    required("skill", Text),
    required("locale", Text),
    required("names", Text),
    PrimaryKeyConstraint("skill", "locale"),
)
