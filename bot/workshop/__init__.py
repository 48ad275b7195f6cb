"""The workshop: a process without secrets and network in which shell and Python run in sandboxes ("rooms")."""

from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/opengui-workshop/socket")
"""The socket's path in the systemd unit and in the container."""
