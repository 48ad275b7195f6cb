"""Tables of phones and their names, of the fleet's hosts, and of verdicts on buttons in apps."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Text, text

from bot.store.tables.metadata import Number, Time, optional, required, table

# Names that people gave to phones, unique regardless of case.
phone_names = table(
    "phone_names",
    Column("phone", Text, primary_key=True),
    required("name", Text),
    required("folded", Text, unique=True),
    required("changed", Time),
)

# Default names of phones: their model, and a number after it when another phone has the same name.
# Stored, so that a name means the same phone after a restart, whichever is attached first.
usual_phone_names = table(
    "usual_phone_names",
    Column("phone", Text, primary_key=True),
    required("name", Text),
)

# Hosts: other computers whose phones this service uses. The tables of a fleet serve the hub and each host, which leaves
# some of them empty.
fleet_hosts = table(
    "fleet_hosts",
    Column("name", Text, primary_key=True),
    # The public key that it signs in with, and the one that secrets are encrypted with for it.
    required("nkey", Text, unique=True),
    required("seal", Text),
    required("joined", Time),
    # NULL until it is revoked.
    optional("revoked", Time),
    # Since when its key is not let in, because two machines used it. A new invitation ends it.
    optional("blocked", Time),
)

# Which machine a phone belongs to: the one that had it first, until an admin moves it.
phone_hosts = table(
    "phone_hosts",
    Column("phone", Text, primary_key=True),
    # The host's name, '' for the machine of the service itself.
    required("host", Text),
)

# One-time invitations of hosts. Only hashes of their secrets are stored.
fleet_invites = table(
    "fleet_invites",
    Column("digest", Text, primary_key=True),
    required("name", Text),
    required("expires", Time),
)

# Runs that are done by hosts: with the hub, each with its host; with a host, those that it was given.
fleet_runs = table(
    "fleet_runs",
    Column("run", Text, primary_key=True),
    # '' for a run on a phone of the hub itself.
    required("host", Text),
    required("person", Text),
    # Number of the last event that the hub has processed, or a host has written.
    required("taken", Number, server_default=text("0")),
)

# Events on their way: with a host those that are not known to have arrived, with the hub those that are not in the
# record yet.
fleet_events = table(
    "fleet_events",
    required("run", Text),
    required("n", Number),
    required("body", Text),
    PrimaryKeyConstraint("run", "n"),
)

# Number of the hub's starts, so that messages of earlier starts are recognised.
fleet_epochs = table(
    "fleet_epochs",
    Column("epoch", Number, primary_key=True),
)

# Buttons of apps that an independent model has judged harmless. The key is a hash of the words around them.
press_verdicts = table(
    "press_verdicts",
    Column("key", Text, primary_key=True),
    required("package", Text),
    required("version", Text),
    required("control", Text),
    # The model that judged.
    required("model", Text),
    required("at", Time),
)
