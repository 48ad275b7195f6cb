"""Separates a model's own turn in an answer from turns that it imagined, and real calls from quoted ones.

Models that are not stopped in time continue on their own: they imagine what the phone or the person says and answer
that. Nothing after the first imagined turn refers to a screen that was really seen.
"""

from __future__ import annotations

import re

from agent.dialects.base import BadReply

_MARK = (
    # ChatML (Qwen), Llama 3, GLM, DeepSeek, Gemma, Mistral, Command R, Seed
    r"<\|im_start\|>(?!\s*assistant)|<\|start_header_id\|>(?!\s*assistant)|<start_of_turn>(?!\s*model)|"
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|user|observation|system|tool)\|>|"
    r"<｜(?:User|end▁of▁sentence|tool▁outputs?▁begin)｜>|<end_of_turn>|\[/?INST\]|\[TOOL_RESULTS\]|"
    r"<\|(?:END_OF_TURN|USER|SYSTEM)_TOKEN\|>|\[EOS\]|</s>|</?(?:tool|function)_(?:response|result|output)s?>"
)
_SOMEBODY = r"^[ \t*#>_-]*(?:user|human|tool[ _](?:response|result|output)|用户|人类)[*_ \t]*[:：]"
# Harmony and Phi also end a thought with <|end|>, so it means nothing before a call.
_OWN_TURN = (
    r"<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<｜Assistant｜>|<\|(?:assistant|start|end|return|call)\|>"
)
_AFTER_ACTION = (
    r"^[ \t*#>_-]*(?:observation|thought|assistant|system|environment|观察|思考|助手|系统)[*_ \t]*[:：]|"
    # A template's header without its marks: the role alone on its line, or glued to what it is made to say.
    r"^[^\S\n]*\S{0,2}[^\S\n]*(?:user|human|assistant|system|tool|function|observation|environment|ipython|model|用户|助手)"
    r"[^\S\n]*$|^[^\S\n]*(?:user|human|assistant|system)(?=[^\x00-\x7f]|<)|"
    # What agent.dialects.scene_text writes before a screen.
    r"^<(?:screen|steps|notes|read)>|"
    r"^(?:screenshot \d+:|what step \d+ changed:|step \d+ of at most |told to you since )"
)
_BEFORE = re.compile(rf"(?im){_MARK}|(?!\A){_SOMEBODY}")
_AFTER = re.compile(rf"(?im){_MARK}|{_OWN_TURN}|{_SOMEBODY}|{_AFTER_ACTION}")

_NO_WORDS = re.compile(r"<\|[a-z_]+\|>|</?(?:｜DSML｜)?[a-z_:]+>|```\w*|(?m:^[ \t>*-]*[0-9]{1,2}[.)])", re.IGNORECASE)
_QUOTES = "`'\"“”‘’「『"

WENT_ON = (
    "After your action you went on with an imagined turn (what the phone or the person might say). "
    "Nothing of that was read or done. Stop after your action."
)


def turn_end(text: str, at: int, *, acted: bool) -> int:
    """Return the offset at which the model's own turn ends, searching from `at`; the end of the text if nothing was
    imagined.

    `acted` means that a call came before. Only then does an observation, a second thought, or a bare role mark another
    turn.
    """
    found = (_AFTER if acted else _BEFORE).search(text, at)
    return found.start() if found else len(text)


def went_on(text: str, end: int) -> tuple[str, ...]:
    """Return the notice for the model if words follow the end of its turn (the offset `end`); otherwise an
    empty tuple.
    """
    return (WENT_ON,) if has_words(text[end:]) else ()


def imagined_first() -> BadReply:
    """Return the error for an answer that imagines another turn before its first action."""
    return BadReply("Before any action your answer goes on with an imagined turn. Nothing after that was read or done.")


def has_words(text: str) -> bool:
    """Whether the text contains more than punctuation, tags, fences and list numbers."""
    return any(sign.isalnum() for sign in _NO_WORDS.sub(" ", text))


def joins(between: str) -> bool:
    """Whether the text between two calls has no words: only spaces, tags, fences and list marks."""
    return not _NO_WORDS.sub("", between).strip(" \t\r\n,;[]*->")


def line_before(text: str, start: int, since: int = 0) -> str:
    """Return the text before the offset `start` on its line, but nothing before the offset `since`."""
    return text[max(since, text.rfind("\n", 0, start) + 1) : start]


def is_quoted(before: str) -> bool:
    """Whether a call is only quoted, because words and then a quotation mark precede it on its line (`before`)."""
    return before.endswith(tuple(_QUOTES)) and not before.endswith("```") and has_words(before)
