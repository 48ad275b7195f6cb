"""Skills in a task: who decides, plans and acts is told of them, and in full only of the one that the task names."""

from __future__ import annotations

from pathlib import Path

from agent.events import SkillChosen
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.member.members import Members
from agent.models.base import Models, Purpose
from agent.skills.library import APPS, Skill, Skills
from agent.tools.skills import skill_tools
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_main import AGAIN, FINISH, planned
from tests.agent.graph.test_recall import told
from tests.agent.graph.test_team import TEAM, Cast
from tests.agent.graph.test_team import World as TeamWorld
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import call, data, models, text

SKILLS = Skills({"tea": Skill("tea", "How tea is made.", Path("tea"), "Boil the water first.")})


async def test_names_are_told_to_all_and_how_it_is_done_to_those_who_follow_it(rig: Rig) -> None:
    for wish, in_full in (("buy tea", False), ("follow it", True)):
        have, model = planned([FINISH], [AGAIN, data(decision="complete")])
        actions = BUILT_IN.plus(*skill_tools(SKILLS))
        agent = rig.agent(have, main={"skills": SKILLS}, skills=SKILLS, actions=actions)
        wanted = order(wish, quick=False, task=wish[:3]).model_copy(update={"skill": "tea" if in_full else ""})
        await Work(agent, wanted).ended()
        for purpose in (Purpose.INTENT, Purpose.PLAN):
            assert "- tea: How tea is made." in told(model, purpose)
        assert "How tea is made." in str(model.asked(Purpose.ACT)[0].tools)
        for purpose in (Purpose.PLAN, Purpose.ACT):
            assert ("Boil the water first." in told(model, purpose)) is in_full
        assert "Boil" not in told(model, Purpose.INTENT)


async def test_who_reads_the_request_chooses_a_skill_and_what_it_is_done_with(rig: Rig) -> None:
    wish = order("I would like some tea with honey", quick=False)
    have, model = models([FINISH], intent=[data(kind="simple", skill="tea", arguments={"sugar": "honey"})])
    work = Work(rig.agent(have, main={"skills": SKILLS}, skills=SKILLS), wish)
    await work.ended()
    assert [each for each in work.events if isinstance(each, SkillChosen)] == [
        SkillChosen(skill="tea", arguments={"sugar": "honey"})
    ]
    assert "Boil the water first." in told(model, Purpose.ACT)
    assert "- sugar: honey" in told(model, Purpose.ACT)


async def test_a_skill_for_the_app_in_front_is_named_to_who_acts(rig: Rig) -> None:
    have, first = models([FINISH, FINISH])
    await Work(rig.agent(have), order("look", task="1")).ended()
    scene = first.asked(Purpose.ACT)[0].scene
    assert scene is not None
    here = Skills({"tea": Skill("tea", "About tea.", Path("tea"), "Boil.", metadata={APPS: f"a.b {scene.screen.app}"})})
    have, model = models([FINISH, FINISH])
    await Work(rig.agent(have, skills=here), order("look", task="2")).ended()
    assert "There is a skill for this app: tea." in told(model, Purpose.ACT)
    assert "Boil" not in told(model, Purpose.ACT)


async def test_a_member_follows_the_skill_that_the_task_names(rig: Rig) -> None:
    cast = Cast({}, {"tea": [text("Done.")]})
    members = Members(lambda: TEAM, TeamWorld().toolbox(), MemoryFrames(), rig.saver, skills=SKILLS)
    agent = rig.agent(Models(cast, cast, cast), main={"members": members, "skills": SKILLS})
    wanted = order("Follow it.", quick=False).model_copy(update={"member": "researcher", "skill": "tea"})
    await Work(agent, wanted).ended()
    assert "Boil the water first." in cast.asked(Purpose.MEMBER)[0].messages[1].text


async def test_a_run_reads_a_skill(rig: Rig) -> None:
    have, model = models([call("read_skill", name="tea"), FINISH, FINISH])
    agent = rig.agent(have, actions=BUILT_IN.plus(*skill_tools(SKILLS)))
    await Work(agent, order("make a drink")).ended()
    words = "\n".join(str(part) for message in model.asked(Purpose.ACT)[1].messages for part in message.parts)
    assert "skill: tea\n\nBoil the water first." in words
