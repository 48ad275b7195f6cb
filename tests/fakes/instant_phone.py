"""A phone that answers at once, so that only what is around it takes time."""

from __future__ import annotations

from PIL import Image

from devices.geometry import Bounds, Size
from devices.inputs import Input
from devices.phone import Element, Health, InputResult, Judged, Observation, Phone, PhoneInfo
from devices.pictures import Fit
from devices.storage import FoundFiles

SIZE = Size(1080, 2400)


class InstantPhone:
    """Implements devices.phone.Phone and Phones: without a picture, another page after each input.

    `sent` are its inputs, `prepared` is how often it was prepared and not restored. Another one shows another `page`.
    """

    def __init__(self) -> None:
        self.info = PhoneInfo("instant", "instant", "instant", Health.READY, size=SIZE)
        self.sent: list[Input] = []
        self.prepared = 0
        self.number = 0
        """Of the page."""

    def turn(self) -> None:
        """The screen changes by itself."""
        self.number += 1

    def page(self) -> Observation:
        """What is on the screen."""
        lines = tuple(
            Element(Bounds(0, 100 * n, 1080, 100 * n + 90), text=f"Line {n} of page {self.number}", clickable=True)
            for n in range(1, 20)
        )
        return Observation(SIZE, None, lines, package="org.example", activity=f"Page{self.number}")

    def list(self) -> tuple[PhoneInfo, ...]:
        return (self.info,)

    def get(self, phone_id: str) -> Phone:
        del phone_id
        return self

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        raise AssertionError((phone_id, name))

    async def wait_for_change(self) -> None:
        raise AssertionError

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        raise AssertionError((phone_id, timeout))

    async def observe(
        self,
        *,
        after: Observation | None = None,
        patience: float = 2.5,
        settle: bool = True,
        elements: bool = True,
        fit: Fit | None = None,
    ) -> Observation:
        del after, patience, settle, elements, fit
        return self.page()

    async def confirmed(self, since: Observation) -> Observation | None:
        return since

    async def glance(self) -> Image.Image | None:
        return None

    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> InputResult:
        del receipt, watched, later, judged
        self.sent.append(what)
        self.turn()
        return InputResult()

    async def prepare(self) -> None:
        self.prepared += 1

    async def restore(self) -> None:
        self.prepared -= 1

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        raise AssertionError((name, data, folder))

    async def find_files(self, name: str) -> FoundFiles:
        raise AssertionError(name)

    async def pull(self, path: str, *, limit: int) -> bytes:
        raise AssertionError((path, limit))
