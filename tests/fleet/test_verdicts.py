"""What the gate's reader said when a skill was recorded is known on whichever machine the skill is done again."""

from __future__ import annotations

from agent.events import Step
from agent.models.base import Purpose
from agent.ports.runner import RunOrder
from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import RecordedAction
from agent.run import RunId
from bot.domain.address import Person
from bot.store.skills import Draft
from tests.agent.test_runner_contract import Running
from tests.fakes.scripted_model import ScriptedModel, call, data, models, tap
from tests.fleet.rig import FleetRig

CART = tap("Cart, 0")
"""A button that no rule knows."""
FINISH = call("finish", status="failure", summary="stopped")
SKILL = RecordedSkill(
    task="open the cart",
    steps=(RecordedAction(action={"kind": "open_app", "name": "Shop"}),),
    end=RecordedAction(action={"kind": "finish", "status": "success"}),
)


async def pressed(fleet: FleetRig, host: str, run: str, skill: str = "") -> tuple[ScriptedModel, Running]:
    """The cart of the shop is pressed on a new host's phone."""
    have, model = models([CART, FINISH], guard=[data(consequence="none", object="")])
    machine = await fleet.add_host(host, have, guard="auto")
    machine.phone.windows.launch("shop")
    wish = RunOrder(run=RunId(run), task="open the cart", goal="the cart", skill=skill, phone=await fleet.there(host))
    work = Running(fleet.runner, wish)
    await work.ended()
    return model, work


async def test_a_host_is_told_with_the_order_and_asks_its_reader_nothing(fleet: FleetRig) -> None:
    """Seen failing (the third host's reader is asked, too) without the verdicts in `FleetRunner.start`."""
    model, work = await pressed(fleet, "shelf", "1")
    assert len(model.asked(Purpose.GUARD)) == 1
    verdicts = [each for step in work.events if isinstance(step, Step) for each in step.record.verdicts]
    assert [each.consequence for each in verdicts] == ["none"]
    draft = Draft("d", Person("web", "1", "Anna"), "see-cart", "1", SKILL, 0.0)
    await fleet.store.skills.saved(draft, verdicts, now=0.0)

    model, _ = await pressed(fleet, "desk", "2")
    assert len(model.asked(Purpose.GUARD)) == 1, "no host knows what another one has read"
    model, _ = await pressed(fleet, "window", "3", "see-cart")
    assert not model.asked(Purpose.GUARD)
