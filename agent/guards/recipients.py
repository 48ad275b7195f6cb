"""Determines the recipient and the whole text of a message, if the screen shows a conversation.

A recipient is only taken from the name that the app put at the top of a conversation. Headings such as *Comments* or
*New message*, words in a scrolling list and other apps' notifications do not count. In any doubt the recipient is
unknown, and a person is asked as usual.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

from agent.actions import Action, PressKey, Tap, Type
from agent.guards.binding import is_presence
from agent.guards.facts import STATUS_BAR_SHARE, TOP_SHARE, facts_of
from agent.guards.gate import Gate
from agent.guards.lexicon import Lexicon, lexicon_of
from agent.guards.rules import RuleName, shipped
from agent.guards.structure import message_field
from agent.guards.touch_target import TouchTarget, beside, is_button, pressed
from agent.guards.words import id_words, in_one_line
from agent.questions import MAX_NAME, Recipient
from agent.wording import one_line
from devices.geometry import Point
from devices.inputs import Key
from devices.phone import Element, Observation

_HEADINGS: Final = frozenset(
    re.split(
        r"\s*\|\s*",
        "new message|new chat|new conversation|new group|new post|message|messages|chat|chats|conversation"
        "|conversations|compose|comment|comments|reply|replies|inbox|post|posts|story|stories|status|share|send to"
        "|direct messages|direct|feedback|support|thread|threads|search"
        "|新消息|新信息|新建消息|新建信息|消息|信息|短信|聊天|会话|评论|回复|发送给|发给|分享|动态|写邮件|收件箱"
        "|neue nachricht|nachricht|nachrichten|kommentare|antworten|neuer chat|teilen|beiträge"
        "|nouveau message|commentaires|réponses|répondre|partager|discussions|nouvelle discussion"
        "|nuevo mensaje|mensaje|mensajes|comentarios|respuestas|compartir|nuevo chat"
        "|nova mensagem|mensagem|mensagens|comentários|respostas|compartilhar|conversas"
        "|nuovo messaggio|messaggio|messaggi|commenti|risposte|condividi"
        "|nieuw bericht|bericht|berichten|reacties|opmerkingen|delen"
        "|nowa wiadomość|wiadomości|komentarze|odpowiedzi|udostępnij"
        "|новое сообщение|сообщения|сообщение|комментарии|ответы|чаты|чат|поделиться"
        "|нове повідомлення|повідомлення|коментарі|відповіді"
        "|yeni mesaj|mesajlar|yorumlar|yanıtlar|sohbetler|paylaş"
        "|新しいメッセージ|新規メッセージ|メッセージ|コメント|返信|チャット|トーク|共有"
        "|새 메시지|메시지|댓글|답글|채팅|공유"
        "|رسالة جديدة|الرسائل|التعليقات|الردود|الدردشات"
        "|नया संदेश|संदेश|टिप्पणियां|टिप्पणियाँ|जवाब"
        "|tin nhắn mới|tin nhắn|bình luận|trả lời"
        "|pesan baru|pesan|komentar|balasan|nytt meddelande|kommentarer|ny besked|ny melding|uusi viesti|kommentit"
        "|nová zpráva|zprávy|komentáře|odpovědi|νέο μήνυμα|μηνύματα|σχόλια|ข้อความใหม่|ข้อความ|ความคิดเห็น",
    )
)
"""Headings of pages with a text field that are not names."""
_ATTACHED: Final = frozenset({"attachment", "attachments", "attached", "thumbnail", "preview"})
"""Parts of ids of things that are sent along with a text."""
_REMOVING: Final = frozenset({"remove", "close", "delete", "clear", "cancel"})
_WEB: Final = "WebView"


@dataclass(frozen=True, slots=True)
class Message:
    """What a press sends: the recipient, and the whole text or None if it is not certain."""

    to: Recipient
    text: str | None


def message_of(
    action: Action, observation: Observation, target: Element | None, point: Point | None, gate: Gate
) -> Message | None:
    """Return the message that this press sends. None if the gate does not ask for approval of sending, or if it is not
    certain which field is sent or to whom.

    `observation` is the screen, and `target` and `point` are what is pressed on it.
    """
    if gate.consequence != RuleName.SEND or gate.verdict != "approve" or not observation.package:
        return None
    field = _only_field(action, observation, target, point)
    name = "" if field is None else _head(observation, field)
    if field is None or not name:
        return None
    return Message(
        Recipient(name=name, app=observation.package, app_name=observation.app_name),
        _whole_text(action, observation, field),
    )


def conversation_with(observation: Observation) -> str:
    """Return the name of the other person if the screen shows a conversation with a message field; otherwise ""."""
    elements = observation.elements or ()
    fields = [e for e in elements if e.editable]
    spot = TouchTarget(observation.package, None, elements, None, activity=observation.activity, size=observation.size)
    field = message_field(spot, _lexicon()) if len(fields) == 1 else None
    return "" if field is None or field.package != observation.package else _head(observation, field)


def _only_field(
    action: Action, observation: Observation, target: Element | None, point: Point | None
) -> Element | None:
    """Return the window's only field, that of a conversation, if the press sends its content."""
    elements = observation.elements or ()
    fields = [e for e in elements if e.editable]
    if len(fields) != 1 or any(_WEB in e.class_name for e in elements) or facts_of(observation).amounts:
        return None
    spot = TouchTarget(
        observation.package, target, elements, point, activity=observation.activity, size=observation.size
    )
    field = message_field(spot, _lexicon())
    if field is None or field.package != observation.package:
        return None
    match action:
        case Tap():
            button = pressed(spot)
            sends = button is not None and is_button(button) and not button.editable and beside(field, button)
        case Type(submit=True):
            sends = target == field if target is not None else field.focused
        case PressKey(key=Key.ENTER):
            sends = field.focused
        case _:
            sends = False
    return field if sends else None


@cache
def _lexicon() -> Lexicon:
    return lexicon_of(shipped())


def _head(observation: Observation, field: Element) -> str:
    """Return the name at the top of the conversation, level with a button; "" if there is not exactly one."""
    height = observation.size.height
    elements = observation.elements or ()
    top = [e for e in elements if height * STATUS_BAR_SHARE < e.bounds.centre.y < height * TOP_SHARE]
    if any(e.package not in {observation.package, ""} and e.label for e in top):
        return ""
    lists = [e.bounds for e in elements if e.scrollable]
    said = [e for e in top if e.text or (e.description and not is_button(e))]
    said = [e for e in said if not is_presence(one_line(e.text or e.description))]
    words = {one_line(e.text or e.description) for e in said}
    if len(words) != 1 or any(is_button(e) or e is field or e.package != observation.package for e in said):
        return ""
    if any(box.holds(e.bounds.centre) for e in said for box in lists):
        return ""
    name, title = words.pop(), said[0]
    buttons = [e for e in top if is_button(e) and not e.bounds.holds(title.bounds.centre)]
    level = any(b.bounds.top < title.bounds.centre.y < b.bounds.bottom for b in buttons)
    return name if level and _names_somebody(name, observation) else ""


def _names_somebody(name: str, observation: Observation) -> bool:
    plain = unicodedata.normalize("NFKC", name).casefold().strip(" .…:")
    if not plain or len(name) > MAX_NAME or in_one_line(name) != name:
        return False
    return plain not in _HEADINGS and plain not in {observation.app_name.casefold(), observation.package.casefold()}


def _whole_text(action: Action, observation: Observation, field: Element) -> str | None:
    """Return everything that would be sent; None if uncertain because of attachments or existing text."""
    for element in observation.elements or ():
        parts = set(id_words(element.resource_id))
        shown = not is_button(element) or not parts.isdisjoint(_REMOVING)
        if element.package == observation.package and parts & _ATTACHED and shown:
            return None
    written = "" if field.text == field.hint else field.text
    if isinstance(action, Type):
        return action.text if action.clear or not written else None
    return written or None
