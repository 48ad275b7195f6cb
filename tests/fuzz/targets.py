"""All targets."""

from __future__ import annotations

from tests.fuzz.feishu_events import FEISHU
from tests.fuzz.readers import READERS
from tests.fuzz.running import RUNNING
from tests.fuzz.tools import TOOLS
from tests.fuzz.updates import UPDATES

TARGETS = (*READERS, *RUNNING, *TOOLS, *UPDATES, *FEISHU)
