"""Android's own consents, told by package, activity and resource id: no word of them has to be understood."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Final

from pydantic import BaseModel, ConfigDict

from agent.guards.dialogs import is_dialog
from agent.guards.places import is_of_list
from agent.guards.rules import fits
from agent.guards.touch_target import TouchTarget, has_state, is_button, pressed
from agent.wording import SENTENCES
from devices.phone import Element

_BUTTONS: Final = (".Button", ".MaterialButton")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Surface(_Part):
    """A place of Android's; see surfaces.toml for what each part says."""

    packages: tuple[str, ...]
    reason: str
    activities: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    dialogs: bool = False
    buttons: bool = False
    lists: bool = True


class Surfaces(_Part):
    """The whole file."""

    surface: tuple[Surface, ...]
    harmless: tuple[str, ...]


@cache
def shipped() -> Surfaces:
    """The surfaces that are known."""
    text = resources.files("agent.guards").joinpath("surfaces.toml").read_text(encoding="utf-8")
    return Surfaces.model_validate(tomllib.loads(text))


def consent(spot: TouchTarget) -> str:
    """The kind of consent that this touch gives to Android itself ("permission", "install", "pay"), "" for none.

    Windows without an activity lie over the app in front, so the package of what is touched counts as well.
    """
    touched = pressed(spot)
    packages = {spot.package, touched.package if touched is not None else ""}
    name = touched.resource_id.rsplit("/", 1)[-1] if touched is not None else ""
    if name in shipped().harmless:
        return ""
    for surface in shipped().surface:
        if any(fits(package, surface.packages) for package in packages) and _waits(surface, spot, touched, name):
            return surface.reason
    return ""


def consent_reason(kind: str) -> str:
    """What a person is told of such a consent."""
    return SENTENCES[f"reason.{kind}"]


def _waits(surface: Surface, spot: TouchTarget, touched: Element | None, name: str) -> bool:
    if not surface.lists and touched is not None and is_of_list(spot) and not _switches(touched, spot):
        return False
    if fits(spot.activity, surface.activities):
        return True
    if touched is None:
        return False
    if fits(name, surface.ids):
        return True
    if fits(spot.activity, surface.switches) and _switches(touched, spot):
        return True
    if not is_button(touched) or touched.checkable or touched.editable:
        return False
    return (surface.buttons and touched.class_name.endswith(_BUTTONS)) or (surface.dialogs and is_dialog(spot))


def _switches(touched: Element, spot: TouchTarget) -> bool:
    """Whether a touch turns something on or off, or chooses one of several: it, or what stands in it, has a state."""
    return has_state(touched) or any(has_state(e) and touched.bounds.holds(e.bounds.centre) for e in spot.around)
