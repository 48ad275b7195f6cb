"""The Vault app: pages with FLAG_SECURE. Screenshots of them are black, but their elements can be read."""

from __future__ import annotations

from devices.virtual_phone.apps.base import App, Page, bottom_button, list_row
from devices.virtual_phone.screen.widgets import Box
from devices.virtual_phone.window_manager import WindowManager


def main(windows: WindowManager) -> Page:
    """Build the first page: recovery words and a bank card, which no screenshot shows."""
    return Page(
        title=windows.say("Vault"),
        secure=True,
        body=[
            list_row(windows.say("Recovery words"), subtitle="maple river candle orbit", icon="key_variant"),
            list_row(windows.say("Bank card"), subtitle="•••• 4417", icon="credit_card_outline"),
        ],
        bottom=bottom_button(windows.say("Close"), windows.close_page, "close", filled=False),
    )


def unlock(windows: WindowManager) -> Page:
    """Build the page with a password field and a hint, which no screenshot shows either."""
    return Page(
        title=windows.say("Unlock the vault"),
        on_back=windows.close_page,
        secure=True,
        body=[
            Box(
                children=[windows.field("password", "Password", password=True, on_enter=lambda: _unlock(windows))],
                padding=(24, 12, 24, 12),
            ),
            list_row(windows.say("Hint"), subtitle="the lake of 1987", icon="key_variant"),
        ],
        bottom=bottom_button(windows.say("Unlock"), lambda: _unlock(windows), "unlock"),
    )


def _unlock(windows: WindowManager) -> None:
    if windows.value("password"):
        windows.close_page()


_PAGES = {"main": main, "unlock": unlock}
APP = App("vault", "org.example.vault", ".MainActivity", "Vault", "shield_lock", "red", _PAGES)
