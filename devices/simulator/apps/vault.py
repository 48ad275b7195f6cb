"""Vault: a page with FLAG_SECURE. Pictures of it are black, the elements can be read."""

from __future__ import annotations

from devices.simulator.apps.base import App, Page, list_row
from devices.simulator.desk import Desk
from devices.simulator.screen.pieces import Button


def main(desk: Desk) -> Page:
    """Recovery words that no picture shows."""
    return Page(
        title=desk.say("Vault"),
        secure=True,
        body=[
            list_row(desk.say("Recovery words"), subtitle="maple river candle orbit", icon="key_variant"),
            list_row(desk.say("Bank card"), subtitle="•••• 4417", icon="credit_card_outline"),
        ],
        bottom=Button(desk.say("Close"), desk.close_page, "close", filled=False, margin=(16, 8, 16, 12)),
    )


APP = App("vault", "org.example.vault", "org.example.vault.MainActivity", "Vault", "shield_lock", "red", {"main": main})
