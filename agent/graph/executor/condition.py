"""Charge and heat of the phone while a run works on it: told once, and an honest end before the phone goes off."""

from __future__ import annotations

from agent.events import Told
from agent.graph.executor.context import RunContext
from devices.errors import PhoneUnavailable
from devices.phone import Health, PhoneInfo

EMPTY_BATTERY = 3
"""Percent. Android shuts down at 0 (BatteryService.shutdownIfNoPowerLocked), a worn battery some percent earlier; a step
takes up to a minute, and none may be cut off in the middle of an action.
"""
WARM = 45.0
"""°C of the battery: where phones slow down and stop charging (JEITA's upper limit of charging)."""
TOO_HOT = 60.0
"""°C of the battery: cells may not be used above (IEC 62133, most data sheets); Android shuts down at 68
(config_shutdownBatteryTemperature).
"""


def look_after(context: RunContext) -> None:
    """Tell of a low battery and of heat, once each. Raises PhoneUnavailable when the run has to end for it."""
    info, told = context.phone.info, context.live.told
    draining = info.health is Health.LOW_BATTERY
    if draining and info.battery is not None and info.battery <= EMPTY_BATTERY:
        raise PhoneUnavailable(
            f"The battery of {info.name} is at {info.battery} % and is not being charged: the phone may go off at any "
            "moment. Charge it."
        )
    if info.temperature is not None and info.temperature >= TOO_HOT:
        raise PhoneUnavailable(
            f"{info.name} is too hot: its battery has {info.temperature:.0f} °C. Let it cool down below {WARM:.0f} °C."
        )
    if draining and "battery" not in told:
        told.add("battery")
        context.emit(Told(text=f"The battery of {info.name} is at {info.battery} %: charge it."))
    if _warm(info) and "heat" not in told:
        told.add("heat")
        context.emit(Told(text=f"{info.name} is hot: its battery has {info.temperature:.0f} °C."))


def _warm(info: PhoneInfo) -> bool:
    return info.temperature is not None and info.temperature >= WARM
