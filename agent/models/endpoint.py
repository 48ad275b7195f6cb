"""The settings of a model endpoint, what is known about it without calling it, and how much of its answers is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from agent.models.base import Purpose
from agent.models.pricing import Price

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""The maximum bytes of one answer on the wire: 100,000 streamed pieces of 300 bytes, more than any real answer."""
MAX_LETTERS = 1_000_000
"""The maximum characters of text, reasoning and tool calls in one answer; 128,000 tokens have about half as many."""
MAX_CALLS = 64
"""The maximum tool calls in one answer; real ones have up to five."""
MAX_SHOWN_ARGUMENTS = 2_000
"""An unfinished tool call is only passed on while it streams if its arguments have at most this many characters,
because every piece repeats them in full.
"""
MAX_TOKENS_REPORTED = 100_000_000
"""The maximum tokens of one call that an endpoint may report. A higher number is an error, and an estimate is used
instead.
"""


class TooMuch(ValueError):
    """The answer is larger than any real one."""


OPENAI_BASE_URL = "https://api.openai.com/v1"
NO_KEY = "no-key"
"""The placeholder sent if no key is set: local endpoints ignore it, but the SDK requires one."""

NOT_SET = SecretStr("")

Api = Literal["chat", "responses", "auto"]
Pictures = Literal["auto", "always", "never"]

SHARE_OF_TIMEOUT: Mapping[Purpose, float] = {
    Purpose.ACT: 1.0,
    Purpose.INTENT: 0.5,
    Purpose.PLAN: 2.5,  # reasoning models think for minutes, and no input is waiting
    Purpose.MEMBER: 1.5,
    Purpose.SUPERVISE: 1.0,
    Purpose.SUMMARIZE: 1.0,
    Purpose.VERIFY: 0.5,
    Purpose.CAPTION: 0.25,
    Purpose.GUARD: 0.25,
}


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """The settings of one model at one OpenAI-compatible endpoint. The key never appears in a repr.

    If `base_url` is "", the endpoint is OpenAI itself. `timeout` is the limit in seconds for the call of one step,
    including retries; other purposes get a share of it. Waiting out an outage is not included (`agent.outages`).
    `prices` are by model name.
    """

    model: str
    base_url: str = ""
    api_key: SecretStr = NOT_SET
    api: Api = "chat"
    timeout: float = 120.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    context: int | None = None
    """The model's context window in tokens; None to ask the endpoint (agent.models.window)."""
    pictures: Pictures = "auto"
    """Whether the model is shown pictures; "auto" means until it refuses one."""

    @property
    def url(self) -> str:
        """The base URL that is called."""
        return self.base_url or OPENAI_BASE_URL

    @property
    def host(self) -> str:
        """Host and port for messages to people, without a user name or password in the URL."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    @property
    def key(self) -> str:
        """The API key in plain text; "" if none is set."""
        return self.api_key.get_secret_value().strip()

    def limit(self, purpose: Purpose) -> float:
        """Return how many seconds a call for this purpose may take, including retries."""
        return self.timeout * SHARE_OF_TIMEOUT[purpose]

    def overridden(
        self, *, model: str = "", base_url: str = "", api_key: SecretStr = NOT_SET, context: int | None = None
    ) -> EndpointSettings:
        """Return a copy with the values that another role sets for itself.

        A key is only sent to its own endpoint: with another base URL, only the role's own key is used. A context window
        only applies to its own model.
        """
        key = api_key if api_key.get_secret_value() or base_url not in {"", self.base_url} else self.api_key
        other = model not in {"", self.model} or base_url not in {"", self.base_url}
        window = context or (None if other else self.context)
        return replace(
            self,
            model=model or self.model,
            base_url=base_url or self.base_url,
            api_key=key,
            context=window,
            pictures="auto" if other else self.pictures,
        )
