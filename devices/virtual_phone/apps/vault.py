"""Vault: a page with FLAG_SECURE. Pictures of it are black, the elements can be read."""

from __future__ import annotations

from devices.virtual_phone.apps.base import App, Page, list_row
from devices.virtual_phone.screen.pieces import Button
from devices.virtual_phone.window_manager import WindowManager


def main(windows: WindowManager) -> Page:
    """Recovery words that no picture shows."""
    return Page(
        title=windows.say("Vault"),
        secure=True,
        body=[
            list_row(windows.say("Recovery words"), subtitle="maple river candle orbit", icon="key_variant"),
            list_row(windows.say("Bank card"), subtitle="•••• 4417", icon="credit_card_outline"),
        ],
        bottom=Button(windows.say("Close"), windows.close_page, "close", filled=False, margin=(16, 8, 16, 12)),
    )


APP = App("vault", "org.example.vault", "org.example.vault.MainActivity", "Vault", "shield_lock", "red", {"main": main})
