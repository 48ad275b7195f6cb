"""What only a look can tell of an input: what a field holds now, and which app has come to the front."""

from __future__ import annotations

from dataclasses import dataclass

from devices.adb.text_entry import same_words
from devices.adb.ui_tree import field_text
from devices.geometry import Point
from devices.inputs import TypeText
from devices.phone import Done, Element
from devices.wording import words


@dataclass(frozen=True, slots=True)
class Typing:
    """A text that was entered, as key presses or not, and is still to be read back."""

    what: TypeText
    by_keys: bool

    def done(self, elements: tuple[Element, ...], _package: str) -> Done:
        """What became of it."""
        return read_back(self.what, elements, by_keys=self.by_keys)


@dataclass(frozen=True, slots=True)
class Launch:
    """An app that was opened and is still to come to the front."""

    package: str
    name: str

    def done(self, _elements: tuple[Element, ...], front: str) -> Done:
        """What became of it."""
        if front == self.package:
            return Done(notes=(words("phone.note.in_front", name=self.name),))
        if not front:
            return Done(notes=(words("phone.note.nothing_in_front", name=self.name),))
        return Done(notes=(words("phone.note.other_in_front", name=self.name, front=front),))


def field_at(elements: tuple[Element, ...], at: Point | None) -> Element | None:
    """The field that text goes to: the focused one, else the one at the touched point."""
    fields = [each for each in elements if each.editable]
    focused = next((each for each in fields if each.focused), None)
    return focused or next((each for each in fields if at is not None and each.bounds.holds(at)), None)


def field_by_name(elements: tuple[Element, ...], at: Point | None) -> Element | None:
    """The field at the touched point, when it can be told from all others by its resource id."""
    fields = [each for each in elements if at is not None and each.editable and each.bounds.holds(at)]
    if len(fields) != 1 or not fields[0].resource_id:
        return None
    return fields[0] if sum(each.resource_id == fields[0].resource_id for each in elements) == 1 else None


def read_back(what: TypeText, elements: tuple[Element, ...], *, by_keys: bool) -> Done:
    """What the field holds that the text went to, and what there is to say when it is something else."""
    field = field_at(elements, what.at)
    if field is None:
        return Done()
    read = field_text(field)
    if what.secret:
        read = "•" * len(read)
    if holds_text(read, what):
        return Done(read)
    notes = [words("phone.note.no_enter")] if what.submit else []
    return Done(read, (*notes, words("phone.note.keyboard_made")) if by_keys else tuple(notes))


def known_length(seen: tuple[Element, ...], at: Point | None) -> int | None:
    """How long the text of the field was in the last look, None when that is not known."""
    touched = next((each for each in seen if at is not None and each.editable and each.bounds.holds(at)), None)
    field = touched or (field_at(seen, None) if at is None else None)
    return None if field is None else len(field_text(field))


def holds_text(read: str, what: TypeText) -> bool:
    """Whether what a field reads holds what was typed."""
    if what.secret or read.startswith("•"):
        return len(read) >= len(what.text)
    return same_words(what.text, read)
