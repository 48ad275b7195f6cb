"""Discord on loopback: simcord's back end behind a real HTTP API and a real gateway."""

from tests.fakes.discord.server import TOKEN, FakeDiscord

__all__ = ["TOKEN", "FakeDiscord"]
