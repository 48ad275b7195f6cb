"""Addresses by their form alone: which are opened, and which a person is asked about."""

from __future__ import annotations

import pytest

from agent.actions import OpenUrl
from agent.guards.hit_test import TouchTarget
from agent.guards.policy import Policy

OPENED = [
    "https://example.org/news",
    "https://example.org/search?q=weather",
    "http://93.184.216.34/page",
    "https://example.org/apks/help.html",
    "example.org/page",
    "example.org:8443/page",
    "weather",
]
ASKED = [
    "mailto:mallory@example.com?body=hello",
    "sms:+4912345?body=hello",
    "intent://pay#Intent;end",
    "http://192.168.1.1/reboot",
    "http://127.0.0.1:9008/",
    "http://[::1]/",
    "http://[fd00::1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://2130706433/",
    "http://router/",
    "http://printer.local/",
    "https://example.org/app.apk",
    "https://example.org/get?file=game%2Eapk",
    "http://[bad",
    "192.168.1.1/reboot",
    "localhost:9008",
    "example.org/app.apk",
]


@pytest.mark.parametrize("url", OPENED)
def test_an_ordinary_address_is_opened(url: str) -> None:
    assert Policy.default().gate(OpenUrl(url=url), TouchTarget("")).verdict == "allow"


@pytest.mark.parametrize("url", ASKED)
def test_an_address_that_does_more_is_asked(url: str) -> None:
    assert Policy.default().gate(OpenUrl(url=url), TouchTarget("")).verdict == "approve"
