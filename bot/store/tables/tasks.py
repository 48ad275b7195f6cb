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

# Tasks: what people asked for, with state and result.
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
    # The id of the wished phone, later of the one it runs on; '' for any.
    required("phone", Text),
    # The skill that it follows, and what that is done with: an object of texts by the names of its parameters.
    required("skill", Text, server_default=""),
    required("arguments", Text, server_default="{}"),
    # The schedule of the watch for which it makes a reading; '' for other tasks.
    required("schedule", Text, server_default=""),
    # All else that it was accepted with, as JSON.
    required("request", Text),
    # The task on several phones that this is one phone's part of, and the number of its own parts.
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
    # Set if it needed a model and none was configured: similar instructions that work without one; '' otherwise.
    required("needs_model", Text, server_default=""),
    optional("outcome", Text),
    required("summary", Text, server_default=""),
    optional("data", Text),
    # The verdict on a watch's reading; '' before its end, and for other tasks.
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
    # The standing approval (agent.questions.StandingYes); NULL for none.
    optional("standing", Text),
    # The watch (NULL if it is none), and the state of its readings.
    optional("watch", Text),
    required("readings", Text, server_default="{}"),
    # Which notifications begin a task, NULL where times do: it is due at no time then (infinity).
    optional("trigger", Text),
    # The inbound webhook, as JSON with its secret; NULL if it is none.
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
    # 1 if it started a task, 0 if people were only told why not.
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
    # The effects of the action, as a list of facts (agent.effect_facts).
    required("effects", Text),
    # The app's package and its label; '' if the phone did not report it.
    required("app", Text),
    required("app_name", Text, server_default=""),
    # The reference of its picture, and where that was touched.
    optional("frame", Text),
    optional("mark_x", Number),
    optional("mark_y", Number),
    # What was touched on which screen, for recording skills (agent.recorded_skills.step_record).
    required("record", Text),
    required("usage", Text),
    required("seconds", Real),
    required("at", Time),
    UniqueConstraint("task", "run", "subtask", "step"),
)
# Finds the steps that show a picture. Twelve of the 64 digits suffice, and take a fifth of the space.
index("steps_frame", func.substr(steps.c.frame, 1, 12), where=steps.c.frame.is_not(None))

# The event log of each task, in order, which all followers of the task read.
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
    # The API conversation that it belongs to, the number of its last event there, and its message.
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

# At most one word, which identifies the database. A restored backup gets a new one, so that old positions are invalid.
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
    # The same text for equal calls, whose result is used again; '' for calls that are never equal.
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
# Two runs can never lease one phone, whatever the program does.
index("leases_one_run_per_phone", leases.c.phone, where=leases.c.released.is_(None), unique=True)
index("leases_one_phone_per_run", leases.c.run, where=leases.c.released.is_(None), unique=True)

# The order in which runs wait for a phone.
tickets = table(
    "tickets",
    Column("run", Text, primary_key=True),
    required("rank", Number),
)

# Who has saved a recorded skill, and from which task.
saved_skills = table(
    "saved_skills",
    Column("name", Text, primary_key=True),
    *account("person", "name"),
    required("task", Number),
    required("saved", Time),
    # The guard model's verdicts on the button presses of its recording. They are stored here and not in the skill's
    # folder, because a folder from elsewhere could claim that its presses are harmless.
    required("verdicts", Text, server_default="[]"),
)

# Skills as they were shown to the person who must confirm them.
skill_drafts = table(
    "skill_drafts",
    Column("id", Text, primary_key=True),
    *account("person", "name"),
    required("name", Text),
    required("task", Number),
    required("skill", Text),
    required("made", Time),
)

# The labels that a recorded skill searches for, as they are on phones with another locale, by casefolded label.
skill_names = table(
    "skill_names",
    required("skill", Text),
    required("locale", Text),
    required("names", Text),
    PrimaryKeyConstraint("skill", "locale"),
)
