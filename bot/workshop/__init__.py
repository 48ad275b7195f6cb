"""The workshop: another process, without secrets and without network, in which shell and Python run in rooms."""

from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/opengui-workshop/socket")
"""Where the unit and the container have its socket."""
