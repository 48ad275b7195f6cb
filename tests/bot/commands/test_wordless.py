"""Files that came without a word: told what to do with them, in private and to people who may use the bot."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.outgoing import Reply
from tests.bot.world import ANNA, CHANNEL, EVE, PRIVATE, World


async def test_an_allowed_person_is_told_what_to_do(world: World) -> None:
    incoming = replace(world.incoming("", ANNA, PRIVATE), wordless="/do")
    reply = await world.commands.message(incoming)
    assert reply.message is not None
    assert "Send it again with /do … as its text, or reply to it with /do …" in reply.message.body
    assert reply.message.reply_to == incoming.message
    assert reply.message.buttons == ()


async def test_strangers_and_groups_get_silence(world: World) -> None:
    """Seen failing without `_let_in` in `Commands._handle_files_only`, and without the look at the place."""
    for person, place in ((EVE, PRIVATE), (ANNA, CHANNEL)):
        reply = await world.commands.message(replace(world.incoming("", person, place), wordless="/do"))
        assert reply == replace(Reply(), turn=reply.turn)
