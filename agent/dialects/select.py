"""Chooses the dialect for a model and the size of its pictures, by the model's name. There is one table for each."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agent.dialects import mobile_use
from agent.dialects.autoglm import AutoGlmDialect
from agent.dialects.base import Dialect
from agent.dialects.gelab import GelabDialect
from agent.dialects.tools import ToolsDialect
from agent.dialects.ui_tars import UiTarsDialect
from devices.geometry import Size

AUTO = "auto"

_DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        ToolsDialect(),
        ToolsDialect(family=mobile_use.QWEN),
        ToolsDialect(family=mobile_use.MAI_UI),
        UiTarsDialect(pixels=False),
        UiTarsDialect(pixels=True),
        AutoGlmDialect(),
        GelabDialect(),
    )
}
NAMES: tuple[str, ...] = (AUTO, *_DIALECTS)
"""The allowed values of VLM_DIALECT."""

_BY_MODEL: tuple[tuple[str, str], ...] = (
    (r"autoglm", "autoglm"),
    (r"doubao.*ui-?tars", "ui-tars"),  # the hosted 1.5 is served with normalised places
    (r"ui-?tars.*1-5", "ui-tars-1.5"),
    (r"ui-?tars", "ui-tars"),
    (r"mai-ui", "mai-ui"),
    (r"gelab|step-gui", "gelab"),
    (r"gui-?owl|mobile-agent", "mobile-use"),
    (r"qwen-?3", "mobile-use"),  # earlier Qwen-VL write pixels, which is what the tools ask for
)


@dataclass(frozen=True, slots=True)
class ImageBudget:
    """The largest picture that a model does not scale down.

    `longest` is the longer side in pixels, `pixels` the area. Both sides are multiples of `step`, for models that write
    pixel positions and round pictures to their patch size.
    """

    longest: int
    pixels: int | None = None
    step: int = 1


_DEFAULT_BUDGET = ImageBudget(longest=2048)
"""922×2048 for a 1080×2400 screen: current large models keep it unscaled, and phone text stays readable."""

_BUDGETS: tuple[tuple[str, ImageBudget], ...] = (
    # 1568 pixels a side and about 1568 tokens of 750 pixels each: 706×1568 for a 1080×2400 screen.
    (r"claude-(?:3|[a-z]+-3|[a-z]+-4(?!-[789](?:\D|$)))", ImageBudget(longest=1568, pixels=1568 * 750)),
    (r"ui-?tars.*1-5", ImageBudget(longest=2048, step=28)),
)


def dialect_for(setting: str, model: str) -> Dialect:
    """Return the dialect for the setting VLM_DIALECT and a model's name. If only a family is set, the model's name
    decides the variant.

    Raises ValueError if the setting is not in NAMES.
    """
    wish = setting.strip().lower() or AUTO
    if wish not in NAMES:
        raise ValueError(f"VLM_DIALECT={setting!r} is not known; use one of {', '.join(NAMES)}.")
    plain = _plain(model)
    by_model = next((name for pattern, name in _BY_MODEL if re.search(pattern, plain)), "tools")
    if wish == AUTO or by_model.startswith(f"{wish}-"):
        return _DIALECTS[by_model]
    return _DIALECTS[wish]


def image_size_for(model: str, screen: Size) -> Size:
    """Return the size in which pictures of this screen are sent to a model, so that it does not scale them down. It is
    never larger than the screen.
    """
    plain = _plain(model)
    budget = next((budget for pattern, budget in _BUDGETS if re.search(pattern, plain)), _DEFAULT_BUDGET)
    scale = min(1.0, budget.longest / max(screen.width, screen.height))
    size = _scaled(screen, scale, budget.step)
    if budget.pixels is not None and size.width * size.height > budget.pixels:
        scale = math.sqrt(budget.pixels / (screen.width * screen.height))
        size = Size(max(1, math.floor(screen.width * scale)), max(1, math.floor(screen.height * scale)))
    return size


def _scaled(screen: Size, scale: float, step: int) -> Size:
    """Return the scaled screen size, each side rounded to a multiple of `step` not above the screen's."""

    def side(length: int) -> int:
        nearest = round(length * scale / step) * step
        return max(1, nearest if nearest <= length else length // step * step)

    return Size(side(screen.width), side(screen.height))


def _plain(model: str) -> str:
    return re.sub(r"[._ ]", "-", model.strip().lower())
