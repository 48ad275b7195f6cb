"""Which dialect and which picture size belong to a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.dialects.select import NAMES, dialect_for, image_size_for
from devices.geometry import Size

OLD_CLAUDE, NEW_CLAUDE, TARS = "claude-sonnet-4-6", "claude-sonnet-5", "ByteDance-Seed/UI-TARS-1.5-7B"


@pytest.mark.parametrize(
    ("setting", "model", "name"),
    [
        ("auto", "gpt-5.5", "tools"),
        ("", "claude-opus-4-7", "tools"),
        ("auto", "", "tools"),
        ("auto", "offline", "tools"),
        ("auto", "qwen2.5-vl-72b-instruct", "tools"),
        ("auto", "Qwen/Qwen3-VL-8B-Instruct", "mobile-use"),
        ("auto", "mPLUG/GUI-Owl-1.5-8B", "mobile-use"),
        ("auto", "Tongyi-MAI/MAI-UI-8B", "mai-ui"),
        ("auto", "stepfun-ai/GELab-Zero-4B-preview", "gelab"),
        ("auto", "Step-GUI-Edge", "gelab"),
        ("auto", "autoglm-phone-9b", "autoglm"),
        ("auto", "zai-org/AutoGLM-Phone-9B-Multilingual", "autoglm"),
        ("auto", "ui-tars-72b-dpo", "ui-tars"),
        ("auto", "doubao-1.5-ui-tars-250428", "ui-tars"),
        ("auto", TARS, "ui-tars-1.5"),
        ("ui-tars", TARS, "ui-tars-1.5"),
        ("ui-tars", "my-endpoint", "ui-tars"),
        ("ui-tars-1.5", "my-endpoint", "ui-tars-1.5"),
        (" AutoGLM ", "gpt-5.5", "autoglm"),
        ("tools", "autoglm-phone-9b", "tools"),
        ("mobile-use", "my-endpoint", "mobile-use"),
    ],
)
def test_dialect(setting: str, model: str, name: str) -> None:
    assert dialect_for(setting, model).name == name


def test_an_unknown_setting_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="VLM_DIALECT='klingon' is not known; use one of auto, tools"):
        dialect_for("klingon", "gpt-5.5")


def test_image_windows() -> None:
    windows = {name: dialect_for(name, "").image_window for name in NAMES}
    several = {"ui-tars": 5, "ui-tars-1.5": 5, "mai-ui": 3}
    assert windows == {name: several.get(name, 1) for name in NAMES}


@pytest.mark.parametrize(
    ("model", "screen", "kept"),
    [
        (OLD_CLAUDE, (1080, 2400), (706, 1568)),
        ("anthropic/claude-3.7-sonnet", (1080, 2400), (706, 1568)),
        ("claude-haiku-4-5-20251001", (2400, 1080), (1568, 706)),
        ("claude-opus-4-20250514", (1440, 3120), (724, 1568)),
        (OLD_CLAUDE, (922, 2048), (706, 1568)),
        (OLD_CLAUDE, (1200, 1600), (939, 1252)),
        (OLD_CLAUDE, (720, 1280), (720, 1280)),
        (NEW_CLAUDE, (1080, 2400), (922, 2048)),
        ("claude-opus-4-7", (1080, 2400), (922, 2048)),
        ("gemini-3.5-flash-low", (2400, 1080), (2048, 922)),
        ("gpt-5.5", (1440, 3120), (945, 2048)),
        ("gpt-5.5", (3120, 1440), (2048, 945)),
        ("gpt-5.5", (720, 1600), (720, 1600)),
        (TARS, (1080, 2400), (924, 2044)),
        (TARS, (2400, 1080), (2044, 924)),
        (TARS, (720, 1280), (700, 1260)),
    ],
)
def test_image_size(model: str, screen: tuple[int, int], kept: tuple[int, int]) -> None:
    assert image_size_for(model, Size(*screen)) == Size(*kept)


@given(
    model=st.sampled_from([OLD_CLAUDE, NEW_CLAUDE, TARS]),
    screen=st.builds(Size, st.integers(200, 5000), st.integers(200, 5000)),
)
def test_never_enlarged_and_never_above_the_budget(model: str, screen: Size) -> None:
    kept = image_size_for(model, screen)
    assert 0 < kept.width <= screen.width
    assert 0 < kept.height <= screen.height
    assert max(kept.width, kept.height) <= 2048
    if model == OLD_CLAUDE:
        assert kept.width * kept.height <= 1568 * 750
    if model == TARS:
        assert kept.width % 28 == kept.height % 28 == 0
