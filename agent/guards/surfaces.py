"""Recognises Android's own consent screens by package, activity and resource id, which works in any language."""

from __future__ import annotations

from functools import cache
from typing import Final

from agent.guards.dialogs import is_dialog
from agent.guards.places import is_of_list
from agent.guards.rules import Part, fits
from agent.guards.touch_target import TouchTarget, has_state, is_button, pressed
from agent.wording import SENTENCES
from devices.phone import Element
from devices.wording import table_of

_BUTTONS: Final = (".Button", ".MaterialButton")


class Surface(Part):
    """One of Android's consent screens, and which of its controls give consent.

    A screen belongs to one of `packages`. All controls of its `activities` count; elsewhere only those in `ids`, with
    `dialogs` the buttons of its dialogs, and with `buttons` everything that Android calls a button. Without `lists`,
    rows of pages never count. On the activities in `switches`, everything that is switched or selected counts. `reason`
    is the kind of consent. Names may contain `*`.
    """

    packages: tuple[str, ...]
    reason: str
    activities: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    dialogs: bool = False
    buttons: bool = False
    lists: bool = True


class Surfaces(Part):
    """The content of surfaces.toml: the consent screens, and the ids of controls that never give consent
    (`harmless`).
    """

    surface: tuple[Surface, ...]
    harmless: tuple[str, ...]


@cache
def shipped() -> Surfaces:
    """Load the known consent screens."""
    return Surfaces.model_validate(table_of("agent.guards", "surfaces.toml"))


def consent(spot: TouchTarget) -> str:
    """Return the kind of consent that this touch gives to Android ("permission", "install", "pay"); "" if none.

    Windows without an activity lie over the app in front, so the package of the touched element is checked too.
    """
    touched = pressed(spot)
    packages = {spot.package, touched.package if touched is not None else ""}
    name = touched.short_id if touched is not None else ""
    if name in shipped().harmless:
        return ""
    for surface in shipped().surface:
        if any(fits(package, surface.packages) for package in packages) and _waits(surface, spot, touched, name):
            return surface.reason
    return ""


def consent_reason(kind: str) -> str:
    """Return the reason that a person is shown for a consent of this kind."""
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
    """Whether a touch toggles or selects something: the element, or one inside it, has a state."""
    return has_state(touched) or any(has_state(e) and touched.bounds.holds(e.bounds.centre) for e in spot.around)
