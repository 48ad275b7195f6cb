"""Reads a request without a model: whether it asks for an action on the phone, and whether it is one plain sentence in
which code understands every word.

Only plain cases are recognised: a request that is not recognised may still ask for an action.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final, Literal

from devices.wording import table_of

Act = Literal["does", "looks", "sets", ""]
"""The kind of request: "does" asks for something that cannot be true before it was done, "looks" for something that may
be done by looking it up, "sets" for something that may already be so on the phone, and "" is not recognised as any.
"""

_STRICTEST: Final[tuple[Act, ...]] = ("does", "looks", "sets")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|`[^`]*`")
_ENDS: Final = re.compile(r"(?<=[.!?;。！？；؟؛।\n])\s*|\s*\n\s*")
_WHERE: Final = re.compile(r"^(?:in|on|using|with|from) [^,]{1,40}, ")
"""An app that is named first: "In Settings, …"."""
_SIGNS: Final = " \t,.!?;:…،。！？；、¿¡؟؛।"
_NO_BLANKS: Final = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts in which a word may begin or end inside a row of letters."""
MAX_GAP: Final = 80
_READING: Final = Lock()
"""Held while the words are loaded, so that two threads that need them first share the work."""


@dataclass(frozen=True)
class _Language:
    before: re.Pattern[str]
    answers: re.Pattern[str]
    asks: re.Pattern[str]
    acts: dict[Act, re.Pattern[str]]
    """What begins a clause of each kind, the strictest kind first."""
    unsent: re.Pattern[str]


def load() -> None:
    """Load the words of all languages, so that the first request need not wait for it. Takes half a second of processor
    time.
    """
    _languages()


def asks_for_act(text: str) -> Act:
    """Return the kind of action that the first recognised clause of a request asks for; "" if none is recognised or it
    is a question.
    """
    clauses = [_folded(each) for each in _ENDS.split(_QUOTED.sub('"', text))]
    for clause in filter(None, clauses):
        found = [_read(clause, language) for language in _languages()]
        if "" in found:  # a question in one of the languages: the words are ambiguous
            return ""
        if any(found):
            return next(act for act in _STRICTEST if act in found)
    return ""


def leaves_unsent(text: str) -> bool:
    """Whether the request says that a message should be written but not sent."""
    folded = _folded(text)
    return any(each.unsent.search(folded) for each in _languages())


def _read(clause: str, language: _Language) -> Act | None:
    """Read one clause; None if it has no known word of the language."""
    asked = clause.endswith(("?", "？", "؟"))
    rest = clause.strip(_SIGNS)
    polite = False
    while (found := language.before.match(rest)) is not None and found.end():
        polite, rest = True, rest[found.end() :].lstrip(_SIGNS)
    rest = _WHERE.sub("", rest)
    if language.answers.match(rest) or (language.asks.search(rest) and _begins(language, rest)):
        return ""
    if asked and not polite:
        return "" if _begins(language, rest) else None
    return _begins(language, rest)


def _begins(language: _Language, rest: str) -> Act | None:
    return next((act for act, form in language.acts.items() if form.search(rest)), None)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(plain.split())


def _languages() -> tuple[_Language, ...]:
    with _READING:
        return _read_languages()


@cache
def _read_languages() -> tuple[_Language, ...]:
    table = table_of("agent", "acts.toml")
    return tuple(
        _Language(
            before=_any(_start(each, alone=True) for each in _entries(words, "before")),
            answers=_any(_start(each, alone=True) for each in _entries(words, "answers")),
            asks=_any(map(_words, _entries(words, "asks"))),
            acts={
                act: _any([*map(_start, _entries(words, act)), *map(_end, _entries(words, f"{act}_last"))])
                for act in _STRICTEST
            },
            unsent=_any(map(_words, _entries(words, "unsent"))),
        )
        for words in table.values()
    )


def _entries(words: dict[str, str], name: str) -> list[str]:
    return [_folded(each) for each in re.split(r"\s*[,،]\s*", words.get(name, "")) if each]


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return the expression that any of these matches; without any, one that never matches."""
    return re.compile("|".join(patterns) or r"(?!)")


def _words(entry: str) -> str:
    """Return the regular expression of an entry: whole words, in scripts that separate words."""
    entry = entry.removesuffix(".")
    gap = rf".{{1,{MAX_GAP}}}?"
    body = "".join({"_": gap, "*": r"\w*", "#": r"\d+", " ": r"\s+"}.get(sign, re.escape(sign)) for sign in entry)
    return f"(?:{_edge(entry[0], before=True)}{body}{_edge(entry[-1], before=False)})"


def _edge(sign: str, *, before: bool) -> str:
    if sign in "*_#" or re.match(f"[{_NO_BLANKS}]", sign):
        return ""
    return r"(?<![^\W_])" if before else r"(?![^\W_])"


def _start(entry: str, *, alone: bool = False) -> str:
    """Return the expression for the start of a clause. Without a ".", something must follow unless `alone` is set."""
    if alone:
        return f"^{_words(entry)}"
    tail = rf"[{re.escape(_SIGNS)}]*$" if entry.endswith(".") else r"\s*[^\s]"
    return f"(?:^{_words(entry)}{tail})"


def _end(entry: str) -> str:
    """Return the expression for the end of a clause, with something before it."""
    return rf"(?:\S\s*{_words(entry)}[{re.escape(_SIGNS)}]*$)"


Kind = Literal["opened", "on", "off", "sent", "noted", "chosen", "timed"]
"""What must be true at the end of the task: an app is in front, a switch is on or off, a message was sent, a note was
saved, an item is in a cart, or an alarm or timer is set.
"""

_JOINS: Final = (
    r"(?:and|then|or|if|but|all|every|each|when|until|unless|for|to|not"
    r"|it|them|this|that|these|those|me|us|you|him|her|an?|again|back|over|up)\b"
)
_WORD: Final = rf"(?!{_JOINS})[^\s,.:;'\"]{{1,30}}"
_NAME: Final = rf"{_WORD}(?: {_WORD}){{0,3}}?"
"""The name of an app, switch or person: a few words without conjunctions or references to earlier words."""
_TITLE: Final = rf"(?=(?-i:[^\W_a-z])){_NAME}"
"""The name of an app in a text that does not call it an app: people also open discussions, and start over."""
_ZH_MORE: Final = "和与并再及或它这那我你什么怎吗呢啥谁哪为有没读看找查拍写发买卖删给让帮到去会能可是说"
"""Characters that join clauses, ask, or start another request: Chinese has no spaces between words."""
_ZH_NAME: Final = rf"(?:(?![{_ZH_MORE}]|然后|所有|全部)[^\s，。：“”]){{1,12}}?"
_IN_APP: Final = rf"(?:(?:open|go to|in|with|using) (?:the )?(?P<app>{_NAME})(?: app)?(?:,? and|,? then|,) )?"
_WITH_APP: Final = rf"(?: (?:in|with|using|via|of) (?:the )?(?P<app2>{_NAME})(?: app)?)?"
_ZH_APP: Final = rf"(?:(?:打开|在|用)(?P<app>{_ZH_NAME})(?:应用)?(?:(?:里|中|并|然后|，)+|(?=[给向发])))?"
_QUOTE: Final = r"['\"‘“「](?P<{}>[^'\"‘’“”「」]{{1,300}})['\"’”」]"
_TEXT, _SECOND = _QUOTE.format("text"), _QUOTE.format("second")


def _whole(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?:please )?(?:请)?{each}(?:,? please)?[.!。！]?", re.IGNORECASE) for each in forms)


_OPENED: Final = _whole(
    rf"(?:open|launch|start) (?:the )?(?P<app>{_NAME}) app",
    rf"(?:open|launch|start) (?:the )?(?P<app>{_TITLE})",
    rf"(?:打开|启动)(?P<app>{_ZH_NAME})(?:应用)?",
)
_THING: Final = rf"(?:the )?(?P<thing>{_NAME})(?: mode| switch)?"
_ON: Final = _whole(
    rf"{_IN_APP}(?:turn|switch) on {_THING}{_WITH_APP}",
    rf"{_IN_APP}(?:turn|switch) {_THING} on{_WITH_APP}",
    rf"{_IN_APP}(?:enable|activate) {_THING}{_WITH_APP}",
    rf"{_IN_APP}(?:switch|set) (?:the |my )?phone to {_THING}{_WITH_APP}",
    rf"{_ZH_APP}(?:打开|开启|启用)(?P<thing>{_ZH_NAME})(?:开关)?",
)
_OFF: Final = _whole(
    rf"{_IN_APP}(?:turn|switch) off {_THING}{_WITH_APP}",
    rf"{_IN_APP}(?:turn|switch) {_THING} off{_WITH_APP}",
    rf"{_IN_APP}(?:disable|deactivate) {_THING}{_WITH_APP}",
    rf"{_ZH_APP}(?:关闭|关掉|停用)(?P<thing>{_ZH_NAME})(?:开关)?",
)
_SENT: Final = _whole(
    rf"{_IN_APP}send (?:the (?:message|text) )?{_TEXT} to (?P<person>{_NAME}){_WITH_APP}",
    rf"{_IN_APP}send (?P<person>{_NAME}) the (?:message|text) {_TEXT}{_WITH_APP}",
    rf"{_IN_APP}send an? (?:message|text) to (?P<person>{_NAME}),? (?:saying|that says|with the text) {_TEXT}"
    rf"{_WITH_APP}",
    rf"{_ZH_APP}(?:给|向)(?P<person>{_ZH_NAME})发送?(?:消息|信息)?[：:]?{_TEXT}",
    rf"{_ZH_APP}发送?(?:消息|信息)给(?P<person>{_ZH_NAME})[：:]{_TEXT}",
    rf"{_ZH_APP}发送?(?:消息|信息)给(?P<person>{_ZH_NAME})[：:](?P<text>[^'\"‘’“”「」：:，。]{{1,100}})",
)
_NOTED: Final = _whole(
    rf"{_IN_APP}(?:make|create|write|add) a (?:new )?note (?:titled|called|named|with the title) {_TEXT}"
    rf",? (?:with the text|and the text|saying|that says) {_SECOND}(?:,? and save it)?{_WITH_APP}",
    rf"{_IN_APP}(?:make|create|write|add) a (?:new )?note (?:with the text|saying|that says) {_TEXT}"
    rf"(?:,? and save it)?{_WITH_APP}",
    rf"{_ZH_APP}(?:新建|创建|写)一?[条个篇]?(?:笔记|备忘录)，?标题[为是]?{_TEXT}，?(?:内容|正文)[为是]?{_SECOND}(?:，?并?保存)?",
)
_CHOSEN: Final = _whole(
    rf"{_IN_APP}(?:put|add) (?:(?:an?|the) )?(?P<thing>{_NAME}) (?:in|into|to) (?:the|my) (?:cart|basket){_WITH_APP}",
    rf"{_ZH_APP}(?:把|将)(?P<thing>{_ZH_NAME})(?:放进|放入|加入|添加到)(?:我的)?购物车",
)
_TIME: Final = r"\d{1,3}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?| o'clock| minutes?| hours?| seconds?)?"
_TIMED: Final = _whole(
    rf"{_IN_APP}set (?:an alarm|a timer) (?:for|to|at) {_TIME}(?: tomorrow)?{_WITH_APP}",
    rf"{_ZH_APP}(?:设置?|定)一?个?(?:(?:早上|上午|下午|晚上|明天)*\d{{1,2}}[点:：]\d{{0,2}}分?半?的?闹钟|\d{{1,3}}(?:分钟|小时|秒)的?(?:计时器|倒计时))",
)

_FORMS: Final[tuple[tuple[Kind, tuple[re.Pattern[str], ...]], ...]] = (
    ("opened", _OPENED),
    ("on", _ON),
    ("off", _OFF),
    ("sent", _SENT),
    ("noted", _NOTED),
    ("chosen", _CHOSEN),
    ("timed", _TIMED),
)


@dataclass(frozen=True)
class PlainTask:
    """One possible meaning of a plain task. `app` and `thing` (a switch or an item) are in the person's words, "" if
    not named. `person` and `text` are those of a message.
    """

    kind: Kind
    app: str = ""
    thing: str = ""
    person: str = ""
    text: str = ""
    second: str = ""
    """The text below `text`, such as the body of a note; "" if there is none."""


def plain_tasks(task: str) -> Iterator[PlainTask]:
    """Yield every possible meaning of the task. Yields nothing if any word of it is not understood."""
    whole = " ".join(task.split())
    for kind, forms in _FORMS:
        for form in forms:
            if found := form.fullmatch(whole):
                named = {name: said or "" for name, said in found.groupdict().items()}
                after = named.pop("app2", "")
                yield PlainTask(kind, **{**named, "app": named["app"] or after})
