"""Parses an instruction into clauses (its single steps), built from the words that a grammar rule matched, or reports
the part that is not a literal instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal, cast

from agent.offline.clauses import (
    THE_ANSWER,
    Alarm,
    Ask,
    Clause,
    EnterSecret,
    Gesture,
    Instruction,
    Open,
    OpenUrl,
    Press,
    Read,
    Scroll,
    Search,
    SendMessage,
    SignIn,
    Tap,
    Toggle,
    TypeText,
    Unreadable,
    Wait,
    WriteNote,
    with_texts,
)
from agent.offline.matching import GOOD, SAME, is_chinese, likeness, place_of
from agent.offline.progress import time_of_day
from agent.offline.vocabulary import Quotes, Rule, is_quote, labels, patterns
from devices.inputs import Key

MAX_WAIT_S = 120.0
MAX_TIMES = 20

Groups = dict[str, str]
Direction = Literal["up", "down", "left", "right"]

_DIRECTIONS: dict[str, Direction] = {
    "up": "up", "down": "down", "left": "left", "right": "right", "上": "up", "下": "down", "左": "left", "右": "right",
}  # fmt: skip
_OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}
_ENDS: dict[str, Direction] = {"bottom": "down", "end": "down", "top": "up", "底部": "down", "顶部": "up"}
_LIST = re.compile(r"\s*(?:,|，|、|\band\b|和|以及)\s*(?:\band\b\s*)?", re.IGNORECASE)
_APP = re.compile(r"(?P<rest>.+) (?:on|in|via|using|with|through) (?:the )?(?P<app>\S+)", re.IGNORECASE)
_RESULTS = re.compile(
    r"(?:(?:search )?(?:results?|list|items)|titles?(?: of the results)?)|(?:搜索)?结果", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")


def text_of(words: str) -> str | None:
    """Return the text to type that these words name: the words themselves, or the placeholder of the person's answer if
    they refer to it. None if they name no text.
    """
    if is_quote(words):
        return words
    plain = _plain(words)
    if is_quote(plain):
        return plain
    if patterns().words["answer"].fullmatch(plain):
        return THE_ANSWER
    return None if patterns().words["indirect"].fullmatch(plain) else words


def _plain(words: str) -> str:
    """Remove polite words and punctuation at the end."""
    return patterns().after.sub("", words).strip()


def number_of(words: str) -> int:
    """Return the number in words such as "twice", "3 times", "2nd" or 第二个. 1 if there is none, -1 for the last."""
    if found := _NUMBER.search(words):
        return int(found[0])
    spoken = words.casefold().split()
    known = sorted(patterns().numbers.items(), key=lambda pair: -len(pair[0]))
    return next((number for word, number in known if word in spoken or (not word.isascii() and word in words)), 1)


def _press(rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    times = number_of(groups["times"]) if "times" in groups else 1
    return (Press(Key(rule.key)),) * times if 0 < times <= MAX_TIMES else None


def _wait(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    if text := groups.get("text"):
        return (Wait(text=text),)
    if "count" not in groups:
        return (Wait(seconds=2.0),)
    unit = groups.get("unit", "")
    count = float(groups["count"]) if groups["count"][0].isdigit() else float(number_of(groups["count"]))
    if unit.startswith(("mo", "b", "w")):
        return (Wait(seconds=2.0),)
    seconds = count * 60 if unit.startswith(("m", "分")) else count
    return (Wait(seconds=seconds),) if 0 < seconds <= MAX_WAIT_S else None


def _scroll(rule: Rule, groups: Groups, first: bool) -> tuple[Clause, ...] | None:
    if rule.later and first:
        return None
    direction = _DIRECTIONS[groups.get("direction", "down").casefold()]
    until = groups.get("until", "")
    if rule.finger:
        direction = _OPPOSITE[direction]
    if end := _ENDS.get(until.casefold()):
        return (Scroll(end, times=0),)
    times = number_of(groups["times"]) if "times" in groups else 1
    return (Scroll(direction, 1 if until else times, until),) if 0 < times <= MAX_TIMES else None


def _alarm(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    time = time_of_day(groups["time"], groups.get("half", ""))
    return (Alarm(time, on="off" not in groups),) if time else None


def _toggle(rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    parts = _LIST.split(groups["label"])
    if len(parts) > 1 and not all(map(_is_switch, parts)):
        parts = [groups["label"]]
    if rule.switches and not all(map(_is_switch, parts)):
        return None
    return tuple(Toggle(part, on="off" not in groups) for part in parts)


def _is_switch(label: str) -> bool:
    return any(likeness(label, known) >= GOOD for known in labels().switches)


def _message(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    to = _plain(groups["to"])
    app = (Open(groups["app"].strip()),) if "app" in groups else ()
    if "text" not in groups:
        question = "给{name}发什么内容" if is_chinese(groups["whole"]) else "what to write to {name}"
        return (Ask(question.format(name=to)), *app, SendMessage(to, THE_ANSWER))
    text = text_of(groups["text"])
    if text is None or patterns().words["answer"].fullmatch(to):
        return None
    if found := _APP.fullmatch(to):
        return (Open(found["app"]), SendMessage(found["rest"], text))
    return (*app, SendMessage(to, text))


def _note(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    if "text" not in groups:
        return (Ask("便签的内容" if is_chinese(groups["whole"]) else "what the note is to say"), WriteNote(THE_ANSWER))
    text = text_of(groups["text"])
    return None if text is None else (WriteNote(text, groups.get("title", "")),)


def _sign_in(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    clause = SignIn(groups.get("name", ""))
    return (Open(groups["app"]), clause) if "app" in groups else (clause,)


def _search(rule: Rule, groups: Groups, first: bool) -> tuple[Clause, ...] | None:
    query = text_of(groups["query"])
    if query is None:
        return None
    browser = labels().apps["browser"][0]
    return (Open(browser), Search(query)) if rule.web or first else (Search(query),)


def _type(rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    text, field = text_of(groups["text"].rstrip("。").removesuffix(".")), _plain(groups.get("field", ""))
    if text is None or (rule.known_field and not is_field(field)):
        return None
    return (TypeText(text, field),)


def is_field(name: str) -> bool:
    """Whether text fields usually have a name like this."""
    known = labels().fields
    return any(likeness(name, word) >= SAME for kind in known.values() for word in kind)


def _read(rule: Rule, groups: Groups, first: bool) -> tuple[Clause, ...] | None:
    what = groups.get("what", "")
    if (rule.later and first and place_of(what) is None) or (rule.switches and not _is_switch(what)):
        return None
    if "nth" in groups:
        return (Read(nth=number_of(groups["nth"])),)
    if first and any(likeness(what, name) >= SAME for names in labels().apps.values() for name in names):
        return (Open(what), Read(content=True))
    return (Read(),) if _RESULTS.fullmatch(what) else (Read(what),)


def _thread(_rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    return (Open(labels().apps["messages"][is_chinese(groups["whole"])]), Tap(groups["to"]), Read(content=True))


def _tap(rule: Rule, groups: Groups, _first: bool) -> tuple[Clause, ...] | None:
    gesture = cast("Gesture", rule.gesture)
    if "nth" in groups:
        return (Tap("", number_of(groups["nth"]), gesture),)
    times = number_of(groups["times"]) if "times" in groups else 1
    return (Tap(groups["label"], gesture=gesture),) * times if 0 < times <= MAX_TIMES else None


# A builder gets the rule, the matched words by group name, and whether no other clause precedes them. It returns None
# if the words match the rule but mean nothing that can be done.
_BUILDERS: dict[str, Callable[[Rule, Groups, bool], tuple[Clause, ...] | None]] = {
    "press": _press,
    "url": lambda _rule, groups, _first: (OpenUrl(groups["url"]),),
    "wait": _wait,
    "scroll": _scroll,
    "alarm": _alarm,
    "toggle": _toggle,
    "message": _message,
    "note": _note,
    "sign_in": _sign_in,
    "secret": lambda _rule, groups, _first: (EnterSecret(groups["what"]),),
    "ask": lambda _rule, groups, _first: (Ask(groups["question"]),),
    "search": _search,
    "type": _type,
    "read": _read,
    "thread": _thread,
    "tap": _tap,
    "open": lambda _rule, groups, _first: (Open(groups["name"]),),
}


MAX_TEXT = 1500
"""The maximum number of characters of an instruction. Longer texts are not literal instructions, and matching takes
time.
"""
MAX_CLAUSES = 40

_KEPT = 64
_ANSWER_SHOWN = "it"
_VERBATIM = ("message", "note", "type")


@lru_cache(maxsize=_KEPT)
def read(text: str) -> Instruction:
    """Parse a text into its clauses; there is at least one. Raises Unreadable."""
    if len(text) > MAX_TEXT or not text.strip():
        raise Unreadable(text[:80])
    quotes = Quotes(text)
    try:
        clauses = _clauses(re.sub(r"[ \t\r\f\v\u3000]+", " ", quotes.text).strip())
    except Unreadable as error:
        raise Unreadable(quotes.restored(error.part)) from None
    if len(clauses) > MAX_CLAUSES:
        raise Unreadable(text[:80])
    whole = tuple(with_texts(clause, quotes.restored) for clause in _referred([clause for clause, _ in clauses]))
    return Instruction(whole, tuple(quotes.restored(rest) for _, rest in clauses), chinese=is_chinese(text))


def topic_of(text: str) -> str:
    """Return the topic of a text that is not a task ("hello", "who", "help", "thanks"); "" for anything else."""
    plain = re.sub(r"[\s!?.。！？,，~]+", " ", text).strip()
    return next((chat.topic for chat in patterns().chat if chat.pattern.fullmatch(plain)), "")


def ignorable(text: str) -> bool:
    """Whether a person's remark asks for nothing, such as "go on" or "thanks"."""
    return bool(patterns().words["ignorable"].fullmatch(_trimmed(text)))


def _clauses(text: str) -> list[tuple[Clause, str]]:
    """Return the clauses, each with the text after it."""
    found: list[tuple[Clause, str]] = []
    start = 0
    for end, after, strong in _separators(text):
        if end < start:
            continue
        right = _unfilled(text[after:])
        if not right:
            continue
        left = _clause(text[start:end], first=not found)
        if left is None:
            continue
        if (strong and not _takes_all(left[-1])) or patterns().head.match(right):
            if not strong and _is_payload(left[-1]):
                continue
            found += [(clause, right) for clause in left]
            start = after
    last = _clause(text[start:], first=not found)
    if last is None:
        raise Unreadable(_trimmed(text[start:]))
    return [*found, *((clause, "") for clause in last)]


def _separators(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where a clause may end and the next begin, from the left, and whether it must."""
    strong = [(each.start(), each.end(), True) for each in patterns().strong.finditer(text)]
    weak = [(each.start(), each.end(), False) for each in patterns().weak.finditer(text)]
    taken = {(start, end) for start, end, _ in strong}
    return iter(sorted(strong + [each for each in weak if each[:2] not in taken], key=lambda each: (each[0], -each[1])))


def _is_payload(clause: Clause) -> bool:
    """Whether its text continues over "and" and commas: words for other people, without quotes."""
    return isinstance(clause, WriteNote | SendMessage) and not is_quote(clause.text)


def _takes_all(clause: Clause) -> bool:
    """Whether even "then" may belong to its text."""
    if isinstance(clause, TypeText | WriteNote | SendMessage):
        return not is_quote(clause.text)
    return isinstance(clause, Search) and not is_quote(clause.query)


def _trimmed(text: str) -> str:
    """Return a clause without polite words and punctuation around it."""
    return _unfilled(patterns().after.sub("", text.strip())).strip()


def _unfilled(text: str) -> str:
    text = text.strip(" ,，、")
    while (found := patterns().before.match(text)) is not None and found.end() < len(text):
        text = text[found.end() :].strip(" ,，、")
    return text


def _clause(text: str, *, first: bool) -> list[Clause] | None:
    text = _unfilled(text)
    if not _trimmed(text):
        return None
    # "type hello in the Notes app": a fully named place takes precedence over a text that would include it.
    placed = _placed(text)
    return placed if placed is not None else _direct(text, first=first)


def _placed(text: str) -> list[Clause] | None:
    """Parse a clause that names its app: that app, and then the clause in it."""
    plain = _trimmed(text)
    for where in patterns().where:
        found = where.pattern.fullmatch(plain)
        if found is None or (where.unless is not None and where.unless.fullmatch(plain)):
            continue
        inner = _direct(f"{found.groupdict().get('verb', '')}{found['rest']}", first=False)
        if inner is None:
            continue
        app = found["app"].strip()
        if isinstance(inner[0], TypeText) and is_field(app):
            continue
        if isinstance(inner[0], Open) and inner[0].name.casefold() == app.casefold():
            return inner
        return [Open(app), *inner]
    return None


def _direct(text: str, *, first: bool) -> list[Clause] | None:
    plain = _trimmed(text)
    for rule in patterns().rules:
        # Words for other people are kept with all punctuation, and so is "please" in them.
        found = rule.pattern.fullmatch(text.strip() if rule.kind in _VERBATIM else plain)
        if found is not None and (built := _BUILDERS[rule.kind](rule, _groups(found), first)) is not None:
            return list(built)
    return None


def _groups(found: re.Match[str]) -> Groups:
    """Return the matched groups; those of a second form (`text2`) under the plain name. `whole` is all."""
    groups = found.groupdict()
    return {"whole": found[0]} | {
        name.rstrip("234"): value.strip() for name, value in groups.items() if value and value.strip()
    }


def _referred(clauses: list[Clause]) -> list[Clause]:
    """Replace words such as "it" and "the answer" with what they refer to. Raises Unreadable if there is nothing."""
    asked, last, referring = False, "", patterns().words["referring"]
    whole: list[Clause] = []
    for clause in clauses:
        known = clause
        match clause:
            case Tap(label=label) | Toggle(label=label) | Open(name=label) if referring.fullmatch(label):
                if not last:
                    raise Unreadable(label)
                known = Open(last) if isinstance(clause, Open) else replace(clause, label=last)
            case Search(query=text) | TypeText(text=text) | WriteNote(text=text) | SendMessage(text=text):
                if text == THE_ANSWER and not asked:
                    raise Unreadable(_ANSWER_SHOWN)
        if isinstance(known, Ask):
            asked, last = True, THE_ANSWER
        else:
            last = _name_in(known) or last
        whole.append(known)
    return whole


def _name_in(clause: Clause) -> str:
    """Return what a clause names, so that "it" can refer to it."""
    match clause:
        case Tap(label=name) | Toggle(label=name) | Open(name=name):
            return name
        case Scroll(until=name) | Wait(text=name) | Read(what=name):
            return name
        case _:
            return ""
