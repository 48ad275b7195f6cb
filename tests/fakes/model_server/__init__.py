"""A stateful OpenAI-compatible endpoint that answers from a script, for tests over real HTTP."""

from tests.fakes.model_server.personalities import (
    DASHSCOPE,
    DEEPSEEK,
    LITELLM,
    OLLAMA,
    OPENAI,
    STRICT,
    VLLM,
    VLLM_WITH_STORE,
    Personality,
)
from tests.fakes.model_server.recorded import Recorded, SentImage
from tests.fakes.model_server.script import NO_VISION, Answer, Call, rate_limited, refused
from tests.fakes.model_server.server import ModelServer

__all__ = [
    "DASHSCOPE",
    "DEEPSEEK",
    "LITELLM",
    "NO_VISION",
    "OLLAMA",
    "OPENAI",
    "STRICT",
    "VLLM",
    "VLLM_WITH_STORE",
    "Answer",
    "Call",
    "ModelServer",
    "Personality",
    "Recorded",
    "SentImage",
    "rate_limited",
    "refused",
]
