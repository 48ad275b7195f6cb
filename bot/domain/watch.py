"""A watch: a schedule that reads one value, and reports it to its person only when it matters. It can be read from a
person's words, such as "… and tell me when the price is below 50".

Code judges the values, which have a fixed form; what a model says about them does not count. The rules:

- a condition such as "below 50" is reported when a reading meets it, even the first, and again only after two
  readings in a row have not met it;
- a change is reported at once; a return to the previous value is reported once it was read twice in a row;
- a missing value is reported once, when two readings in a row found none, and again only after a value was found.

It uses only code, so the same words always give the same watch. A sentence without a known comparison becomes a yes/no
question, whose change to "yes" is reported. If there is a model, it chooses the form of the watch instead, and code
builds the watch from that. The person sees the result before the watch starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from functools import reduce
from typing import Final, assert_never

from pydantic import BaseModel, ConfigDict

from agent.task_results import (
    MOST_NAME,
    ListValue,
    NumberValue,
    ResultSchema,
    TextValue,
    Value,
    ValueType,
    YesNoValue,
    folded,
    numbers_in,
    same,
)

AWAY: Final = 2
"""Readings in a row that must fail a condition before meeting it is reported again."""
MISSES: Final = 2
"""Readings in a row without a value before that is reported."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Compare(StrEnum):
    """How the value that was read is compared with the value in the condition."""

    CHANGES = "changes"
    BELOW = "below"
    ABOVE = "above"
    CONTAINS = "contains"
    BECOMES = "becomes"


class Condition(_Frozen):
    """When a watch (a schedule that reads one value) reports. Depending on the comparison, one of `limit`, `text` and
    `yes` is set; none of them for "changes".
    """

    compare: Compare
    limit: Decimal | None = None
    inclusive: bool = False
    """Whether the limit itself is below, or above: "50 or less"."""
    text: str = ""
    yes: bool | None = None


class Watch(_Frozen):
    """A watch, a schedule that reads one value: what it reads at each run (`result`), and when it reports
    (`condition`).
    """

    result: ResultSchema
    condition: Condition


class Finding(StrEnum):
    """The kinds of results when one reading is judged: nothing to report, the condition met, a change, or no value
    found.
    """

    SILENT = "silent"
    MET = "met"
    CHANGED = "changed"
    LOST = "lost"
    """No value was found, several times in a row."""


class Verdict(_Frozen):
    """The result of one reading.

    - `value`: The value that was read; None if none was found.
    - `before`: For a change, the value that the person knew before: the last reported one, or the first one read.
    """

    finding: Finding
    value: Value | None = None
    before: Value | None = None


class WatchState(_Frozen):
    """What is stored about the earlier readings of a watch (a schedule that reads one value)."""

    last: Value | None = None
    """The value that was read last."""
    read: float | None = None
    """When it was read, in Unix seconds."""
    told: Value | None = None
    """The value that the person knows: the first one read, then each that was reported as a change."""
    before: Value | None = None
    """The value that the person knew before that."""
    away: int = AWAY
    """How many readings in a row did not meet the condition."""
    met: bool = False
    """Whether the condition was reported as met and has not been unmet for `AWAY` readings in a row since."""
    misses: int = 0
    """How many readings in a row found no value."""


class TaskWatch(_Frozen):
    """The watch (a schedule that reads one value) for which a task makes one reading; `schedule` is the schedule's
    number.
    """

    schedule: str
    watch: Watch


def judge(watch: Watch, state: WatchState, value: Value | None, now: float) -> tuple[Verdict, WatchState]:
    """Decide whether a reading of a watch is reported. Returns the verdict and the watch's new state.

    `value` is None if none was found; `now` is in Unix seconds. The rules are those in the module's docstring.
    """
    if value is None:
        misses = state.misses + 1
        finding = Finding.LOST if misses == MISSES else Finding.SILENT
        return Verdict(finding=finding), state.model_copy(update={"misses": misses})
    state = state.model_copy(update={"misses": 0})
    after = state.model_copy(update={"last": value, "read": now})
    if watch.condition.compare is Compare.CHANGES:
        return _change(state, after, value)
    if is_met(watch.condition, value):
        finding = Finding.SILENT if state.met else Finding.MET
        return Verdict(finding=finding, value=value), after.model_copy(update={"met": True, "away": 0})
    away = min(AWAY, state.away + 1)
    kept = after.model_copy(update={"away": away, "met": state.met and away < AWAY})
    return Verdict(finding=Finding.SILENT, value=value), kept


def _change(state: WatchState, after: WatchState, value: Value) -> tuple[Verdict, WatchState]:
    silent = Verdict(finding=Finding.SILENT, value=value)
    if state.told is None:
        return silent, after.model_copy(update={"told": value})
    if same(value, state.told):
        return silent, after
    goes_back = state.before is not None and same(value, state.before)
    if goes_back and not (state.last is not None and same(value, state.last)):
        return silent, after
    told = after.model_copy(update={"told": value, "before": state.told})
    return Verdict(finding=Finding.CHANGED, value=value, before=state.told), told


def is_met(condition: Condition, value: Value) -> bool:
    """Return whether a value that was read meets a condition; always False for "changes" and for a value of the wrong
    type.
    """
    match condition.compare, value:
        case Compare.BELOW | Compare.ABOVE, NumberValue(number=number) if number == condition.limit:
            return condition.inclusive
        case Compare.BELOW, NumberValue(number=number) if condition.limit is not None:
            return number < condition.limit
        case Compare.ABOVE, NumberValue(number=number) if condition.limit is not None:
            return number > condition.limit
        case Compare.BECOMES, NumberValue(number=number):
            return number == condition.limit
        case Compare.BECOMES, TextValue(text=text):
            return folded(text) == folded(condition.text)
        case Compare.BECOMES, YesNoValue(yes=yes):
            return yes is condition.yes
        case Compare.CONTAINS, TextValue(text=text):
            return folded(condition.text) in folded(text)
        case Compare.CONTAINS, ListValue(items=items):
            return any(folded(condition.text) in folded(item) for item in items)
        case _:
            return False


def value_text(value: Value) -> str:
    """Return a value as text for people; booleans become "yes" and "no", which the caller may translate."""
    match value:
        case NumberValue(number=number, unit=unit):
            plain = f"{number:f}"
            return f"{plain} {unit}" if unit else plain
        case TextValue(text=text):
            return text
        case YesNoValue(yes=yes):
            return "yes" if yes else "no"
        case ListValue(items=items):
            return "\n".join(items)
        case _:
            assert_never(value)


_TELL_ME: Final = re.compile(
    r"(?<!\w)(?:tell|notify|alert|inform|warn|let|ping|message|text|write)\s{1,3}me\s{1,3}(?:know\s{1,3})?"
    r"(?:when|if|once|whenever|(?:every|each)\s{1,3}time|as\s{1,3}soon\s{1,3}as)\s{1,3}(?=\S)",
    re.IGNORECASE,
)
_JOINS: Final = re.compile(r"(?:(?:^|\W)(?:and|then|please)|[&+])$", re.IGNORECASE)
_ZH_TELL_ME: Final = ("告诉我", "通知我", "提醒我")
_ZH_SOFTLY: Final = ("一下", "一声", "吧", "哦", "哈")
_ZH_BEFORE: Final = ("然后", "并且", "并", "请", "当", "如果", "若", "要是", "一旦", "在")
_ZH_AFTER: Final = ("请", "就", "的时候", "时候", "时", "后")
_ZH_CLAUSE: Final = re.compile(r"[，,；;。\n]")
MOST_CONDITION: Final = 300
"""Maximum characters of the words for a condition."""

_LIMIT: Final = r"(?P<limit>\S.{0,40})"
_VERB: Final = r"(?:(?:is|are|costs?|goes|go|gets?|falls?|drops?|sinks?|rises?|climbs?|becomes?|has|have|was)\s+)"
_BE: Final = f"{_VERB}*"
_CHANGES: Final = re.compile(
    r"(?P<name>.+?)\s+(?:changes?|has\s+changed|have\s+changed|is\s+different|becomes\s+different)", re.IGNORECASE
)
_ITS: Final = re.compile(r"(?<!\w)(it|that)['’]s(?!\w)", re.IGNORECASE)
_NOT: Final = re.compile(r"(?:(?<!\w)(?:not|never|no\s+longer)|n['’]t|不|没|没有|未)$", re.IGNORECASE)
"""Matches a name that ends with a negation of what follows: the sentence then becomes a yes/no question."""
_AT_MOST: Final = re.compile(
    rf"(?P<name>.+?)\s+{_BE}(?:at\s+most|(?:no|not)\s+(?:more|higher|greater)\s+than|not\s+(?:above|over)|<=|≤|down\s+to|"
    rf"(?<=falls\s)to|(?<=drops\s)to|(?<=sinks\s)to)\s*{_LIMIT}",
    re.IGNORECASE,
)
_AT_LEAST: Final = re.compile(
    rf"(?P<name>.+?)\s+{_BE}(?:at\s+least|(?:no|not)\s+(?:less|lower|fewer)\s+than|not\s+(?:below|under)|>=|≥|up\s+to|"
    rf"(?<=rises\s)to|(?<=climbs\s)to)\s*{_LIMIT}",
    re.IGNORECASE,
)
_OR_LESS: Final = re.compile(r"\s(?:or|and)\s+(?:less|lower|below|under|fewer|cheaper)$", re.IGNORECASE)
_OR_MORE: Final = re.compile(r"\s(?:or|and)\s+(?:more|higher|above|over|up)$", re.IGNORECASE)
_OR: Final = re.compile(rf"(?P<name>.+?)\s+{_VERB}+(?:(?:down|up)\s+)?(?:to\s+)?{_LIMIT}", re.IGNORECASE)
_BELOW: Final = re.compile(
    rf"(?P<name>.+?)\s+{_BE}(?:below|under|beneath|<|(?:less|lower|cheaper|fewer|smaller)\s+than)\s*{_LIMIT}",
    re.IGNORECASE,
)
_ABOVE: Final = re.compile(
    rf"(?P<name>.+?)\s+{_BE}(?:above|over|beyond|>|(?:more|higher|greater|larger|bigger)\s+than)\s*{_LIMIT}",
    re.IGNORECASE,
)
_CONTAINS: Final = re.compile(r"(?P<name>.+?)\s+(?:contains?|includes?|mentions?)\s+(?P<text>\S.*)", re.IGNORECASE)
_BECOMES: Final = re.compile(
    r"(?P<name>.+?)\s+(?:(?:becomes?|equals?|reads?|says?|shows?|changes?\s+to|turns?\s+(?:to|into))\s+(?P<text>\S.*)"
    r"|(?:is|are)\s+(?P<said>[\"“”'‘].+))",
    re.IGNORECASE,
)
_ZH_CHANGES: Final = re.compile(r"(?P<name>.+?)(?:有|发生|出现)?(?:变化|改变|变动|变了)了?")
_ZH_AT_MOST: Final = re.compile(
    rf"(?P<name>.*?)(?:(?:不高于|不超过|不多于|不大于|至多|最多|≤|<=|降到|跌到|降至|跌至)\s*{_LIMIT}(?<!以下)(?:以下)?"
    r"|(?:到|在)\s*(?P<other>\S.{0,40}?)以下)"
)
_ZH_AT_LEAST: Final = re.compile(
    rf"(?P<name>.*?)(?:(?:不低于|不少于|不小于|至少|达到|≥|>=|涨到|升到|涨至|升至)\s*{_LIMIT}(?<!以上)(?:以上)?"
    r"|(?:到|在)\s*(?P<other>\S.{0,40}?)以上)"
)
_ZH_BELOW: Final = re.compile(rf"(?P<name>.*?)(?:低于|小于|少于|不足|跌破|不到)\s*{_LIMIT}(?<!以下)(?:以下)?")
_ZH_ABOVE: Final = re.compile(rf"(?P<name>.*?)(?:高于|大于|多于|超过|突破)\s*{_LIMIT}(?<!以上)(?:以上)?")
_ZH_CONTAINS: Final = re.compile(r"(?P<name>.+?)(?:包含|包括|含有|出现)(?:了)?(?P<text>.+)")
_ZH_BECOMES: Final = re.compile(r"(?P<name>.+?)(?:变成|变为|等于|显示为|显示)(?P<text>.+)")

_NUMBERS: Final = re.compile(
    r"\b(?:price|cost|fare|fee|rate|number|count|amount|total|sum|balance|score|temperature|level|percentage|"
    r"percent|discount|distance|age|rank|size|weight|stock)s?\b|价|费|数|余额|总额|温度|分数|汇率|排名|百分",
    re.IGNORECASE,
)
_LISTS: Final = re.compile(r"\b(?:list|results|titles|names|headlines|messages|items|products)\b|列表|结果|清单", re.I)
_COMPARED: Final = re.compile(r"\b(?:below|under|above|over|than)\b|[<>]|[低高]于|[小大少多]于|超过", re.IGNORECASE)
"""Matches a name that contains a comparison itself: the sentence then becomes a yes/no question."""
_LIMIT_WORDS: Final = 3
"""Most words of a limit: a number, which may contain blanks, and its unit."""
_ARTICLE: Final = re.compile(r"^(?:the|its|their|a|an)\s+(?=\S)", re.IGNORECASE)
QUOTES: Final = "\"'“”‘’「」『』"
_ENDS: Final = " \t\n.。!！,，;；"


def split_watch(text: str) -> tuple[str, str] | None:
    """Split a text into the task and the condition that says when to report; None if the text contains no such
    condition, nothing besides it, or one longer than `MOST_CONDITION` characters.
    """
    english = list(_TELL_ME.finditer(text))
    if english:  # the last one, should the task speak of telling, too
        task, rest = text[: english[-1].start()].strip(_ENDS), text[english[-1].end() :]
        while (joined := _JOINS.search(task[-10:])) is not None:
            task = task[: len(task) - len(joined[0])].rstrip(_ENDS)
    else:
        task, rest = _split_chinese(text)
    task, rest = task.strip(_ENDS), rest.strip(_ENDS)
    return (task, rest) if task and rest and len(rest) <= MOST_CONDITION else None


def _split_chinese(text: str) -> tuple[str, str]:
    """The task, and the last clause where it ends with “告诉我”; two empty texts where it does not."""
    text = _without(text, _ZH_SOFTLY, str.removesuffix)
    if not text.endswith(_ZH_TELL_ME):
        return "", ""
    text = _without(text[:-3].rstrip(_ENDS), _ZH_AFTER, str.removesuffix)
    places = [found.start() for found in _ZH_CLAUSE.finditer(text)]
    place = places[-1] if places else -1
    return text[: max(0, place)], _without(text[place + 1 :], _ZH_BEFORE, str.removeprefix)


def _without(text: str, words: tuple[str, ...], cut: Callable[[str, str], str]) -> str:
    """The text without these words at one of its ends."""
    while (shorter := reduce(lambda left, word: cut(left.strip(_ENDS), word), words, text)) != text:
        text = shorter
    return text


def watch_of(words: str) -> Watch:
    """Return the watch (what to read repeatedly, and when to report it) that words such as "the price is below 50" or
    “价格低于50” describe. It never fails: words that are not understood become a yes/no question.
    """
    words = _ITS.sub(r"\1 is", " ".join(words.split()))
    for ending, compare in ((_OR_LESS, Compare.BELOW), (_OR_MORE, Compare.ABOVE)):
        end = ending.search(words)
        up_to = None if end is None else _OR.fullmatch(words[: end.start()])
        if up_to and (made := _limited(up_to["name"], compare, up_to["limit"], inclusive=True)):
            return made
    for patterns, compare, inclusive in _LIMITS:
        for said in filter(None, (pattern.fullmatch(words) for pattern in patterns)):
            limit = said["limit"] or said.groupdict().get("other") or ""
            if made := _limited(said["name"], compare, limit, inclusive=inclusive):
                return made
    for pattern in (_CHANGES, _ZH_CHANGES):
        if found := pattern.fullmatch(words):
            kind: ValueType = "number" if _NUMBERS.search(words) else "list" if _LISTS.search(words) else "text"
            return _watch(found["name"], kind, Condition(compare=Compare.CHANGES))
    for pattern in (_CONTAINS, _ZH_CONTAINS):
        if found := pattern.fullmatch(words):
            kind = "list" if _LISTS.search(found["name"]) else "text"
            condition = Condition(compare=Compare.CONTAINS, text=found["text"].strip(QUOTES + " "))
            return _watch(found["name"], kind, condition)
    for pattern in (_BECOMES, _ZH_BECOMES):
        if found := pattern.fullmatch(words):
            text = next(value for name, value in found.groupdict().items() if name != "name" and value)
            if _NUMBERS.search(found["name"]) and (made := _limited(found["name"], Compare.BECOMES, text)):
                return made
            condition = Condition(compare=Compare.BECOMES, text=text.strip(QUOTES + " "))
            return _watch(found["name"], "text", condition)
    return _watch(words, "yes-no", Condition(compare=Compare.BECOMES, yes=True))


def _limited(name: str, compare: Compare, limit: str, *, inclusive: bool = False) -> Watch | None:
    """A watch of a number; None where the limit is not one number, more than a number is said, or it is denied."""
    numbers, name = numbers_in(limit), name.strip()
    if len(numbers) != 1 or len(limit.split()) > _LIMIT_WORDS or _COMPARED.search(name) or _NOT.search(name):
        return None
    (number,) = numbers
    name = name or "数值"  # only Chinese may leave it out
    condition = Condition(compare=compare, limit=number.number, inclusive=inclusive)
    return _watch(name, "number", condition, unit=number.unit)


_LIMITS: Final = (
    ((_AT_MOST, _ZH_AT_MOST), Compare.BELOW, True),
    ((_AT_LEAST, _ZH_AT_LEAST), Compare.ABOVE, True),
    ((_BELOW, _ZH_BELOW), Compare.BELOW, False),
    ((_ABOVE, _ZH_ABOVE), Compare.ABOVE, False),
)
"""The patterns of each comparison with a limit, and whether the limit itself meets it."""


def _watch(name: str, kind: ValueType, condition: Condition, unit: str = "") -> Watch:
    name = _ARTICLE.sub("", name.strip(_ENDS + QUOTES))[:MOST_NAME].strip()
    return Watch(result=ResultSchema(name=name or kind, type=kind, unit=unit), condition=condition)
