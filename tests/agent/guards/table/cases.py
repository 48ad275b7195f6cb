"""The cases of the table, and how the rules fare with them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from agent.guards.policy import Policy
from tests.agent.guards.screens import presses, touch

HELD_MISSED, ASIDE_MISSED, NEEDLESS = 0.02, 0.05, 0.02
"""The most that may pass of what has a consequence, of the same where the rules were written without a look at it, and
that may be asked of what is ordinary."""
_HERE: Final = Path(__file__).parent
_SLOT: Final = re.compile(r"\{(\w+)(?:\.(\d+))?\}")
_LOOKALIKES: Final = str.maketrans("aceiopxyACEIOPXYBHKMTnrs", "асеіорхуАСЕІОРХУВНКМТոꭇѕ")
_RARE: Final = str.maketrans("abdlosvwABDEHLMPTUW", "ɑᖯᑯⵏ𐐬ꮪ𑣀ѡᗅᗷᗪꓰᕼᏞᗰᑭꓔꓴᎳ")
_BETWEEN: Final = re.compile(r"(?<=[A-Za-z])[lo](?=[A-Za-z])")
_DIGITS: Final = {"l": "1", "o": "0"}


@dataclass(frozen=True)
class Case:
    """One press: the form of its window, the language of its words, and what must happen."""

    form: str
    language: str
    kind: str
    press: str
    held: bool
    aside: bool
    window: dict[str, Any]

    @property
    def name(self) -> str:
        """For a person to find it by."""
        return f"{self.form} / {self.language} / {self.press}"

    def passes(self, policy: Policy) -> bool:
        """Whether it is done without a question."""
        action, spot = touch(self.window, self.press)
        return policy.gate(action, spot).verdict == "allow"


@cache
def cases() -> tuple[Case, ...]:
    """The whole table."""
    labels = tomllib.loads((_HERE / "labels.toml").read_text(encoding="utf-8"))
    forms = tomllib.loads((_HERE / "forms.toml").read_text(encoding="utf-8"))
    return tuple(case for kind in ("held", "free") for form in forms[kind] for case in _cases(kind, form, labels))


def _cases(kind: str, form: dict[str, Any], labels: dict[str, Any]) -> Iterator[Case]:
    everywhere = _SLOT.search(repr(form)) is None
    for language, words in labels.items():
        if everywhere and language != "en":
            continue
        window = _filled(form, words)
        aside = bool(form.get("aside") or words.get("aside"))
        for press in presses(window):
            shown, pressed = _disguised(window, press)
            consequence = form.get("class", "ordinary")
            yield Case(
                form["form"], "any" if everywhere else language, consequence, pressed, kind == "held", aside, shown
            )


def _filled(part: Any, words: dict[str, Any]) -> Any:
    if isinstance(part, str):
        return _SLOT.sub(lambda slot: str(words[slot[1]][int(slot[2])] if slot[2] else words[slot[1]]), part)
    if isinstance(part, list):
        return [_filled(each, words) for each in part]
    if isinstance(part, dict):
        return {_filled(key, words): _filled(value, words) for key, value in part.items()}
    return part


def _disguised(window: dict[str, Any], press: str) -> tuple[dict[str, Any], str]:
    match window.get("disguise"):
        case "blanks":
            other = press[:1] + "\u200b\u2060" + press[1:]
        case "bidi":
            other = f"\u2067{press[:2]}\u2069\u200f{press[2:]}"
        case "reversed":
            other = f"\u202e{press[::-1]}\u202c"
        case "lookalike":
            other = press.translate(_LOOKALIKES)
        case "rare":
            other = press.translate(_RARE)
        case "digits":
            other = _BETWEEN.sub(lambda sign: _DIGITS.get(sign[0], sign[0]), press)
        case "pairs":
            other = press.replace("m", "rn").replace("w", "vv")
        case _:
            return window, press
    return {**window, "buttons": [other if each == press else each for each in window["buttons"]]}, other
