"""The workshop: a separate process without secrets and without network, in which shell and Python programs run in
sandboxes ("rooms").
"""

from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/opengui-workshop/socket")
"""The socket's path in the systemd unit and in the container."""
