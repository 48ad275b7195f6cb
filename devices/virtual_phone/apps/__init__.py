"""The apps of the virtual phone, one module each."""

from __future__ import annotations

from devices.virtual_phone.apps import (
    account,
    browser,
    calendar,
    clock,
    hostile,
    messages,
    notes,
    settings,
    shop,
    vault,
)
from devices.virtual_phone.apps.base import App

APPS: tuple[App, ...] = (
    browser.APP,
    messages.APP,
    notes.APP,
    clock.APP,
    calendar.APP,
    shop.APP,
    account.APP,
    vault.APP,
    settings.APP,
    messages.WECHAT,
)
"""Those with an icon."""
BY_KEY = {app.key: app for app in (*APPS, hostile.APP)}
BY_PACKAGE = {app.package: app for app in APPS}
LAUNCHER_PACKAGE = "com.android.launcher3"
LAUNCHER_ACTIVITY = "com.android.launcher3.uioverrides.QuickstepLauncher"
