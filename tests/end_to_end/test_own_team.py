"""The member and the skill of docs/team.md, word by word in a data directory where others cannot be used."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.end_to_end.brain import call
from tests.end_to_end.service import Place, place_with
from tests.fakes.model_server import Answer, ModelServer, Recorded
from tests.fixtures.adb import AdbServer

MEMBER, SKILL = re.findall(
    r"```markdown\n(.*?)```", (Path(__file__).parents[2] / "docs" / "team.md").read_text(encoding="utf-8"), re.DOTALL
)
PAY = "Pay with the company card, and with no other."
FOLDERS = {
    "agents/dietician/AGENTS.md": MEMBER,
    "skills/order-lunch/SKILL.md": SKILL,
    "skills/order-lunch/references/pay.md": PAY,
    "agents/ghost/AGENTS.md": "---\nname: ghost\ndescription: x\ntools: [x_ray]\n---\nLook through walls.",
    "agents/cook/AGENTS.md": f"---\nname: cook\ndescription: {'x' * 2000}\n---\nCook.",
    "skills/order-tea/SKILL.md": "---\nname: order-coffee\ndescription: x\n---\nOrder.",
}


def think(request: Recorded) -> Answer:
    """Whoever reads the request leaves it to general-purpose; a member makes one call and tells what came of it."""
    if "Decide how to handle" in request.text:
        return Answer(text=json.dumps({"kind": "member", "member": "general-purpose"}))
    results = [message["content"] for message in request.messages if message.get("role") == "tool"]
    if results:
        return Answer(text=f"It says: {results[-1]}")
    if "You work out what is in a meal" in request.text:
        return call("calculate", expression="120 * 2.5")(request)
    assert "Look at today's menu in the app Lunch" in request.text, "the skill is told in full"
    return call("read_skill", name="order-lunch", reference="pay.md")(request)


def written(place: Place) -> None:
    for path, text in FOLDERS.items():
        file = place.data / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    place.data.chmod(0o700)


@pytest.mark.timeout(120)
async def test_a_member_and_a_skill_of_ones_own(adb_server: AdbServer, tmp_path: Path) -> None:
    """Seen failing, with a traceback after the skill had begun, where `opengui skill` has no `detach`."""
    async with ModelServer(think) as model, place_with(adb_server, tmp_path) as place:
        place.settings |= {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-model"}
        await asyncio.to_thread(written, place)
        code, out, err = await place.opengui("skills")
        assert (code, err) == (0, "")
        assert "order-lunch: How lunch is ordered at our office." in out
        assert out.count("order-tea is not used") == 1
        async with place.service() as service:
            code, out, err = await place.opengui("do", "--member", "dietician", "What is in porridge?")
            assert (code, err) == (0, "")
            assert "the result is 300" in out
            code, out, err = await place.opengui("skill", "order-lunch")
            assert (code, err) == (0, "")
            assert PAY in out
        for name in ("ghost", "cook", "order-tea"):
            assert service.log.count(f"{name} is not used") == 1
