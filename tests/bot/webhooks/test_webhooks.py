"""Webhooks: what is told to whom, signed, once it is kept, however long a receiver is down, and never to the inside."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from agent.questions import QuestionKind
from agent.tools.egress import Egress
from bot.application.access import Caller, NotAllowed, Refused, Unknown
from bot.domain.address import Person, Place
from bot.domain.webhook import Webhook
from bot.people.access import Policy
from bot.people.rights import Rights
from bot.runtime.settings import RuntimeSettings
from bot.store.audit import AuditKind
from bot.store.database import Transaction
from bot.store.store import Store
from bot.store.webhooks import Webhooks
from bot.webhooks.delivery import headers_of, new_secret
from bot.webhooks.making import MOST, WebhookCommands
from bot.webhooks.manifest import PART
from bot.webhooks.sender import AT_ONCE, LONG, PAUSES, WebhookSender
from tests.agent.tools.site import hostile_answer
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, PRIVATE, World, a_world

pytestmark = pytest.mark.slow


@dataclass
class Receiver:
    """A program that is told: it answers as the test says, and keeps what came."""

    port: int = 0
    status: int = 200
    location: str = ""
    answers: str = ""
    """The path at the hostile site whose answer is given."""
    hold: asyncio.Event | None = None
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.StreamResponse:
        self.got.append((dict(request.headers), await request.read()))
        if self.hold is not None:
            await self.hold.wait()
        if self.answers:
            return await hostile_answer(request, self.answers)
        headers = {"Location": self.location} if self.location else {}
        return web.Response(status=self.status, headers=headers)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@asynccontextmanager
async def a_receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/{tail:.*}", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert runner.addresses
    receiver.port = runner.addresses[0][1]
    try:
        yield receiver
    finally:
        if receiver.hold is not None:
            receiver.hold.set()
        await runner.cleanup()


async def to_here(_host: str, _port: int) -> Sequence[str]:
    return ("127.0.0.1",)


@dataclass
class Rig:
    world: World
    receiver: Receiver
    sender: WebhookSender

    async def webhook(self, *, everybody: bool = False, url: str = "", asked: bool = True) -> Webhook:
        """One of Anna's, or of an admin for everybody's tasks."""
        caller = Caller(ADA if everybody else ANNA, CHANNEL, f"made {everybody} {url}")
        now = self.world.services.live.now
        services = replace(
            self.world.services,
            live=RuntimeSettings(
                now.model_copy(update={"webhook_hosts": (("hook.test", self.receiver.port),)}), self.world.store, ()
            ),
        )
        url = url or f"http://hook.test:{self.receiver.port}/in"
        return await WebhookCommands(caller, services).add(url, everybody=everybody, asked=asked)

    async def after(self, seconds: float = 1.0) -> None:
        """So much time, a look, and what is sent then."""
        self.world.clock.advance(seconds)
        await self.sender.send_due()
        await self.sender.finished()


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with a_world(tmp_path) as world, a_receiver() as receiver:
        egress = Egress(named=frozenset({("hook.test", receiver.port)}), resolve=to_here, seconds=5.0)
        yield Rig(world, receiver, WebhookSender(world.services, egress, sleep=world.clock.sleep))


async def test_an_end_is_told_signed(rig: Rig) -> None:
    made = await rig.webhook()
    task = await rig.world.do("look at the weather")
    await rig.world.end(task)
    await rig.after()
    ((headers, body),) = rig.receiver.got
    at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    assert Verifier(made.wish.secret).sign(headers["webhook-id"], at, body.decode()) == headers["webhook-signature"]
    (told,) = rig.receiver.bodies
    assert told["type"] == "task.ended"
    assert (told["data"]["task"], told["data"]["state"]) == (task.id, "ended")
    await rig.after()
    assert len(rig.receiver.got) == 1


def test_the_public_library_takes_the_signature_and_no_other() -> None:
    secret, body = new_secret(), '{"é":1}'.encode()
    headers = headers_of(secret, "msg_1_1", datetime.now(UTC).timestamp(), body)
    assert Verifier(secret).verify(body, headers) == {"é": 1}
    for forged in (body + b" ", b"{}"):
        with pytest.raises(WebhookVerificationError):
            Verifier(secret).verify(forged, headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(new_secret()).verify(body, headers)


async def test_a_question_is_told_while_it_is_open(rig: Rig) -> None:
    await rig.webhook()
    task = await rig.world.working()
    await rig.world.ask(task, QuestionKind.ASK, ("red", "blue"))
    await rig.after()
    (told,) = rig.receiver.bodies
    assert told["type"] == "task.asked"
    assert told["data"]["question"]["choices"] == ["red", "blue"]


async def test_what_is_told_of_whose_tasks(rig: Rig) -> None:
    await rig.webhook()
    await rig.world.end(await rig.world.do("of Ben", BEN))
    await rig.after()
    assert rig.receiver.got == []
    await rig.webhook(everybody=True)
    await rig.world.end(await rig.world.do("of Ben again", BEN))
    await rig.after()
    assert [told["data"]["text"] for told in rig.receiver.bodies] == ["of Ben again"]
    with pytest.raises(NotAllowed):
        await WebhookCommands(Caller(ANNA, CHANNEL, "x"), rig.world.services).add("https://a.com", everybody=True)


async def test_a_receiver_that_is_down_is_tried_with_growing_pauses(rig: Rig) -> None:
    await rig.webhook()
    await rig.world.end(await rig.world.do())
    rig.receiver.status = 503
    await rig.after()
    for pause in PAUSES[:4]:
        await rig.after(pause - 2.0)
        before = len(rig.receiver.got)
        await rig.after(2.0)
        assert len(rig.receiver.got) == before + 1
    assert len({headers["webhook-id"] for headers, _ in rig.receiver.got}) == 1
    rig.receiver.status = 204
    await rig.after(PAUSES[4])
    (kept,) = await rig.world.store.webhooks.all()
    assert (kept.failing, kept.off) == (None, "")
    assert await rig.world.store.webhooks.next_due() is None


async def test_after_days_it_is_switched_off_with_a_word_to_its_owner(rig: Rig) -> None:
    made = await rig.webhook()
    rig.receiver.status = 500
    await rig.world.end(await rig.world.do())
    await rig.after()
    await rig.world.end(await rig.world.do())
    await rig.after(LONG)
    (kept,) = await rig.world.store.webhooks.all()
    assert kept.off == "long"
    assert await rig.world.store.webhooks.next_due() is None
    assert any(f"Webhook {made.id}" in message.body for message in rig.world.chat.sent(CHANNEL.address))
    assert AuditKind.WEBHOOK_OFF in [entry.kind for entry in await rig.world.store.audit.page(5)]
    before = len(rig.receiver.got)
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert len(rig.receiver.got) == before


async def test_one_that_is_gone_is_switched_off_at_once(rig: Rig) -> None:
    await rig.webhook()
    rig.receiver.status = 410
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert [one.off for one in await rig.world.store.webhooks.all()] == ["gone"]


async def test_rights_are_those_of_the_moment(rig: Rig) -> None:
    """Seen failing (it is told) with the `verdict` taken out of `WebhookSender._send`."""
    await rig.webhook()
    await rig.world.end(await rig.world.do())
    services = replace(rig.world.services, rights=Rights(Policy(), rig.world.store))
    rig.sender = WebhookSender(services, Egress(named=frozenset({("hook.test", rig.receiver.port)}), resolve=to_here))
    await rig.after()
    assert rig.receiver.got == []
    assert [one.off for one in await rig.world.store.webhooks.all()] == ["not_allowed"]


async def test_a_redirect_is_not_followed(rig: Rig) -> None:
    await rig.webhook()
    rig.receiver.status, rig.receiver.location = 307, f"http://hook.test:{rig.receiver.port}/elsewhere"
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert len(rig.receiver.got) == 1
    assert await rig.world.store.webhooks.next_due() is not None


async def test_a_name_that_leads_inside_is_not_connected_to(rig: Rig) -> None:
    """A public name when it was made. Seen failing (it arrives) with the host among those that the operator named."""
    await rig.webhook()
    rig.sender = WebhookSender(rig.world.services, Egress(resolve=to_here, seconds=5.0))
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert rig.receiver.got == []
    assert await rig.world.store.webhooks.next_due() is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://127.0.0.1/hook",
        "https://localhost/hook",
        "https://10.0.0.1/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest",
        "https://2130706433/",
        "https://user:pass@example.com/",
        "ftp://example.com/",
        "example.com",
        "https://example.com:99999/",
        "https://example.com:-1/",
        "https://example.com:https/",
        "https://example.com:0/",
        "https://[example.com/",
        "https://[::1%25lo]/",
    ],
)
async def test_addresses_that_are_never_kept(rig: Rig, url: str) -> None:
    with pytest.raises(Refused):
        await WebhookCommands(Caller(ANNA, CHANNEL, "x"), rig.world.services).add(url)


async def test_one_slow_receiver_holds_up_no_other(rig: Rig) -> None:
    rig.receiver.hold = asyncio.Event()
    await rig.webhook()
    async with a_receiver() as other:
        named = frozenset({("hook.test", rig.receiver.port), ("hook.test", other.port)})
        rig.sender = WebhookSender(rig.world.services, Egress(named=named, resolve=to_here, seconds=5.0))
        first, rig.receiver = rig.receiver, other
        await rig.webhook(url=f"http://hook.test:{other.port}/other")
        await rig.world.end(await rig.world.do())
        rig.world.clock.advance(1.0)
        await rig.sender.send_due()
        async with asyncio.timeout(4.0):
            while not other.got:
                await asyncio.sleep(0.02)
        assert first.hold is not None
        first.hold.set()
        await rig.sender.finished()


class StoreWith:
    """A store with something else in one place."""

    def __init__(self, store: Store, **others: object) -> None:
        self._store = store
        vars(self).update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class LateReads:
    """Webhooks whose `due` says what it has read when the test lets it."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks
        self.waiting: list[asyncio.Event] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._webhooks, name)

    async def due(self, now: float) -> object:
        found = await self._webhooks.due(now)
        self.waiting.append(asyncio.Event())
        await self.waiting[-1].wait()
        return found


def sender_with(rig: Rig, **others: object) -> WebhookSender:
    store: Any = StoreWith(rig.world.store, **others)
    egress = Egress(named=frozenset({("hook.test", rig.receiver.port)}), resolve=to_here, seconds=5.0)
    return WebhookSender(replace(rig.world.services, store=store), egress)


@pytest.mark.parametrize("answers", ["/endless", "/huge", "/bomb", "/br", "/broken"])
async def test_an_answer_has_arrived_with_its_status(rig: Rig, answers: str) -> None:
    """Seen failing (it is sent again) with the body read."""
    await rig.webhook()
    rig.receiver.answers = answers
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert len(rig.receiver.got) == 1
    assert await rig.world.store.webhooks.next_due() is None
    assert [one.failing for one in await rig.world.store.webhooks.all()] == [None]


async def test_twenty_that_hang_hold_up_no_other(rig: Rig) -> None:
    """Seen failing with a place held for all that one webhook is to be sent."""
    rig.receiver.hold = asyncio.Event()
    for number in range(AT_ONCE):
        await rig.webhook(url=f"http://hook.test:{rig.receiver.port}/{number}")
    async with a_receiver() as other:
        named = frozenset({("hook.test", rig.receiver.port), ("hook.test", other.port)})
        sender = WebhookSender(rig.world.services, Egress(named=named, resolve=to_here, seconds=1.0))
        hanging, rig.receiver = rig.receiver, other
        await rig.webhook(everybody=True, url=f"http://hook.test:{other.port}/other")
        for _ in range(3):
            await rig.world.end(await rig.world.do())
        rig.world.clock.advance(1.0)
        await sender.send_due()
        await sender.finished()
        assert (len(hanging.got), len(other.got)) == (AT_ONCE, 3)
        assert hanging.hold is not None
        hanging.hold.set()


async def test_many_messages_to_one_do_not_hide_those_to_another(rig: Rig) -> None:
    """Seen failing with the first five hundred of all looked at."""
    await rig.webhook(everybody=True)
    task = await rig.world.do()
    await rig.world.end(task)
    webhooks = rig.world.store.webhooks

    async def many(transaction: Transaction) -> None:
        for _ in range(600):
            await webhooks.queue(transaction, task.id, now=rig.world.clock.now)

    await rig.world.store.write(many)
    async with a_receiver() as other:
        named = frozenset({("hook.test", rig.receiver.port), ("hook.test", other.port)})
        sender = WebhookSender(rig.world.services, Egress(named=named, resolve=to_here, seconds=1.0))
        busy, rig.receiver = rig.receiver, other
        busy.status = 503
        await rig.webhook(url=f"http://hook.test:{other.port}/other")
        await rig.world.end(await rig.world.do())
        rig.world.clock.advance(1.0)
        await sender.send_due()
        await sender.finished()
        assert len(other.got) == 1


async def test_what_was_read_before_it_arrived_is_not_sent_again(rig: Rig) -> None:
    """Seen failing (sent twice) with what a look has read handed on to what sends."""
    await rig.webhook()
    await rig.world.end(await rig.world.do())
    rig.world.clock.advance(1.0)
    late = LateReads(rig.world.store.webhooks)
    sender = sender_with(rig, webhooks=late)
    looks = [asyncio.create_task(sender.send_due()) for _ in range(2)]
    async with asyncio.timeout(5.0):
        while len(late.waiting) < 2:
            await asyncio.sleep(0)
    for goes_on in late.waiting:
        goes_on.set()
        await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
        await sender.finished()
    await asyncio.gather(*looks)
    await sender.finished()
    assert len(rig.receiver.got) == 1


async def test_nothing_is_sent_where_another_service_may_act_on_the_store(rig: Rig) -> None:
    """Seen failing (it is sent) with `is_ours` not asked."""
    await rig.webhook()
    await rig.world.end(await rig.world.do())
    rig.world.clock.advance(1.0)
    sender = sender_with(rig, is_ours=False)
    await sender.send_due()
    await sender.finished()
    assert rig.receiver.got == []
    assert await rig.world.store.webhooks.next_due() is not None


async def test_what_is_kept_by_a_clock_that_was_set_back_is_sent(rig: Rig) -> None:
    """Seen failing (nothing is sent for a day) with `not_before` alone looked at."""
    await rig.webhook()
    rig.receiver.status = 500
    await rig.world.end(await rig.world.do())
    rig.world.clock.now -= 86_400.0
    await rig.after()
    await rig.after()
    assert len(rig.receiver.got) == 1  # after a failed try it waits as ever
    rig.receiver.status = 200
    await rig.after(PAUSES[0])
    assert len(rig.receiver.got) == 2


async def test_a_command_of_another_chat_makes_another_one(rig: Rig) -> None:
    """Chats count their messages each for itself. Seen failing (Anna's, for Ben) with the event alone looked at."""
    made = [
        await WebhookCommands(Caller(person, place, "7"), rig.world.services).add("https://example.com/in")
        for person, place in ((ANNA, CHANNEL), (BEN, PRIVATE))
    ]
    assert [one.wish.person for one in made] == [ANNA, BEN]
    assert made[0].wish.secret != made[1].wish.secret


async def test_what_was_given_up_long_ago_does_not_switch_it_off(rig: Rig) -> None:
    """Seen failing ("long") with `failing` kept until something arrives."""
    await rig.webhook()
    rig.receiver.status = 500
    await rig.world.end(await rig.world.do())
    await rig.after()
    for pause in PAUSES:
        await rig.after(pause)
    (kept,) = await rig.world.store.webhooks.all()
    assert (await rig.world.store.webhooks.next_due(), kept.failing) == (None, None)
    await rig.after(LONG)
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert [one.off for one in await rig.world.store.webhooks.all()] == [""]


async def test_there_are_no_more_than_the_limit_also_when_two_are_made_at_once(rig: Rig) -> None:
    """Seen failing (one above the limit) with the number looked at apart from what is kept."""

    async def make(number: int) -> Webhook:
        caller = Caller(ANNA, CHANNEL, f"made {number}")
        return await WebhookCommands(caller, rig.world.services).add("https://example.com/in")

    for number in range(MOST - 1):
        await make(number)
    made = await asyncio.gather(*(make(MOST + number) for number in range(3)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in made) == ["Refused", "Refused", "Webhook"]
    assert len(await rig.world.store.webhooks.all()) == MOST


async def test_one_that_is_made_while_the_first_is_looked_for_is_found(rig: Rig) -> None:
    """Seen not coming to its end with the event cleared after the read."""
    webhooks = rig.world.store.webhooks
    found = asyncio.Event()

    class Between:
        """What is read has no webhook, and one is made before the answer arrives."""

        made = webhooks.made
        reads = 0

        async def any_on(self) -> bool:
            self.reads += 1
            if self.reads == 1:
                self.made.set()
                return False
            found.set()
            return True

    assert PART.work is not None
    store = StoreWith(rig.world.store, webhooks=Between())
    work = asyncio.ensure_future(PART.work(replace(rig.world.services, store=cast("Any", store))))
    async with asyncio.timeout(5.0):
        await found.wait()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


async def test_the_secret_and_the_path_are_in_no_log(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = await rig.webhook()
    rig.receiver.status = 500
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert made.wish.secret not in caplog.text
    assert "/in" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("bot."))
    assert made.wish.secret not in repr(made)


async def test_a_test_is_sent_signed_at_once(rig: Rig) -> None:
    made = await rig.webhook()
    commands = WebhookCommands(Caller(ANNA, CHANNEL, ""), rig.world.services)
    egress = Egress(named=frozenset({("hook.test", rig.receiver.port)}), resolve=to_here, seconds=5.0)
    assert await commands.test(made.id, egress) == 200
    ((headers, body),) = rig.receiver.got
    now = datetime.fromtimestamp(int(rig.world.clock.now), UTC)
    assert headers["webhook-timestamp"] == str(int(now.timestamp()))
    assert headers["webhook-signature"] == Verifier(made.wish.secret).sign(headers["webhook-id"], now, body.decode())
    assert json.loads(body)["type"] == "webhook.test"
    rig.receiver.status = 302
    rig.receiver.location = "https://example.com/"
    assert await commands.test(made.id, egress) == 0
    assert await commands.test(made.id, Egress(resolve=to_here, seconds=5.0)) == 0
    assert len(rig.receiver.got) == 2
    with pytest.raises(Unknown):
        await WebhookCommands(Caller(BEN, CHANNEL, ""), rig.world.services).test(made.id, egress)


async def test_one_that_was_switched_off_by_hand_is_told_nothing(rig: Rig) -> None:
    made = await rig.webhook()
    commands = WebhookCommands(Caller(ANNA, CHANNEL, ""), rig.world.services)
    await rig.world.end(await rig.world.do())
    assert (await commands.switch_off(made.id)).off == "by_hand"
    await rig.after()
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert rig.receiver.got == []
    assert (await commands.switch_on(made.id)).off == ""
    await rig.world.end(await rig.world.do())
    await rig.after()
    assert len(rig.receiver.got) == 1


async def test_in_chats_they_are_made_listed_switched_and_removed(rig: Rig) -> None:
    async def told(line: str, person: Person = ANNA, place: Place = PRIVATE) -> str:
        reply = await rig.world.type(line, person, place)
        assert reply.message is not None
        return reply.message.body

    async def kept() -> list[str]:
        return [one.off for one in await rig.world.store.webhooks.all()]

    add = "webhooks add https://example.com/in"
    assert "whsec_" not in await told(add, place=CHANNEL)
    assert await kept() == []
    assert "whsec_" in await told(add)
    (made,) = await rig.world.store.webhooks.all()
    assert "example.com/in" in await told("webhooks")
    assert "/in" not in await told("webhooks", place=CHANNEL)
    assert "example.com/in" not in await told("webhooks", BEN)
    for deed in ("off", "on", "remove", "test"):
        await told(f"webhooks {deed} {made.id}", BEN)
        assert await kept() == [""], deed
    await told(f"webhooks off {made.id}")
    assert await kept() == ["by_hand"]
    await told(f"webhooks on {made.id}")
    assert await kept() == [""]
    await told("webhooks --everybody add https://example.com/all")
    await told("webhooks add http://10.0.0.1/")
    await told("webhooks dance")
    assert await kept() == [""]
    await told(f"webhooks remove {made.id}")
    assert await kept() == []
