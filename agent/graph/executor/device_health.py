"""Watches the phone's battery and temperature during a run: warns once, and ends the run before the phone
shuts down.
"""

from __future__ import annotations

from agent.events import Told
from agent.graph.executor.context import RunContext
from agent.wording import Spoken, sentence
from devices.errors import PhoneUnavailable
from devices.phone import Health, PhoneInfo

EMPTY_BATTERY = 3
"""Battery percent at which a run ends. Android shuts down at 0 (BatteryService.shutdownIfNoPowerLocked), an old battery
a little earlier; a step takes up to a minute and must not be cut off in the middle of an action.
"""
WARM = 45.0
"""Battery temperature in °C at which phones slow down and stop charging (JEITA's upper limit for charging)."""
TOO_HOT = 60.0
"""Battery temperature in °C above which cells must not be used (IEC 62133, most data sheets); Android shuts down at 68
(config_shutdownBatteryTemperature).
"""


class PhoneSpent(Spoken, PhoneUnavailable):
    """The run must end because the phone has to charge or cool down first."""


def look_after(context: RunContext) -> None:
    """Send a warning about a low battery and one about heat, each once per run. Raises PhoneSpent if the run
    must end.
    """
    info, told = context.phone.info, context.memory.told
    draining = info.health is Health.LOW_BATTERY
    if draining and info.battery is not None and info.battery <= EMPTY_BATTERY:
        raise PhoneSpent("condition.empty", phone=info.name, percent=info.battery)
    if info.temperature is not None and info.temperature >= TOO_HOT:
        degrees = f"{info.temperature:.0f}"
        raise PhoneSpent("condition.hot", phone=info.name, degrees=degrees, cool=f"{WARM:.0f}")
    if draining and "battery" not in told:
        told.add("battery")
        context.emit(Told(text=sentence("told.battery", phone=info.name, percent=info.battery)))
    if _warm(info) and "heat" not in told:
        told.add("heat")
        context.emit(Told(text=sentence("told.heat", phone=info.name, degrees=f"{info.temperature:.0f}")))


def _warm(info: PhoneInfo) -> bool:
    return info.temperature is not None and info.temperature >= WARM
