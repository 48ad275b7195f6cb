"""The fake is taken for Feishu by Feishu's own client: frames, threads, changed cards and buttons.

The client is in no environment of ours, see `bot/chats/feishu/connection.py`. For this test alone:
`python -m venv build/lark && build/lark/bin/pip install lark-oapi==1.7.5`, then LARK_PYTHON=build/lark/bin/python.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.fakes.feishu import APP, SECRET, FakeFeishu

IMPORT_SECONDS = 100.0
"""The client needs most of it on a machine that is busy."""
BOT = """
import json, sys, uuid
import lark_oapi as lark
from lark_oapi.api.im.v1 import *
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTriggerResponse

base, app, secret = sys.argv[1:]
client = lark.Client.builder().app_id(app).app_secret(secret).domain(base).build()


def card(text):
    label = {"tag": "plain_text", "content": "Go"}
    button = {"tag": "button", "type": "primary", "text": label, "value": {"data": "go"}}
    elements = [{"tag": "div", "text": {"tag": "plain_text", "content": text}}, {"tag": "action", "actions": [button]}]
    return json.dumps({"config": {"update_multi": True}, "elements": elements})


def heard(data):
    message = data.event.message
    body = ReplyMessageRequestBody.builder().msg_type("interactive").content(card("heard")).reply_in_thread(True)
    request = ReplyMessageRequest.builder().message_id(message.message_id)
    sent = client.im.v1.message.reply(request.request_body(body.uuid(str(uuid.uuid4())).build()).build())
    change = PatchMessageRequestBody.builder().content(card(json.loads(message.content)["text"])).build()
    request = PatchMessageRequest.builder().message_id(sent.data.message_id)
    client.im.v1.message.patch(request.request_body(change).build())


def pressed(data):
    return P2CardActionTriggerResponse({"toast": {"type": "info", "content": data.event.action.value["data"]}})


handler = lark.EventDispatcherHandler.builder("", "").register_p2_im_message_receive_v1(heard)
handler = handler.register_p2_card_action_trigger(pressed).build()
lark.ws.Client(app, secret, event_handler=handler, domain=base).start()
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_it_is_taken_for_feishu(tmp_path: Path) -> None:
    python = os.environ.get("LARK_PYTHON")
    if python is None:
        pytest.skip("LARK_PYTHON names no Python that has lark-oapi")
    program = tmp_path / "bot.py"
    program.write_text(BOT, encoding="utf-8")
    async with FakeFeishu() as fake:
        alice, group = fake.user("alice"), fake.group()
        bot = await asyncio.create_subprocess_exec(python, str(program), fake.base_url, APP, SECRET)
        try:
            await fake.wait_until(lambda: fake.gateway.sockets, timeout=IMPORT_SECONDS)
            fake.gateway.parts = 3
            asked = await fake.say(alice, group, "hello")
            await fake.wait_until(lambda: any(one.edits for one in fake.from_bot(group, asked.id)))
            (card,) = fake.from_bot(group, asked.id)
            assert (card.text, card.buttons) == ("@_user_1 hello", {"go": "Go"})
            event = await fake.press(alice, card, "go")
            await fake.wait_until(lambda: event in fake.gateway.answers)
            assert fake.gateway.answers[event] == {"toast": {"type": "info", "content": "go"}}
            assert fake.gateway.pings
            assert fake.gaps == []
        finally:
            bot.kill()
            await bot.wait()
