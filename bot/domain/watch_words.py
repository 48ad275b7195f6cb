"""Reads a watch from a person's words: "… and tell me when the price is below 50", “……，价格低于50时告诉我”.

By code alone: the same words always give the same watch, and the person sees it before anything is watched. A sentence
in which no comparison is found is a question that is answered with yes or no, and told when that becomes yes.
"""

from __future__ import annotations

import re
from typing import Final

from agent.result_value import MOST_NAME, ResultSchema, ValueType, numbers_in
from bot.domain.watch import Compare, Condition, Watch

_ENGLISH: Final = re.compile(
    r"[\s,;.]*(?<!\w)(?:(?:and|then)\s+)*(?:please\s+)?(?:tell|notify|alert|inform|warn|let)\s+me\s+(?:know\s+)?"
    r"(?:when|if|once|whenever|as\s+soon\s+as)\s+(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE_AHEAD: Final = re.compile(
    r"[\s，,；;。]*(?:然后|并且|并)?(?:请)?(?:当|如果|若|要是|一旦)?(?P<rest>[^，,；;。]+?)(?:的时候|时候|时|后|就|，|,)*(?:请)?(?:告诉|通知|提醒)我[。！!]*\Z"
)
_CHINESE_BEHIND: Final = re.compile(
    r"[\s，,；;。]*(?:然后|并且|并)?(?:请)?在(?P<rest>[^，,；;。]+?)(?:的时候|时候|时|后)(?:请)?(?:告诉|通知|提醒)我[。！!]*\Z"
)

_LIMIT: Final = r"(?P<limit>\S.{0,40})"
_BE: Final = r"(?:(?:is|are|costs?|goes|go|gets?|falls?|drops?|sinks?|rises?|climbs?|becomes?|has|have|was)\s+)*"
_CHANGES: Final = re.compile(
    r"(?P<name>.+?)\s+(?:changes?|has\s+changed|have\s+changed|is\s+different|becomes\s+different)", re.IGNORECASE
)
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
_ZH_BELOW: Final = re.compile(rf"(?P<name>.+?)(?:低于|小于|少于|不足|跌破|降到|不到)\s*{_LIMIT}(?<!以下)(?:以下)?")
_ZH_ABOVE: Final = re.compile(rf"(?P<name>.+?)(?:高于|大于|多于|超过|涨到|突破)\s*{_LIMIT}(?<!以上)(?:以上)?")
_ZH_CONTAINS: Final = re.compile(r"(?P<name>.+?)(?:包含|包括|含有|出现)(?:了)?(?P<text>.+)")
_ZH_BECOMES: Final = re.compile(r"(?P<name>.+?)(?:变成|变为|等于|显示为|显示)(?P<text>.+)")

_NUMBERS: Final = re.compile(
    r"\b(?:price|cost|fare|fee|rate|number|count|amount|total|sum|balance|score|temperature|level|percentage|"
    r"percent|discount|distance|age|rank|size|weight|stock)s?\b|价|费|数|余额|总额|温度|分数|汇率|排名|百分",
    re.IGNORECASE,
)
_LISTS: Final = re.compile(r"\b(?:list|results|titles|names|headlines|messages|items|products)\b|列表|结果|清单", re.I)
_COMPARED: Final = re.compile(r"\b(?:below|under|above|over|than)\b|[<>]|[低高]于|[小大少多]于|超过", re.IGNORECASE)
"""What tells that a name is a comparison itself, and the sentence two: then it is asked as a question."""
_LIMIT_WORDS: Final = 3
"""Words of a limit at most: a number, which may have blanks in it, and its unit."""
_ARTICLE: Final = re.compile(r"^(?:the|its|their|a|an)\s+(?=\S)", re.IGNORECASE)
_QUOTES: Final = "\"'“”‘’「」『』"
_ENDS: Final = " \t\n.。!！,，;；"


def split_watch(text: str) -> tuple[str, Watch] | None:
    """What is to be done, and what of it is watched; None where nothing is said of when to tell."""
    found = None
    for found in _ENGLISH.finditer(text):  # the last one, should the task tell of telling, too
        if text[: found.start()].strip(_ENDS):
            break
    found = found or _CHINESE_BEHIND.search(text) or _CHINESE_AHEAD.search(text)
    if found is None:
        return None
    task, rest = text[: found.start()].strip(_ENDS), found["rest"].strip(_ENDS)
    return (task, watch_of(rest)) if task and rest else None


def watch_of(words: str) -> Watch:
    """The watch in words such as "the price is below 50" or “价格低于50”."""
    words = " ".join(words.split())
    for pattern, compare in ((_BELOW, Compare.BELOW), (_ZH_BELOW, Compare.BELOW),
                             (_ABOVE, Compare.ABOVE), (_ZH_ABOVE, Compare.ABOVE)):  # fmt: skip
        if (found := pattern.fullmatch(words)) and (made := _limited(found["name"], compare, found["limit"])):
            return made
    for pattern in (_CHANGES, _ZH_CHANGES):
        if found := pattern.fullmatch(words):
            kind: ValueType = "number" if _NUMBERS.search(words) else "list" if _LISTS.search(words) else "text"
            return _watch(found["name"], kind, Condition(compare=Compare.CHANGES))
    for pattern in (_CONTAINS, _ZH_CONTAINS):
        if found := pattern.fullmatch(words):
            kind = "list" if _LISTS.search(found["name"]) else "text"
            condition = Condition(compare=Compare.CONTAINS, text=found["text"].strip(_QUOTES + " "))
            return _watch(found["name"], kind, condition)
    for pattern in (_BECOMES, _ZH_BECOMES):
        if found := pattern.fullmatch(words):
            text = next(value for name, value in found.groupdict().items() if name != "name" and value)
            if _NUMBERS.search(found["name"]) and (made := _limited(found["name"], Compare.BECOMES, text)):
                return made
            condition = Condition(compare=Compare.BECOMES, text=text.strip(_QUOTES + " "))
            return _watch(found["name"], "text", condition)
    return _watch(words, "yes-no", Condition(compare=Compare.BECOMES, yes=True))


def _limited(name: str, compare: Compare, limit: str) -> Watch | None:
    """A watch of a number; None where the limit is not one number, or more than a number is said."""
    numbers = numbers_in(limit)
    if len(numbers) != 1 or len(limit.split()) > _LIMIT_WORDS or _COMPARED.search(name):
        return None
    (number,) = numbers
    return _watch(name, "number", Condition(compare=compare, limit=number.number), unit=number.unit)


def _watch(name: str, kind: ValueType, condition: Condition, unit: str = "") -> Watch:
    name = _ARTICLE.sub("", name.strip(_ENDS + _QUOTES))[:MOST_NAME].strip()
    return Watch(result=ResultSchema(name=name or kind, type=kind, unit=unit), condition=condition)
