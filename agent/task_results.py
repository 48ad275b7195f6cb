"""Task results that code can compare: values of a given type, read from a text without a model, and results in the form
of a JSON Schema.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agent.wording import shortened

MOST_NAME: Final = 200
MOST_TEXT: Final = 500
"""The maximum length of a text value, in characters."""
MOST_ITEMS: Final = 200

ValueType = Literal["number", "text", "yes-no", "list"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ResultSchema(_Frozen):
    """The required type and name of a task's result. `unit` is in the spelling of `unit_of`; "" accepts any unit."""

    name: str = Field(min_length=1, max_length=MOST_NAME)
    type: ValueType
    unit: str = ""


class NumberValue(_Frozen):
    """A number with its unit ("" for none)."""

    type: Literal["number"] = "number"
    number: Decimal
    unit: str = ""


class TextValue(_Frozen):
    """A line of text."""

    type: Literal["text"] = "text"
    text: str


class YesNoValue(_Frozen):
    """The answer to a yes-no question."""

    type: Literal["yes-no"] = "yes-no"
    yes: bool


class ListValue(_Frozen):
    """Several lines whose order has no meaning."""

    type: Literal["list"] = "list"
    items: tuple[str, ...]


Value = Annotated[NumberValue | TextValue | YesNoValue | ListValue, Field(discriminator="type")]


class Unreadable(Exception):
    """The text does not contain exactly one value of the type; the message tells a model why."""


def read_value(text: str, schema: ResultSchema) -> Value:
    """Return the only value in the text. Raises Unreadable if there is none or more than one."""
    match schema.type:
        case "number":
            return _number(text, schema.unit)
        case "yes-no":
            return YesNoValue(yes=_yes(text))
        case "text":
            line = " ".join(text.split())
            if not line or len(line) > MOST_TEXT:
                raise Unreadable(f"A text of 1 to {MOST_TEXT} characters is needed.")
            return TextValue(text=line)
        case "list":
            items = tuple(item for line in text.splitlines() if (item := " ".join(line.split())))
            if not items or len(items) > MOST_ITEMS or any(len(item) > MOST_TEXT for item in items):
                raise Unreadable(f"1 to {MOST_ITEMS} lines of at most {MOST_TEXT} characters are needed.")
            return ListValue(items=items)


def same(one: Value, other: Value) -> bool:
    """Whether two values are equal, ignoring the spelling of numbers, case, spaces and the order of a list."""
    match one, other:
        case NumberValue(), NumberValue():
            return one.number == other.number and not _differ(one.unit, other.unit)
        case TextValue(), TextValue():
            return folded(one.text) == folded(other.text)
        case ListValue(), ListValue():
            return sorted(map(folded, one.items)) == sorted(map(folded, other.items))
        case _:
            return one == other


def folded(text: str) -> str:
    """Return a text in the form in which texts are compared: without differences of case, spaces and
    character width.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


_CURRENCIES: Final = {
    "$": "us$ usd dollar dollars 美元 美金",
    "€": "eur euro euros 欧元 歐元",
    "£": "gbp pound pounds 英镑 英鎊",
    "¥": "cny rmb yuan 元 块 塊 人民币 人民幣",
    "JPY": "jpy yen 円 日元 日圆",
    "₹": "inr rs rs. rupee rupees",
    "₩": "krw won 원",
    "CHF": "chf fr. sfr",
    "zł": "pln zł",
    "Kč": "czk kč",
    "kr": "sek nok dkk kr kr.",
    "₽": "rub руб руб.",
    "R$": "brl r$",
    "A$": "aud a$ au$",
    "C$": "cad c$ ca$",
    "HK$": "hkd hk$ 港元 港币 港幣",
}
"""The canonical sign of each currency, and how people write it. Any other currency sign (Unicode category Sc) and any
other word is its own unit.
"""
_CANONICAL: Final = {word: unit for unit, words in _CURRENCIES.items() for word in (unit.casefold(), *words.split())}
_YEN_OR_YUAN: Final = frozenset({"¥", "JPY"})
_SIGNS: Final = sorted((word for word in _CANONICAL if not word.isascii() or "$" in word), key=len, reverse=True)
_SIGN: Final = "|".join(map(re.escape, _SIGNS))
_SPACES: Final = " \u00a0\u202f\u2009"
_NUMBER: Final = re.compile(
    rf"(?P<ahead>{_SIGN}|[A-Za-z]{{2,3}}\$?|[^\W\d_]{{1,3}}\.|[^\w\s.,;:!?()\[\]'’\"+−-])?[ \u00a0]?"
    r"(?<![\w.,])(?P<sign>[-−+])?(?P<currency>[^\w\s.,;:!?()\[\]'’\"+−-])?"
    rf"(?P<digits>\d+(?:(?:[.,'’٫٬]|[{_SPACES}](?=\d{{3}}(?!\d)))\d+)*)"
    r"(?P<times>[kK](?![\w])|万|萬|亿|億)?[ \u00a0]?"
    rf"(?P<behind>%|°?[A-Za-z]{{1,12}}(?![\w])|°|{_SIGN}|[^\w\s.,;:!?()\[\]'’\"+−-])?",
    re.IGNORECASE,
)
_TIMES: Final = {"k": 10**3, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_YES: Final = frozenset({"yes", "true", "y", "on", "是", "对", "有", "是的"})
_NO: Final = frozenset({"no", "false", "n", "off", "否", "不", "没有", "不是"})


def unit_of(text: str) -> str:
    """Return the canonical spelling of a unit, such as "€" for "EUR" and "euros"; "" for none."""
    word = text.strip()
    return _CANONICAL.get(word.casefold(), word)


def numbers_in(text: str) -> tuple[NumberValue, ...]:
    """Return every number in a text with its unit, in order. Dates and versions with dots (20.01.2020), and digits that
    can be read as two numbers (2.500), are left out. Other dates are read as several numbers.

    A single comma before three digits is a thousands separator (1,234); a single dot is one only for money (1.234 €).
    """
    plain = _plain(text)
    found = []
    for each in _NUMBER.finditer(plain):
        behind, ahead = unit_of(each["behind"] or ""), unit_of(each["currency"] or each["ahead"] or "")
        ahead = ahead if _is_currency(ahead) else ""
        unit = behind if _is_currency(behind) or not ahead else ahead
        unit = unit if _is_currency(unit) or unit[:1].isalpha() or unit[:1] in "%°" else ""
        number = _amount(each["digits"], money=_is_currency(unit))
        if number is None:
            continue
        number *= _TIMES.get((each["times"] or "").casefold(), 1)
        found.append(NumberValue(number=-number if each["sign"] in {"-", "−"} else number, unit=unit))
    return tuple(found)


def _plain(text: str) -> str:
    """Return the text with all digits as ASCII and without invisible characters."""
    signs = unicodedata.normalize("NFKC", text.replace("\u00a0", " ").replace("\u202f", " "))
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in signs if unicodedata.category(sign) != "Cf")


def _is_currency(unit: str) -> bool:
    return unit in _CURRENCIES or (len(unit) == 1 and unicodedata.category(unit) == "Sc")


def _amount(digits: str, *, money: bool) -> Decimal | None:
    """Return the number; None if it is ambiguous or not a number, such as a date or version."""
    parts = re.split(r"[^\d]", digits)
    signs = [" " if sign in _SPACES else "'" if sign in "'’" else sign for sign in re.findall(r"[^\d]", digits)]
    if not signs:
        return Decimal(digits)
    last = signs[-1]
    groups, decimals = parts, ""
    if last in ".,٫" and signs.count(last) == 1 and (len(set(signs)) == 2 or len(signs) == 1):
        head, tail = parts[0], parts[-1]
        single = len(signs) == 1 and len(tail) == 3 and 1 <= len(head) <= 3 and head != "0"
        if not single:
            groups, decimals = parts[:-1], tail
            signs = signs[:-1]
        elif last == "." and not money:
            return None
    if len(set(signs)) > 1 or "٫" in signs or not _grouped(groups):
        return None
    return Decimal("".join(groups) + (f".{decimals}" if decimals else ""))


def _grouped(groups: list[str]) -> bool:
    """Whether these are groups of thousands, or Indian groups (12,34,567)."""
    if len(groups) == 1:
        return True
    head, *middle, tail = groups
    sizes = {len(each) for each in middle}
    return len(tail) == 3 and 1 <= len(head) <= 3 and (sizes <= {3} or sizes == {2})


def _number(text: str, unit: str) -> NumberValue:
    found = list(dict.fromkeys(numbers_in(text)))
    if unit:
        fits = [each for each in found if each.unit and not _differ(each.unit, unit)]
        # Any word may follow a number, but a currency sign is a unit.
        bare = [each for each in found if not _is_currency(each.unit)] if _is_currency(unit) else []
        bare = bare or [each for each in found if not each.unit]
        found = fits or bare
        found = list(dict.fromkeys(each.model_copy(update={"unit": unit}) for each in found))
    if len(found) != 1:
        told = f" in {unit}" if unit else ""
        problem = "none" if not found else f"{len(found)} numbers"
        raise Unreadable(f"One number{told} is needed and there is {problem}; write it as in 1234.5, and no other.")
    return found[0]


def _differ(one: str, other: str) -> bool:
    """Whether two units contradict each other; a missing unit contradicts none."""
    return bool(one and other) and one.casefold() != other.casefold() and {one, other} != _YEN_OR_YUAN


def _yes(text: str) -> bool:
    word = re.split(r"[\s,.;:!，。；：！]", text.strip(), maxsplit=1)[0].casefold()
    if word in _YES or word in _NO:
        return word in _YES
    raise Unreadable('"yes" or "no" is needed.')


MOST_LETTERS: Final = 20_000
"""The maximum length in characters of a schema, and of a document that fits it, as JSON."""
MOST_PROBLEMS: Final = 3
_LONGEST_PROBLEM: Final = 200
_REFUSED: Final = frozenset({"pattern", "patternProperties", "$dynamicRef"})
"""Keywords that are not accepted: a foreign regular expression may run forever."""
_NAMES: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps arbitrary names to schemas."""
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose value is not a schema."""


class _Document(_Frozen):
    type: Literal["json"] = "json"
    document: Any

    @property
    def text(self) -> str:
        """The document as JSON."""
        return json.dumps(self.document, ensure_ascii=False)


class JsonSchema(_Document):
    """A JSON Schema (draft 2020-12) for the whole result of a task. An unusable schema raises ValueError."""

    document: dict[str, Any]

    @model_validator(mode="after")
    def _usable(self) -> Self:
        try:
            if len(self.text) > MOST_LETTERS:
                raise ValueError(f"the schema has more than {MOST_LETTERS} characters")
            for keyword, value in _keywords(self.document):
                if keyword in _REFUSED:
                    raise ValueError(f"the keyword {keyword} is not taken")
                if keyword == "$ref" and not str(value).startswith("#"):
                    raise ValueError("a $ref may only lead to another place of the same schema")
            if problem := _problem_of(self.document):
                raise ValueError(problem)
        except RecursionError:
            raise ValueError("the schema is nested too deeply") from None
        return self


class JsonValue(_Document):
    """The result of a task as a document that fits the requested schema."""


def read_document(text: str, schema: JsonSchema) -> JsonValue:
    """Parse a text as a JSON document that fits this schema. Raises Unreadable if it is not JSON or does not fit."""
    try:
        if len(text) > MOST_LETTERS:
            raise Unreadable(f"At most {MOST_LETTERS} characters are taken.")
        document = json.loads(text, parse_constant=_no_number)
        problems = [
            f"{error.json_path}: {shortened(error.message, _LONGEST_PROBLEM)}"
            for error in islice(_checking(schema.document).iter_errors(document), MOST_PROBLEMS)
        ]
    except ValueError as error:
        raise Unreadable(f"That is no JSON: {error}.") from None
    except RecursionError:
        raise Unreadable("That is nested too deeply.") from None
    if problems:
        raise Unreadable(f"That does not fit the schema: {'; '.join(problems)}.")
    return JsonValue(document=document)


def _problem_of(schema: Mapping[str, Any]) -> str:
    """Return what is wrong with a schema; "" if nothing is."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - see _checking

    try:
        type(_checking({})).check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {shortened(error.message, _LONGEST_PROBLEM)}"
    return ""


def _checking(document: Mapping[str, Any]) -> Any:  # noqa: ANN401 - no types come with the library
    """Return a validator for this schema; it fetches nothing."""
    # Imported here because few tasks have a schema and the library takes a tenth of a second to load.
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from referencing import Registry  # noqa: PLC0415

    return Draft202012Validator(document, registry=Registry())


def _keywords(schema: object) -> Iterator[tuple[str, object]]:
    """Yield every keyword of a schema and of the schemas inside it."""
    if isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)
    elif isinstance(schema, Mapping):
        for keyword, value in schema.items():
            yield keyword, value
            if keyword in _NAMES and isinstance(value, Mapping):
                for each in value.values():
                    yield from _keywords(each)
            elif keyword not in _DATA:
                yield from _keywords(value)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")
