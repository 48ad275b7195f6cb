"""A model that sees nothing but its request, and of a screen only the list: it does each kind of the suite by the words
of the task and what the list says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from datetime import date, timedelta

from tests.end_to_end.brain import NotOnScreen, find, listed
from tests.fakes.model_server import Answer, Call, Recorded

Steps = Generator[Answer, Recorded, str]
"""Answers, a step each, to the requests that come back; at last what is said of the task."""

_TASK = re.compile(r"Task, in the person's words:\n([^\n]*)")
_PRICE = re.compile(r"\$(\d+\.\d\d)")
_CLOSING = ("Not now", "Later", "No thanks")
MOST_SCROLLS = 8


def reader() -> Callable[[Recorded], Answer]:
    """Takes the tasks one after the other, each as a simple one; every proof is true for it, every press harmless."""
    at_work: dict[str, Generator[Answer, Recorded, None]] = {}
    last: dict[str, tuple[int, Answer]] = {}

    def think(request: Recorded) -> Answer:
        assert not request.images
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You judge one press" in request.text:
            return Answer(text=json.dumps({"consequence": "none"}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        found = _TASK.search(request.text)
        if found is None:
            return Answer(text="Working on the phone")
        task, step = found[1], int(re.findall(r"Step (\d+) of at most", request.text)[-1])
        if step == 1 and last.get(task, (1,))[0] != 1:
            del at_work[task]
        before = last.get(task)
        if before is not None and before[0] == step:
            return before[1]  # its screen has moved under the same step
        if task not in at_work:
            at_work[task] = _whole(task)
            next(at_work[task])
        answer = at_work[task].send(request)
        last[task] = step, answer
        return answer

    return think


def _whole(task: str) -> Generator[Answer, Recorded, None]:
    request = yield Answer()
    said, status = "", "success"
    try:
        said = yield from _way(task, request)
    except NotOnScreen as missing:
        said, status = f"There is no {missing.label}.", "failure"
    while True:
        yield _do("finish", status=status, summary=said or "It is done.")


def _way(task: str, now: Recorded) -> Steps:
    """What is done for a task of these words."""
    if asked := re.fullmatch(r"turn (on|off) (?!the alarm).*", task):
        return (yield from _switches(task, now))
    if asked := re.fullmatch(r"open the browser and search for (.*)", task):
        now = yield _do("open_app", name="Browser")
        yield _do("type", element=_field(now), text=asked[1], clear=True, submit=True)
        return ""
    if asked := re.fullmatch(r"open the address (.*)", task):
        yield _do("open_url", url=f"https://{asked[1]}")
        return ""
    if asked := re.fullmatch(r'write a note (?:titled "(.*)" )?that says "(.*)"', task):
        return (yield from _note(asked[1] or "", asked[2]))
    if asked := re.fullmatch(r'send a message to (\w+)(?: saying "(.*)")?', task):
        words = asked[2]
        if not words:
            now = yield _do("ask_user", question="What is the message to say?")
            words = _answer_in(now)
        return (yield from _message("Messages", asked[1], words))
    if asked := re.fullmatch(r"打开微信发消息给(.*)：(.*)", task):
        return (yield from _message("微信", asked[1], asked[2]))
    if asked := re.fullmatch(r"turn on the alarm at (.*)", task):
        now = yield _do("open_app", name="Clock")
        yield _do("tap", element=_beside(now, asked[1], "switch"))
        return ""
    if "calendar" in task:
        return (yield from _calendar(task, now))
    if "sign in to Account" in task:
        return (yield from _sign_in(task.rpartition(" ")[2]))
    if "shop" in task:
        return (yield from _shop(task, now))
    if "note" in task:
        return (yield from _notes(task))
    return (yield from _read(task, now))


def _switches(task: str, now: Recorded) -> Steps:
    closing = next((line for line in listed(now) if line.caption in _CLOSING), None)
    if closing is not None:
        yield _do("tap", element=int(closing.number))
    for title in re.findall(r"turn (?:on|off) (.+?)(?= and turn |$)", task):
        now = yield _do("open_app", name="Settings")
        line, _ = yield from _reached(now, title)
        yield _do("tap", element=line)
    return ""


def _reached(now: Recorded, label: str) -> Generator[Answer, Recorded, tuple[int, Recorded]]:
    """The number of what has this label, further down where it is not in sight. Raises NotOnScreen."""
    for _ in range(MOST_SCROLLS):
        try:
            return int(find(now, label).number), now
        except NotOnScreen:
            now = yield _do("scroll", direction="down")
    return int(find(now, label).number), now


def _note(title: str, words: str) -> Steps:
    now = yield _do("open_app", name="Notes")
    now = yield _tap(now, "New note")
    if title:
        now = yield _do("type", element=_number(now, "Title"), text=title)
    now = yield _do("type", element=_number(now, "Note"), text=words)
    yield _tap(now, "Save")
    return ""


def _message(app: str, person: str, words: str) -> Steps:
    now = yield _do("open_app", name=app)
    if any(person in line.caption.split(" · ") for line in listed(now)):
        now = yield _do("tap", element=next(int(x.number) for x in listed(now) if person in x.caption.split(" · ")))
    else:
        now = yield _tap(now, "New message")
        now = yield _tap(now, person)
    now = yield _do("type", element=_field(now), text=words)
    now = yield _do("tap", element=next(int(x.number) for x in listed(now) if x.caption in {"Send", "发送"}))
    return ""


def _calendar(task: str, now: Recorded) -> Steps:
    """Values are set by `set_value`, which finds its picker by itself; the day of a word is reckoned by the phone's."""
    today = date.fromisoformat(re.findall(r"phone's time: \w+ (\d{4}-\d\d-\d\d)", now.text)[-1])
    now = yield _do("open_app", name="Calendar")
    quoted = re.findall(r'"([^"]*)"', task)
    if "at what time" in task:
        told = " ".join(line.caption for line in listed(now)).partition(quoted[0])[2]
        found = re.search(r"\d\d:\d\d", told)
        assert found is not None
        return f"It is at {found[0]}."
    if "settings" in task:
        now = yield _tap(now, "Calendar settings")
        bar = _beside(now, "volume_bar" if "volume" in task else "steps_bar", "slider")
        yield _do("set_value", element=bar, value=re.findall(r"\d+%?", task)[-1])
        return ""
    if task.startswith("delete"):
        now = yield _tap(now, "Chores")
        now = yield _do("long_press", element=_number(now, quoted[0]))
        now = yield _tap(now, quoted[1])
        yield _tap(now, "Delete")
        return ""
    if "move" in task:
        now = yield _tap(now, "Chores")
        (x, y), (to_x, to_y) = (_centre(now, name) for name in quoted)
        yield _do("drag", start_x=x, start_y=y, end_x=to_x, end_y=to_y)
        return ""
    days = re.findall(r"\d{4}-\d\d-\d\d", task)
    if days:
        day = date.fromisoformat(days[0])
    else:
        ahead = [today + timedelta(days=n) for n in range(1, 8)]
        day = ahead[0] if "tomorrow" in task else next(each for each in ahead if f"{each:%A}" in task)
    now = yield _tap(now, "New event")
    now = yield _do("type", element=_field(now), text=quoted[0])
    values = {"Date": day.isoformat()}
    if asked := re.search(r" at (\d\d:\d\d)", task):
        values["Time"] = asked[1]
    if asked := re.search(r"reminder (\d+) minutes", task):
        values["Reminder"] = asked[1]
    for row, value in values.items():
        now = yield _do("tap", element=next(int(line.number) for line in listed(now) if line.caption.startswith(row)))
        now = yield _do("set_value", value=value)
        now = yield _tap(now, "OK")
    yield _tap(now, "Save")
    return ""


def _centre(now: Recorded, label: str) -> tuple[int, int]:
    """Where something stands, as the list says."""
    shown = now.text.rpartition("<screen>")[2]
    found = next(met for line in shown.splitlines() if label in line and (met := re.search(r"\((\d+),(\d+)\)$", line)))
    return int(found[1]), int(found[2])


def _sign_in(name: str) -> Steps:
    now = yield _do("open_app", name="Account")
    now = yield _do("type", element=_field(now), text=name)
    now = yield _tap(now, "Next")
    now = yield _do("enter_secret", element=_field(now), question="Which code was sent to you?")
    if any(line.caption == "Verify" for line in listed(now)):
        yield _tap(now, "Verify")
    return ""


def _shop(task: str, now: Recorded) -> Steps:
    if "ask me" in task:
        now = yield _do("ask_user", question="Which mug do you like best?")
        task = f"{task} {_answer_in(now)}"
    now = yield _do("open_app", name="Shop")
    prices: dict[str, float] = {}
    for _ in range(3):
        prices |= {
            line.caption.split(" · ")[0]: float(price[1])
            for line in listed(now)
            if (price := _PRICE.search(line.caption)) and " · " in line.caption
        }
        now = yield _do("scroll", direction="down")
    for _ in range(3):
        now = yield _do("scroll", direction="up")
    names = {name for name in prices if name in task}
    if "to drink" in task:
        names = {name for name in prices if re.search("coffee|tea", name, re.IGNORECASE)}
    wanted = (max if "most expensive" in task else min)(names or prices, key=lambda name: prices[name])
    if task.startswith("What does"):
        return f"It costs ${prices[wanted]:.2f}."
    line, _ = yield from _reached(now, wanted)
    now = yield _do("tap", element=line)
    line, _ = yield from _reached(now, "Add to cart")
    now = yield _do("tap", element=line)
    if task.startswith("Buy"):
        now = yield _tap(now, "Cart, 1")
        now = yield _tap(now, "Checkout")
        yield _tap(now, "Place order")
    return ""


def _notes(task: str) -> Steps:
    now = yield _do("open_app", name="Notes")
    if asked := re.search(r'Delete the note titled "(.*)"', task):
        now = yield _tap(now, asked[1])
        yield _tap(now, "Delete")
        return ""
    if asked := re.search(r'Add "(.*)" at the end of my note (\w+)', task):
        now = yield _tap(now, asked[2])
        field = next(line for line in listed(now) if line.role == "field" and line.caption != asked[2])
        now = yield _do("type", element=int(field.number), text=f"{field.caption}, {asked[1]}", clear=True)
        yield _tap(now, "Save")
        return ""
    asked = re.search(r"tap (\w+) and", task)
    assert asked is not None
    now = yield _tap(now, asked[1])
    return _numbers(now)


def _read(task: str, now: Recorded) -> Steps:
    if asked := re.search(r"open settings, open (.*) and tell me the (.*)", task):
        now = yield _do("open_app", name="Settings")
        line, now = yield from _reached(now, asked[1])
        now = yield _do("tap", element=line)
        line, now = yield from _reached(now, asked[2])
        shown = listed(now)
        at = next(place for place, each in enumerate(shown) if each.number == str(line))
        return ": ".join(each.caption for each in shown[at : at + 2])  # the value stands in the line or below it
    if asked := re.search(r"open messages, tap (\w+)", task):
        now = yield _do("open_app", name="Messages")
        now = yield _tap(now, asked[1])
        return _numbers(now)
    return ". ".join(line.caption for line in listed(now))


def _numbers(now: Recorded) -> str:
    """What a text says of a number, without what else it says."""
    found = re.search(r"\b(?:number|parcel) (\d{4})\b", now.text.rpartition("<screen>")[2])
    return f"It is {found[1]}." if found else "There is none."


def _answer_in(now: Recorded) -> str:
    """What the person has answered."""
    told = now.text.rpartition("Told to you since")[2]
    found = re.search(r"(?:answers?|says?|writes)[^:\n]*: ?[\"“']?(.+?)[\"”']?\.?$", told, re.MULTILINE)
    assert found is not None, told[:500]
    return found[1]


def _field(now: Recorded) -> int:
    shown = now.text.rpartition("<screen>")[2]
    found = re.search(r"\[(\d+)\] field", shown)
    if found is None:
        raise NotOnScreen("field", shown)
    return int(found[1])


def _beside(now: Recorded, label: str, role: str) -> int:
    """The first of a role in the line that has this label, or behind it."""
    lines = now.text.rpartition("<screen>")[2].splitlines()
    start = next(number for number, line in enumerate(lines) if label in line)
    found = next(each for line in lines[start:] if (each := re.match(rf"\[(\d+)\] {role}", line)))
    return int(found[1])


def _number(now: Recorded, label: str) -> int:
    return int(find(now, label).number)


def _tap(now: Recorded, label: str) -> Answer:
    return _do("tap", element=_number(now, label))


def _do(tool: str, /, **arguments: object) -> Answer:
    return Answer(tool_calls=(Call(name=tool, arguments=arguments),))
