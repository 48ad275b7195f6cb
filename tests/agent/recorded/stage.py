"""Thirty skills, recorded on a virtual phone, and phones that have changed since: what both the tests and the benchmark
play. Each phone is one of this process, in virtual time; what counts is what the phone itself has kept.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agent.events import Asked, TaskEnded
from agent.models.base import Delta, ModelReply, ModelRequest, Models, Purpose, ToolCall
from agent.models.tokens import usage_of
from agent.offline.pilot import OfflinePilot
from agent.questions import ALLOW, DONE, QuestionKind
from agent.recorded_skills.recording import DoneStep, steps_of, with_parameters
from agent.recorded_skills.skill_file import Parameter, RecordedSkill, Source
from agent.run import Outcome
from agent.skills.library import Skill, Skills
from devices.geometry import Size
from devices.virtual_phone.ground_truth import GroundTruth, Touched
from devices.virtual_phone.state import Redesign
from devices.virtual_phone.strings import chinese
from tests.agent.graph.rig import Rig, Work, direct_rig, order
from tests.fakes.ports import MemorySkillNames

CODE: Final = "246810"


@dataclass(frozen=True)
class Played:
    """One skill: the task with its parameters, the values that it was recorded with, and others."""

    name: str
    text: str
    first: Mapping[str, str] = field(default_factory=dict)
    other: Mapping[str, str] = field(default_factory=dict)

    def asked(self, values: Mapping[str, str]) -> str:
        """The task in words."""
        return self.text.format(**values)


def _one(name: str, text: str, **values: tuple[str, str]) -> Played:
    first = {key: pair[0] for key, pair in values.items()}
    return Played(name, text, first, {key: pair[1] for key, pair in values.items()})


NOTE = 'Open Notes, tap New note, type "{title}" into Title, type "{body}" into Note, tap Save'
BUY = "Open Shop, tap {item}, tap Add to cart"
PAY = "Open Shop, tap {item}, tap Add to cart, tap Cart, tap Checkout, tap Place order"
SEND = 'Send "{words}" to {person} in Messages'
NEW = 'Open Messages, tap New message, type "{person}" into To, type "{words}" into Text message, tap Send'
SKILLS: Final[tuple[Played, ...]] = (
    _one("note", NOTE, title=("Shopping", "Packing"), body=("Eggs and flour", "Socks and tent")),
    _one("idea", NOTE, title=("Garden", "Kitchen"), body=("Plant the roses", "Paint the wall")),
    _one("diary", NOTE, title=("Monday", "Tuesday"), body=("It rained", "It snowed")),
    _one("read-note", "Open Notes, tap {title}", title=("Groceries", "Groceries")),
    *(
        _one(f"switch-{number}", text)
        for number, text in enumerate(
            (
                "Turn off Wi-Fi",
                "Turn on Bluetooth",
                "Turn on Battery Saver",
                "Turn off Location",
                "Turn on Do Not Disturb",
                "Turn off Auto-rotate screen",
                "Turn off Adaptive brightness",
                "Turn on Dark theme",
            )
        )
    ),
    _one("storage", "Open Settings, tap Storage"),
    _one("sound", "Open Settings, tap Sound & vibration"),
    _one("brightness", "Open Settings, tap Display, tap Adaptive brightness"),
    _one("quiet", "Open Settings, tap Notifications, tap Do Not Disturb"),
    _one("add-mug", BUY, item=("Blue mug", "Red mug")),
    _one("add-lamp", BUY, item=("Desk lamp", "Umbrella")),
    _one("see-cart", "Open Shop, tap {item}, tap Add to cart, tap Cart", item=("Umbrella", "Blue mug")),
    _one("order-mug", PAY, item=("Red mug", "Desk lamp")),
    _one("order-tea", PAY, item=("Green tea 100 g", "Notebook A5")),
    _one("price", "Open Shop, tap {item}, read the price", item=("Desk lamp", "Blue mug")),
    _one("greet", SEND, words=("See you soon", "Running late"), person=("Alice", "Bob")),
    _one("ask", SEND, words=("Where are you?", "Are you well?"), person=("Bob", "Alice")),
    _one("thank", SEND, words=("Thanks a lot", "Well done"), person=("Alice", "Bob")),
    _one("write-new", NEW, person=("Carol", "Dave"), words=("Hello there", "Good evening")),
    _one("write-first", NEW, person=("Erin", "Frank"), words=("It is ready", "It is late")),
    _one("switch-flight", "Turn on Aeroplane mode"),
    _one("sign-in-name", 'Open Account, type "{user}" into User name, tap Next', user=("mara", "noor")),
    _one("chat", 'Open WeChat, tap New message, type "{person}" into To, type "{words}" into Text message, tap Send',
         person=("Gwen", "Hugo"), words=("On my way", "Not today")),
)  # fmt: skip
BY_NAME: Final = {each.name: each for each in SKILLS}

RENAMED: Final = {
    "Add to cart": "Put in basket",
    "Checkout": "Go to payment",
    "Place order": "Buy now",
    "Save": "Keep",
    "New note": "Write a note",
    "New message": "Compose",
    "Send": "Submit",
    "Next": "Continue",
    "Storage": "Space",
    "Sound & vibration": "Sounds",
    "Display": "Screen",
    "Notifications": "Alerts",
    "Adaptive brightness": "Automatic brightness",
    "Wi-Fi": "Wireless LAN",
    "Location": "Whereabouts",
}
"""What an update calls things. A model knows that they mean the same; the stand-in for one has this dictionary."""
SPANISH: Final = {
    "Add to cart": "Añadir al carrito",
    "Cart": "Carrito",
    "Checkout": "Tramitar pedido",
    "Place order": "Realizar pedido",
    "Order placed": "Pedido realizado",
    "Shop": "Tienda",
    "Notes": "Notas",
    "New note": "Nueva nota",
    "Title": "Título",
    "Note": "Nota",
    "Save": "Guardar",
    "Delete": "Eliminar",
    "Share": "Compartir",
    "Messages": "Mensajes",
    "New message": "Mensaje nuevo",
    "To": "Para",
    "Text message": "Mensaje de texto",
    "Send": "Enviar",
    "Settings": "Ajustes",
    "Search settings": "Buscar en ajustes",
    "Storage": "Almacenamiento",
    "Apps": "Aplicaciones",
    "Images": "Imágenes",
    "System": "Sistema",
    "Documents": "Documentos",
    "Sound & vibration": "Sonido y vibración",
    "Display": "Pantalla",
    "Adaptive brightness": "Brillo automático",
    "Notifications": "Notificaciones",
    "Do Not Disturb": "No molestar",
    "Battery Saver": "Ahorro de batería",
    "Aeroplane mode": "Modo avión",
    "Location": "Ubicación",
    "Auto-rotate screen": "Girar automáticamente",
    "Dark theme": "Tema oscuro",
    "On": "Activado",
    "Off": "Desactivado",
    "Account": "Cuenta",
    "User name": "Nombre de usuario",
    "Next": "Siguiente",
    "Back": "Atrás",
}
"""What a phone in a language of the same letters calls things."""
DISMISSING: Final = ("Not now", "Later", "OK")


@dataclass(frozen=True)
class Change:
    """What is other than when the skill was recorded. `slow` are the milliseconds for which each new page loads."""

    name: str
    seed: int = 0
    size: Size | None = None
    density: int = 0
    locale: str = "en-US"
    dark: bool = False
    redesign: Redesign = field(default_factory=Redesign)
    slow: int = 0
    pop_up: bool = False
    renames: bool = False
    """Whether one of the labels that the skill touches has another name."""

    def of(self, played: Played) -> Change:
        """The change as it meets this skill."""
        if not self.renames:
            return self
        touched = [label for label in RENAMED if label in played.text] or [
            label for label in ("Send",) if played.text.startswith("Send ")
        ]
        label = shuffled(len(played.name)).choice(touched) if touched else "Cart"
        return replace(self, redesign=replace(self.redesign, renamed={label: RENAMED.get(label, "Basket")}))


def changes(*, ids: bool) -> dict[str, Change]:
    """Every kind of change, on screens that tell resource ids or do not."""
    bare = Redesign(without_ids=not ids)
    made = [
        Change("unchanged"),
        Change("icons", seed=7),
        Change("size", size=Size(480, 960), density=200),
        Change("dark", dark=True),
        Change("pop-up", pop_up=True),
        Change("moved button", redesign=Redesign(not ids, moved=True)),
        Change("renamed label", redesign=Redesign(not ids), renames=True),
        Change("slow page", slow=2000),
        Change("app update", seed=3, redesign=Redesign(not ids, ids="v2_" if ids else "", moved=True)),
        Change("language", locale="zh-CN"),
    ]
    return {each.name: each if each.redesign != Redesign() else replace(each, redesign=bare) for each in made}


def spanish(*, ids: bool) -> Change:
    """A phone in a language of the same letters, which only its settings tell."""
    return Change("spanish", locale="es-ES", redesign=Redesign(not ids, renamed=dict(SPANISH)))


@dataclass
class Reader:
    """A model that sees nothing but its request: it closes what lies over the page, finds what the hint names by its
    words, their place or its dictionary, waits for what loads, and answers when it is asked whether all is done.
    """

    name: str = "reader"
    asked: list[ModelRequest] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """What it was told and has done: it does nothing twice."""
    end_with: ModelReply | None = None
    """What it answers in place of acting."""
    knows: Mapping[str, str] = field(default_factory=dict)
    """What else it knows of what things are called now."""

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        del on_delta
        self.asked.append(request)
        return estimated(request, self._answer(request), self.name)

    def _answer(self, request: ModelRequest) -> ModelReply:
        if request.purpose is Purpose.SUMMARIZE and request.conversation.endswith("-names"):
            return ModelReply(_names(request, self.knows))
        if request.purpose in {Purpose.SUMMARIZE, Purpose.CAPTION}:
            return ModelReply("")
        if request.purpose is Purpose.VERIFY:
            return ModelReply(json.dumps({"proven": True}))
        assert request.purpose is Purpose.ACT, request.purpose
        assert request.scene is not None
        if self.end_with is not None:
            return self.end_with
        kind, fields = self._act(request)
        return ModelReply("", (ToolCall("c", kind, json.dumps({**fields, "say": "On it"})),))

    def _act(self, request: ModelRequest) -> tuple[str, dict[str, Any]]:
        assert request.scene is not None
        hint = next(part for part in request.messages[-1].parts if isinstance(part, str))
        lines = request.scene.screen.elements or ()
        if any("Loading" in line.text or "正在加载" in line.text for line in lines):
            return "wait", {"seconds": 2}
        buttons = [
            line for line in lines if line.role == "button" and line.text in {*DISMISSING, *_in_chinese(DISMISSING)}
        ]
        if buttons and len(lines) < 9:
            return "tap", {"element": buttons[0].id}
        if "followed to its end" in hint:
            return "finish", {"status": "success", "summary": "All of it was done."}
        told = [hint.partition("could not be done by itself: ")[2].partition(". Do on this")[0]]
        told += hint.partition("After it come: ")[2].rstrip(".").split("; ")
        told = [each for each in told if each and each not in self.done and not each.startswith("nothing")]
        if not told:
            return "finish", {"status": "success", "summary": "All of it was done."}
        kind, words = told[0].split(" ", 1)[0], _quoted(told[0].partition(" on the ")[2])
        bare = words.partition(",")[0]
        known = {
            words,
            RENAMED.get(words, words),
            self.knows.get(words, words),
            self.knows.get(bare, bare),
            *_in_chinese([words, bare]),
        }
        found = [line for line in lines if line.text and (line.text in known or line.text.partition(",")[0] in known)]
        if not found:
            return "scroll", {"direction": "down"}
        self.done.add(told[0])
        if kind == "type":
            return "type", {"element": found[0].id, "text": _quoted(told[0])}
        return "tap", {"element": found[0].id}


def estimated(request: ModelRequest, reply: ModelReply, name: str) -> ModelReply:
    """The reply with the tokens that an endpoint would count, pictures included."""
    return replace(reply, usage=usage_of(None, request.messages, reply).booked_on(request.role, name))


@dataclass
class Guide:
    """The pilot in the place of a model that is asked at each step: what a task takes without a recording."""

    name: str = "guide"
    pilot: OfflinePilot = field(default_factory=OfflinePilot)

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        if request.purpose is Purpose.VERIFY:
            return estimated(request, ModelReply(json.dumps({"proven": True})), self.name)
        return estimated(request, await self.pilot.complete(request, on_delta=on_delta), self.name)


def _quoted(text: str) -> str:
    """The first thing in quotes, as Python writes it."""
    for quote in ("'", '"'):
        if quote in text and text.index(quote) < 60:
            return text.split(quote)[1]
    return ""


def _names(request: ModelRequest, knows: Mapping[str, str]) -> str:
    """What recorded words are called in what it knows, or in Chinese. Of a word that is not on the screen that it is
    shown, it says every third otherwise than the app does, as a model that has never seen that page.
    """
    facts = json.loads(str(request.messages[-1].parts[0]).partition("\n\n")[0])
    names = []
    for words in facts["recorded"]:
        now = (knows or chinese()).get(words, words)
        wrong = now not in facts["screen"] and len(words) % 3 == 0
        names.append({"recorded": words, "now": f"所谓{now}" if wrong else now})
    return json.dumps({"names": names})


def _in_chinese(words: Sequence[str]) -> list[str]:
    table = chinese()
    return [table.get(RENAMED.get(word, word), table.get(word, word)) for word in words]


@dataclass(frozen=True)
class Run:
    """What came of a run, by the events of the agent and by what the phone has kept."""

    outcome: Outcome
    calls: int
    steps: int
    tokens: int
    truth: Mapping[str, Any]
    touched: tuple[str, ...]
    data: str | None = None
    summary: str = ""


@dataclass
class Stage:
    """Recordings, and how they are played. Of a skill the recording is made once for each way of telling ids."""

    made: dict[tuple[str, bool], tuple[RecordedSkill, Run]] = field(default_factory=dict)

    async def recorded(self, played: Played, *, ids: bool = True) -> tuple[RecordedSkill, Run]:
        """The recording of a skill, and the run that it was made of."""
        key = played.name, ids
        if key not in self.made:
            async with phone(Change("first", redesign=Redesign(without_ids=not ids))) as rig:
                pilot = OfflinePilot()
                work = Work(rig.agent(Models(pilot, pilot, pilot)), order(played.asked(played.first)))
                end = await _to_the_end(work)
                assert end.outcome is Outcome.SUCCEEDED, (played.name, end.summary)
                done = [DoneStep(step.record.actions, step.effect) for step in work.steps]
                parameters = [Parameter(name=name, example=value) for name, value in played.first.items()]
                steps, last = steps_of(done)
                skill = with_parameters(played.asked(played.first), steps, last, parameters, Source(task="7"))
                # Read back as it would be from a file.
                self.made[key] = RecordedSkill.model_validate_json(skill.model_dump_json()), _run(rig, work, end, 0)
        return self.made[key]

    async def led(self, played: Played) -> Run:
        """The same task, with a model that is asked at each step."""
        async with phone(Change("first")) as rig:
            pilot = OfflinePilot()
            work = Work(rig.agent(Models(Guide(), pilot, pilot)), order(played.asked(played.first)))
            return _run(rig, work, await _to_the_end(work), 0)

    async def played(
        self,
        played: Played,
        change: Change,
        values: Mapping[str, str],
        *,
        ids: bool = True,
        kill_at: int = 0,
        names: MemorySkillNames | None = None,
    ) -> Run:
        """The skill done again on a phone that has changed; with `kill_at` the agent dies at that checkpoint; `names`
        keeps what is learned of another language.
        """
        change = change.of(played)
        skill, _ = await self.recorded(played, ids=ids)
        library = library_of(played.name, skill)
        reader = Reader(knows=change.redesign.renamed)
        async with phone(change) as rig:
            wanted = order(skill.asked(values), task="9").model_copy(
                update={"skill": played.name, "arguments": dict(values), "max_steps": 60}
            )
            models = Models(reader, reader, reader)
            options: dict[str, Any] = {"skills": library, "main": {"skills": library}, "skill_names": names}
            popping = asyncio.create_task(_pop_up(rig)) if change.pop_up else None
            work = Work(rig.agent(models, **options), wanted)
            if kill_at:
                await _until_saved(rig, kill_at, work)
                await work.kill()
                work = Work(rig.agent(models, **options), wanted)
            end = await _to_the_end(work)
            if popping is not None:
                popping.cancel()
            return _run(rig, work, end, len(reader.asked))


def library_of(name: str, skill: RecordedSkill) -> Skills:
    """A library with this one skill."""
    return Skills({name: Skill(name, "Recorded.", Path(name), "As it was done.", recorded=skill)})


@dataclass
class Changed(Rig):
    """A phone that has changed, and what it had kept before."""

    before: GroundTruth = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.before = self.phone.truth


@asynccontextmanager
async def phone(change: Change) -> AsyncIterator[Changed]:
    """A phone that has changed in this way."""
    options: dict[str, Any] = {"seed": change.seed, "locale": change.locale, "dark": change.dark}
    if change.size is not None:
        options |= {"size": change.size, "density": change.density}
    if change.slow:
        options["faults"] = {"app_ms": change.slow}
    async with direct_rig(**options) as rig:
        rig.phone.state.redesign = replace(change.redesign)
        yield Changed(rig.phone, rig.phones)


async def _to_the_end(work: Work) -> TaskEnded:
    """Answers what is asked, as a person who allows all of it, and waits for the end."""
    answered: set[str] = set()

    async def answering() -> None:
        while True:
            for event in list(work.events):
                if isinstance(event, Asked) and event.question.id not in answered:
                    answered.add(event.question.id)
                    kind = event.question.kind
                    await work.answer(ALLOW if kind is QuestionKind.APPROVE else DONE)
            await asyncio.sleep(0.05)

    person = asyncio.create_task(answering())
    try:
        return await work.ended()
    finally:
        person.cancel()
        with suppress(asyncio.CancelledError):
            await person


async def _pop_up(rig: Rig) -> None:
    """A dialog comes over the app at its second page, or on its first where there is no other."""
    while rig.phone.state.front == "launcher" or (not rig.phone.hand.touched and len(rig.inputs()) < 2):
        await asyncio.sleep(0)
    rig.phone.pop_up("Rate this app", "Do you like it?", ("Not now", "Rate"))


async def _until_saved(rig: Rig, number: int, work: Work) -> None:
    """Returns after so many inputs and looks of the run, counted by the phone, or at its end."""
    while len(rig.phone.journal.entries) < number and not work.events_over:
        await asyncio.sleep(0)


def _run(rig: Changed, work: Work, end: TaskEnded, calls: int) -> Run:
    renamed = rig.phone.state.redesign.renamed
    touched = tuple(_english(_first_words(each), renamed) for each in rig.phone.hand.touched if each.taken)
    kept = left(rig.before, rig.phone.truth)
    return Run(end.outcome, calls, len(work.steps), end.usage.tokens, kept, touched, end.data, end.summary)


def _first_words(touched: Touched) -> str:
    """What an element says first; an avatar says one letter."""
    return next((words for words in touched.words if len(words) > 1), touched.identifier)


def _english(words: str, renamed: Mapping[str, str]) -> str:
    """What the recording would call it: other languages and an update's names read back."""
    back = {chinese_words: english for english, chinese_words in chinese().items()}
    names = {new: old for old, new in (*RENAMED.items(), *renamed.items())}
    said = back.get(words, words)
    said = names.get(said, said)
    head, comma, count = said.partition(", ")
    return f"{names.get(back.get(head, head), back.get(head, head))}{comma}{count}" if count.isdigit() else said


def wanted(first: Run, played: Played, values: Mapping[str, str]) -> tuple[Mapping[str, Any], list[str]]:
    """What the phone must have kept, and what must have been touched: as when it was recorded, with these values."""
    swapped = {old: values[name] for name, old in played.first.items()}
    pattern = re.compile("|".join(map(re.escape, sorted(swapped, key=len, reverse=True))) or "(?!)")

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda found: swapped[found[0]], value)
        return tuple(put(each) for each in value) if isinstance(value, tuple) else value

    return {name: put(each) for name, each in first.truth.items()}, [put(each) for each in first.touched]


def left(before: GroundTruth, after: GroundTruth) -> dict[str, Any]:
    """What the phone has kept that was not there before."""
    messages = [*after.messages, *after.chats]
    for old in (*before.messages, *before.chats):
        messages.remove(old)
    return {
        "notes": tuple((note.title, note.body) for note in after.notes if note not in before.notes),
        "messages": tuple((sent.to, sent.text) for sent in messages),
        "toggles": tuple(sorted(name for name, on in after.toggles.items() if before.toggles[name] is not on)),
        "cart": after.cart,
        "orders": tuple(each.items for each in after.orders),
        "searches": after.searches,
    }


def shuffled(number: int) -> random.Random:
    """Chance, the same for the same number."""
    return random.Random(number)
