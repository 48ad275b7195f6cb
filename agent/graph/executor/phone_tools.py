"""Tools that use the phone without sending an input: waiting, listing apps, taking notes, sending files, and reading
all elements or covered words.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from typing import Final, Literal

from pydantic import Field

from agent.actions import Action, ListApps, Note, SendFile, SumUp, Wait, WaitFor
from agent.effect_facts import CameTrue, FileSent, NotWithin, Worded
from agent.effects import changed, difference
from agent.events import FileFound
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.guards.gate import FORBIDS, LEAVES, Gate
from agent.models.base import ModelRequest, Purpose, prompted
from agent.models.errors import ModelError
from agent.observing import ScreenView
from agent.prompts import prompt, unmarked
from agent.tools.spec import ActionError, ActionResult, Situation, ungated
from agent.wording import Texts, sentence, words
from devices.errors import FileRejected, PhoneError
from devices.phone import AppSource, Element, Observation
from devices.storage import checked_path, is_within

POLL_S = 0.25
_TEXTS: Final = Texts(
    {"apps": "{number} apps", "whole": "read the whole list"}, zh={"apps": "{number} 个应用", "whole": "查看完整列表"}
)


async def wait(action: Wait, context: PhoneContext) -> ActionResult:
    """Run the `wait` tool: wait, then return what changed on the screen."""
    assert context.sight is not None
    await context.control.guard(asyncio.sleep(action.seconds))
    return ActionResult(difference(context.sight.observation, await _look(context)))


async def wait_for(action: WaitFor, context: PhoneContext) -> ActionResult:
    """Run the `wait_for` tool: look repeatedly until its condition is met or its seconds have passed."""
    assert context.sight is not None
    before = context.sight.observation
    clock = asyncio.get_running_loop().time
    began = clock()
    while True:
        now = await _look(context)
        if _is_so(action, before, now):
            return ActionResult((CameTrue(seconds=round(clock() - began, 1)), *difference(before, now)))
        if clock() - began >= action.seconds:
            return ActionResult((NotWithin(seconds=action.seconds),))
        await context.control.guard(asyncio.sleep(POLL_S))


async def _look(context: PhoneContext) -> Observation:
    try:
        return context.mask.to_tell(await context.screen.peek(keep=True))
    except PhoneError as error:
        raise ActionError(f"The phone could not be seen meanwhile: {error}") from error


def _is_so(action: WaitFor, before: Observation, now: Observation) -> bool:
    if action.what == "change":
        return changed(before, now)
    there = any(action.text.casefold() in e.label.casefold() for e in now.elements or ())
    return there if action.what == "text" else not there


MOST_APPS = 200
"""The maximum apps in one list for a model, about 1,500 tokens."""


async def list_apps(action: ListApps, context: PhoneContext) -> ActionResult:
    """Run the `list_apps` tool: return the names of the phone's apps, as data. Raises ActionError if the phone does not
    report them.
    """
    if not isinstance(context.phone, AppSource):
        raise ActionError("Not done: this phone cannot list its apps. Open the app by its name.")
    try:
        apps = await context.control.guard(context.phone.apps())
    except PhoneError as error:
        raise ActionError(f"The apps could not be listed: {error}") from error
    wanted = action.name.casefold()
    found = [app for app in apps if wanted in app.label.casefold() or wanted in app.package.casefold()]
    left_out = len(found) - MOST_APPS
    lines = [*(f"{app.label} ({app.package})" for app in found[:MOST_APPS]), *[f"… {left_out} more"] * (left_out > 0)]
    heading = f"{len(found)} of the {len(apps)} apps on the phone" if wanted else f"The {len(apps)} apps on the phone"
    return ActionResult(
        (Worded.of(_TEXTS.words("apps", number=len(found))),), read=("\n".join([f"{heading}:", *lines]),)
    )


SUMMED_UP = "Your notes were summed up: the answer is the last of your notes."
SCREEN_LETTERS = 1500
"""The maximum letters of one screen in a note, about a full screen, because notes are sent again at every step."""


async def note(action: Note, context: PhoneContext) -> ActionResult:
    """Run the `note` tool: note the model's words and, if it asks for that, the words of the screen."""
    assert context.sight is not None
    if not action.screen:
        return ActionResult(notes=(action.text,))
    seen = f"On the screen ({context.sight.observation.package or 'unknown app'}): {_words_of(context.sight)}"
    return ActionResult(notes=("\n".join(part for part in (action.text, seen) if part),))


async def sum_up(action: SumUp, context: PhoneContext) -> ActionResult:
    """Run the `sum_up` tool: have the basic model summarise the notes, or the screen if there are none. Raises
    ActionError and Stopped.

    The summary becomes a note, which the model reads as data, and the data of the task's result.
    """
    assert context.sight is not None
    lines = "\n".join(f"- {each}" for each in context.notes) or f"- {context.mask.text(_words_of(context.sight))}"
    facts = f"Task: {context.task}\nWanted now: {action.instruction}\n\n<notes>\n{unmarked(lines)}\n</notes>"
    request = ModelRequest(
        Purpose.SUMMARIZE,
        prompted(prompt("sum_up"), facts),
        conversation=f"{context.run}-notes",
        task=context.run.task,
    )
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    try:
        reply = await context.control.guard(model.complete(request))
    except ModelError as error:
        raise ActionError(f"The notes could not be summed up: {error}") from error
    words = reply.text.strip()
    if not words:
        raise ActionError("The notes could not be summed up: the answer was empty.")
    return ActionResult(notices=(SUMMED_UP,), notes=(words,), gathered=words, usage=reply.usage)


def _words_of(view: ScreenView) -> str:
    """Return all words of the screen from top to bottom, each once."""
    labels = [" ".join(element.label.split()) for element in view.observation.elements or () if not element.password]
    words = " | ".join(dict.fromkeys(label for label in labels if label))
    return words[:SCREEN_LETTERS] or "(no words could be read)"


MAX_FILE = 20 * 1024 * 1024
"""The maximum bytes of a file for the chat; every platform accepts at least 10 MiB, and adapters enforce
their limit.
"""
_SUFFIX = re.compile(r"[a-z0-9]{1,10}")
"""The suffixes that the store accepts; a file with another one is stored anyway, with its name kept separately."""


def exact_path(action: SendFile) -> SendFile:
    """Return the action with a normalised path. Raises ActionError for a path outside shared storage; a person cannot
    approve that either.
    """
    try:
        return action.model_copy(update={"path": checked_path(action.path)})
    except FileRejected as error:
        raise ActionError(f"The file was not sent: {error}") from error


def file_gate(action: SendFile, situation: Situation) -> Gate:
    """Decide whether a person must be asked before this file is sent. Not if the task names the file by its original
    name.
    """
    if any(is_within(action.path, each) for each in situation.moved):
        return Gate("approve", LEAVES)
    return situation.policy.file_gate(action.path, asked=situation.task)


async def send_file(action: SendFile, context: PhoneContext) -> ActionResult:
    """Run the `send_file` tool: fetch the file and pass it to the chat. Raises ActionError if nothing was sent, and
    Stopped if the run was stopped before that.
    """
    path = PurePosixPath(action.path)
    try:
        content = await context.control.guard(context.phone.pull(action.path, limit=MAX_FILE))
    except PhoneError as error:
        raise ActionError(f"The file was not sent: {error}") from error
    suffix = path.suffix.lstrip(".").casefold()
    kept = await context.frames.save(content, suffix=suffix if _SUFFIX.fullmatch(suffix) else "bin")
    context.emit(FileFound(name=path.name, content=kept))
    return ActionResult((FileSent(name=path.name, size=len(content)),))


NOT_COVERED = "Not asked: no words of {app} are covered on this screen. Name the app in front, by its package."
READABLE = "The person lets you read the words of {app} for this task. You are told them from the next screen on."


class ReadWords(Action):
    """Ask to read an app's covered words."""

    kind: Literal["read_words"] = "read_words"
    app: str = Field(min_length=1, max_length=200, description="Its package.")


def require_covered(action: ReadWords, view: ScreenView | None) -> None:
    """Raise ActionError if this screen has no covered words of the app, so that there is nothing to ask a person for.
    Without a screen (`view` is None) nothing is checked.
    """
    if view is not None and not (view.screen.covered and view.observation.package == action.app):
        raise ActionError(NOT_COVERED.format(app=action.app))


def _asked(action: ReadWords, view: ScreenView | None, _under: Element | None) -> str:
    name = "" if view is None or view.observation.package != action.app else view.observation.app_name
    return sentence("do.read_words", app=f"{name} ({action.app})" if name else action.app)


async def _read_words(action: ReadWords, context: PhoneContext) -> ActionResult:
    context.mask.let_read([action.app])
    return ActionResult(notices=(READABLE.format(app=action.app),))


READ_WORDS = PhoneTool(
    model=ReadWords,
    describe=lambda action, _: words("did.read_words", app=action.app),
    asked=_asked,
    details=lambda _: (),
    gate=lambda *_: Gate("approve", FORBIDS),
    journalled=False,
    run=_read_words,
)


NOTHING_LEFT: Final = "Not done: the list of this screen leaves out nothing. Scroll to see more."


class ShowAll(Action):
    """See rows left out of the list."""

    kind: Literal["show_all"] = "show_all"


async def _show_all(_action: ShowAll, context: PhoneContext) -> ActionResult:
    if context.sight is not None and not context.sight.screen.is_cut:
        raise ActionError(NOTHING_LEFT)
    context.screen.list_all()
    return ActionResult()


SHOW_ALL: Final = PhoneTool(
    model=ShowAll, describe=lambda *_: _TEXTS.words("whole"), gate=ungated, journalled=False, run=_show_all
)
