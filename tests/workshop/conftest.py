from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.workshop.client import OwnWorkshop

REPOSITORY = Path(__file__).parents[2]


def needs_rooms() -> None:
    """Skip where nothing can be tried; CI has bubblewrap (`.ci/run`)."""
    if shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin") is None:
        assert "CI" not in os.environ, "CI must have bubblewrap"
        pytest.skip("needs bubblewrap (apt install bubblewrap)")


def confined(kind: str) -> OwnWorkshop:
    """A workshop under the limits of a unit or a container, see tests/workshop/confined.py."""
    script = f"import sys; sys.path[:0] = [{str(REPOSITORY)!r}]; from tests.workshop.confined import main; "
    script += "sys.exit(main(*sys.argv[1:]))"
    return OwnWorkshop(lambda path: (sys.executable, "-I", "-c", script, kind, str(path), str(os.geteuid())))


@pytest.fixture(params=["by hand", "unit", "container"])
async def workshop(real_world: None, request: pytest.FixtureRequest) -> AsyncIterator[OwnWorkshop]:  # noqa: ARG001
    needs_rooms()
    if request.param != "by hand" and os.geteuid() != 0:
        pytest.skip("only root can set these limits up")
    workshop = OwnWorkshop() if request.param == "by hand" else confined(request.param)
    yield workshop
    await workshop.close()


@pytest.fixture
async def by_hand(real_world: None) -> AsyncIterator[OwnWorkshop]:  # noqa: ARG001
    needs_rooms()
    workshop = OwnWorkshop()
    yield workshop
    await workshop.close()
