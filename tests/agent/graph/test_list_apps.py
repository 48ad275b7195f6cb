"""A model asks which apps the phone has, and reads the phone's own names for them."""

from __future__ import annotations

from agent.models.base import ModelRequest, Purpose
from tests.agent.graph.rig import Rig, Work, direct_rig, order
from tests.agent.graph.test_main import FINISH
from tests.fakes.scripted_model import call, models


def read(request: ModelRequest) -> list[str]:
    """The lines of the last request that were read for the model."""
    words = request.messages[-1].text
    return words.partition("<read>\n")[2].partition("\n</read>")[0].splitlines()


async def test_all_apps_by_the_names_on_the_launcher(rig: Rig) -> None:
    asked, model = models([call("list_apps"), FINISH])
    await Work(rig.agent(asked), order("which apps are there?")).ended()
    heading, *apps = read(model.asked(Purpose.ACT)[1])
    assert heading == f"The {len(apps)} apps on the phone:"
    assert "Settings (com.android.settings)" in apps
    assert apps == sorted(apps, key=str.casefold)
    assert rig.inputs() == [], "nothing was touched"


async def test_only_those_of_a_name_in_the_phones_language(virtual_time: None, real_world: None) -> None:  # noqa: ARG001
    async with direct_rig(locale="zh-CN") as rig:
        asked, model = models([call("list_apps", name="设"), call("list_apps", name="no such app"), FINISH])
        await Work(rig.agent(asked), order("打开设置")).ended()
    heading, *apps = read(model.asked(Purpose.ACT)[1])
    assert (heading[:5], apps) == ("1 of ", ["设置 (com.android.settings)"])
    assert "<read>\n0 of the " in model.asked(Purpose.ACT)[2].messages[-1].text
