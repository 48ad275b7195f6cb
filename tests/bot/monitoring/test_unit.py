"""The unit: what systemd says of it, and that its times and secrets are those of the program."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.chats.installed import installed, model_of
from bot.config.settings import secret_names
from bot.monitoring.heartbeat import BEAT_S, DESK_STILL_S
from bot.outbox.outbox import STOP_LIMIT
from bot.tasks.repository import ServiceLimits
from bot.web.connections import MOST, SHARE, STOP_WITHIN
from bot.wiring.connections import CLOSE_WITHIN

UNIT = Path(__file__).parents[3] / "systemd" / "opengui.service"
EXPOSURE = 3.0


def lines(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_it_is_exposed_little() -> None:
    told = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNIT)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert found is not None, told
    assert float(found[1]) <= EXPOSURE


def test_phones_can_still_be_reached() -> None:
    assert lines("DeviceAllow") == ["char-usb_device rw"]
    assert "AF_NETLINK" in lines("RestrictAddressFamilies")[0]
    assert not lines("PrivateDevices")
    assert not lines("PrivateUsers")


def test_there_is_time_to_drain() -> None:
    task_service = ServiceLimits()
    drain = STOP_WITHIN + 2 * CLOSE_WITHIN + STOP_LIMIT + task_service.drain + 2 * task_service.goodbye
    assert int(lines("TimeoutStopSec")[0]) >= drain + 20


def test_the_console_takes_a_small_share_of_the_files() -> None:
    """Seen failing before: the unit left it at what is usual, 1024."""
    assert int(lines("LimitNOFILE")[0]) >= 2 * SHARE * MOST


def test_the_watchdog_waits_longer_than_the_pulse_may_take() -> None:
    watchdog = int(lines("WatchdogSec")[0])
    assert watchdog > DESK_STILL_S + 4 * BEAT_S
    assert lines("Type") == ["notify"]


def test_the_workshops_unit_has_no_secret_and_no_network() -> None:
    text = UNIT.with_name("opengui-workshop.service").read_text(encoding="utf-8")
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    assert said["PrivateNetwork"] == "yes"
    assert said["DynamicUser"] == "yes"
    assert not {"EnvironmentFile", "LoadCredential", "Environment", "RestrictNamespaces"} & said.keys()


def test_every_secret_can_be_a_credential() -> None:
    assert sorted(lines("LoadCredential")) == sorted(name.upper() for name in secret_names(model_of(installed())))
