"""A Feishu of our own: its HTTP API and its long connection over real sockets on loopback."""

from tests.fakes.feishu.server import APP, SECRET, FakeFeishu
from tests.fakes.feishu.world import Chat, Message, User

__all__ = ["APP", "SECRET", "Chat", "FakeFeishu", "Message", "User"]
