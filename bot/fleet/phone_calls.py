"""Carries calls of a phone's methods from hub to host: requests and results as JSON and bytes."""

from __future__ import annotations

import asyncio
import io
import logging
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from PIL import Image
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agent.ports.journal import ActionKey, Journal, LeaseLost
from agent.run import RunId
from bot.fleet.bounds import one_line
from bot.fleet.messages import VALUE_LETTERS, Held, Reply, Sentence, UsePhone
from bot.texts import words
from devices import errors
from devices.geometry import Size
from devices.inputs import Input, TypeText
from devices.phone import Element, InputResult, Observation, Phone
from devices.pictures import is_picture, opened
from devices.storage import FoundFiles
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

INPUT: Final[TypeAdapter[Input]] = TypeAdapter(Input)
FOUND: Final[TypeAdapter[FoundFiles]] = TypeAdapter(FoundFiles)
QUALITY: Final = 88
LARGEST: Final = 900_000
"""Bytes of a picture or file in one message."""


class DoneThere(BaseModel):
    """The result of an input that a host has sent to a phone, as a message. See `devices.phone.ActionResult` for the
    fields.
    """

    model_config = ConfigDict(frozen=True)

    field_text: str | None = None
    notes: tuple[Sentence, ...] = ()
    elsewhere: str = ""

    @classmethod
    def of(cls, done: InputResult) -> DoneThere:
        """Convert a `devices.phone.ActionResult` into the message for the hub."""
        notes = tuple(told for note in done.notes if (told := Sentence.of(note)) is not None)
        return cls(field_text=done.field_text, notes=notes, elsewhere=done.elsewhere)

    def here(self) -> InputResult:
        """Convert the message back into a `devices.phone.ActionResult`."""
        return InputResult(self.field_text, tuple(note.worded() for note in self.notes), elsewhere=self.elsewhere)


class Facts(BaseModel):
    """The fields of an observation of a phone other than picture and elements. See `devices.phone.Observation` for
    their meaning.
    """

    model_config = ConfigDict(frozen=True)

    package: str
    app_name: str
    activity: str
    keyboard_shown: bool
    rotation: int
    locked: bool
    screen_on: bool
    secure: bool
    settled: bool
    complete: bool
    focused_text: str | None


class Seen(BaseModel):
    """An observation of a phone without its picture, which is sent as JPEG after it. Sizes are in pixels."""

    model_config = ConfigDict(frozen=True)

    width: int
    height: int
    elements: tuple[Element, ...] | None
    facts: Facts


def written(observation: Observation) -> tuple[dict[str, Any], bytes]:
    """Encode an observation as JSON data and JPEG bytes (b"" without a picture). Blocks while encoding, so call it in
    a thread.
    """
    facts = Facts.model_validate(observation, from_attributes=True)
    told = Seen(
        width=observation.size.width, height=observation.size.height, elements=observation.elements, facts=facts
    )
    picture = b""
    if observation.jpeg is not None:
        picture = observation.jpeg.data
    elif observation.image is not None:
        picture = jpeg_of(observation.image)
    return told.model_dump(mode="json"), picture


async def _shown(observation: Observation) -> tuple[Reply, bytes]:
    told, picture = await asyncio.to_thread(written, observation)
    return Reply(data=told), picture


def read(told: Any, picture: bytes) -> Observation:  # noqa: ANN401 - JSON
    """Decode an observation from JSON data and JPEG bytes. Blocks while decoding. Raises CaptureFailed if either is
    invalid.
    """
    try:
        seen = Seen.model_validate(told)
        image = image_of(picture) if picture else None
    except (ValidationError, OSError) as error:
        raise errors.CaptureFailed(words("fleet.no_picture")) from error
    if not is_picture(seen.width, seen.height) or (image is not None and image.size != (seen.width, seen.height)):
        raise errors.CaptureFailed(words("fleet.no_picture"))
    return Observation(Size(seen.width, seen.height), image, seen.elements, **dict(seen.facts))


def jpeg_of(image: Image.Image) -> bytes:
    """Encode a picture as JPEG with quality `QUALITY`. Blocks."""
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def image_of(data: bytes) -> Image.Image:
    """Decode a JPEG into an RGB picture. Blocks. Raises OSError if it is invalid."""
    with opened(data, ("JPEG",)) as picture:
        return picture.convert("RGB")


KINDS: Final = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.PhoneError)
}


def refused(error: errors.PhoneError) -> Reply:
    """Encode an error of a phone as a reply."""
    told = Sentence.of(sentence_of(error))
    worded = None if told is None else told.model_dump(mode="json")
    name, uncertain = type(error).__name__, error.uncertain
    return Reply(data={"raised": name, "uncertain": uncertain, "text": str(error), "sentence": worded})


def raise_refused(reply: Reply) -> None:
    """Raise the PhoneError in a reply, if there is one."""
    data = reply.data
    if not isinstance(data, dict) or "raised" not in data:
        return
    kind = KINDS.get(str(data["raised"]), errors.PhoneError)
    text = one_line(str(data.get("text", "")), VALUE_LETTERS)
    try:
        text = Sentence.model_validate(data.get("sentence")).worded()
    except ValidationError:
        logger.debug("a host has told an error that is no sentence")
    raise kind(text, uncertain=bool(data.get("uncertain", True)))


class PhoneCalls:
    """Carries out the hub's requests for a host's phones. Inputs require the phone's lease and are recorded in the
    journal first.

    - `phone`: Returns the phone with an id.
    - `adopt`: Stores the lease under which a person operates the phone.
    - `stands_still`: Says whether a run is leaving its phone alone now.
    - `opened`: Decrypts what was encrypted for this host.
    """

    def __init__(
        self,
        phone: Callable[[str], Phone],
        journal: Journal,
        adopt: Callable[[Held], Awaitable[None]],
        stands_still: Callable[[RunId], Awaitable[bool]],
        opened: Callable[[str], str],
    ) -> None:
        self._phone = phone
        self._journal = journal
        self._adopt = adopt
        self._is_idle = stands_still
        self._opened = opened
        self._last: dict[str, Observation] = {}

    async def do(self, asked: UsePhone) -> tuple[Reply, bytes]:
        """Carry out the request, and return the reply and bytes that go with it. Errors of the phone become part of
        the reply.
        """
        try:
            return await self._do(self._phone(asked.phone), asked)
        except errors.PhoneError as error:
            return refused(error), b""

    async def _do(self, phone: Phone, asked: UsePhone) -> tuple[Reply, bytes]:
        given = asked.arguments
        match asked.call:
            case "observe":
                last = self._last.get(asked.phone) if given.pop("after", False) else None
                seen = await phone.observe(after=last, **given)
                self._last[asked.phone] = seen.without_picture()
                return await _shown(seen)
            case "confirmed":
                last = self._last.get(asked.phone)
                seen_again = await phone.confirmed(last) if last is not None else None
                return (Reply(), b"") if seen_again is None else await _shown(seen_again)
            case "glance":
                image = await phone.glance()
                # The presence would report the app up to a beat later, but a touch must hit the app in the picture.
                told_app = Reply(data={"app": phone.info.app})
                return told_app, b"" if image is None else await asyncio.to_thread(jpeg_of, image)
            case "act":
                return await self._act(phone, asked)
            case "prepare" | "restore":
                await self._require(asked)
                await (phone.prepare() if asked.call == "prepare" else phone.restore())
                return Reply(), b""
            case "find_files":
                return Reply(data=FOUND.dump_python(await phone.find_files(given["name"]), mode="json")), b""
            case "pull":
                data = await phone.pull(given["path"], limit=min(int(given["limit"]), LARGEST))
                return Reply(), data
        return Reply(error=f"This host does not know how to {asked.call} a phone."), b""

    async def _act(self, phone: Phone, asked: UsePhone) -> tuple[Reply, bytes]:
        fence = await self._require(asked)
        receipt = str(asked.arguments["receipt"])
        what = INPUT.validate_python(asked.arguments["what"])
        if isinstance(what, TypeText):
            what = replace(what, text=self._opened(str(asked.arguments["sealed"])))
        assert asked.held is not None
        # Under the run that holds the phone, with a number that none of its steps can have.
        own = ActionKey(asked.held.run, 0, zlib.crc32(receipt.encode()), 0)
        try:
            begun = await self._journal.begin(own, {"kind": "by_hand", "receipt": receipt}, fence=fence)
        except LeaseLost:
            raise errors.InputRejected("Something else has the phone now. Nothing was sent.") from None
        if not begun:
            raise errors.PhoneError("This input was sent before and is not sent again.", uncertain=True)
        try:
            done = await phone.act(what, receipt=receipt)
        except errors.InputRejected:
            await self._journal.finish(own, "rejected", "")
            raise
        except BaseException:
            await self._journal.finish(own, "uncertain", "")
            raise
        await self._journal.finish(own, "done", "")
        return Reply(data=DoneThere.of(done).model_dump(mode="json")), b""

    async def _require(self, asked: UsePhone) -> int:
        """Check that the phone may be used, and return the number of its lease. Raises InputRejected."""
        held = asked.held
        if held is None or held.phone != asked.phone:
            raise errors.InputRejected("Nobody holds the phone. Nothing was sent.")
        if not await self._is_idle(held.run):
            raise errors.InputRejected("A task is at work on the phone. Nothing was sent.")
        await self._adopt(held)
        return held.fence
