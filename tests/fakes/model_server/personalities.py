"""How endpoints differ, as seen at the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Personality:
    """One kind of endpoint.

    `responses` says what the Responses API does there: "stateful"; "no store" (501 on store=true); "ignores id"
    (works, never continues, echoes nothing); "loses state" (continues while it remembers, else answers without the
    context and without the echo); "absent". `lost` is the error for a forgotten id.
    """

    name: str
    responses: Literal["stateful", "no store", "ignores id", "loses state", "absent"] = "absent"
    lost: Literal[400, 404] = 400
    refuses: frozenset[str] = frozenset()
    """Parameters answered with a 400 that names them."""
    schema: Literal["json_schema", "json_object", "none", "ignored"] = "json_schema"
    """The best response format it takes; "ignored" takes everything and does nothing."""
    reasoning_field: str = "reasoning_content"
    usage: Literal["openai", "deepseek"] = "openai"
    vision: bool = True
    streams: bool = True


OPENAI = Personality("openai", responses="stateful")
VLLM = Personality("vllm", responses="no store")
VLLM_WITH_STORE = Personality("vllm-with-store", responses="stateful", lost=404)
OLLAMA = Personality("ollama", responses="ignores id", reasoning_field="reasoning")
LITELLM = Personality("litellm", responses="loses state")
DASHSCOPE = Personality("dashscope", responses="ignores id", schema="ignored")
DEEPSEEK = Personality("deepseek", schema="json_object", usage="deepseek", vision=False)
STRICT = Personality("strict", refuses=frozenset({"stream_options", "prompt_cache_key"}), schema="none")

PERSONALITIES = {
    each.name: each for each in (OPENAI, VLLM, VLLM_WITH_STORE, OLLAMA, LITELLM, DASHSCOPE, DEEPSEEK, STRICT)
}
