"""Slack on loopback: its Web API over HTTP, and Socket Mode over a WebSocket, for an unmodified slack_sdk."""

from tests.fakes.slack.server import APP_TOKEN, BOT_TOKEN, FakeSlack
from tests.fakes.slack.world import Channel, File, Message, User

__all__ = ["APP_TOKEN", "BOT_TOKEN", "Channel", "FakeSlack", "File", "Message", "User"]
