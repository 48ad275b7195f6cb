"""The settings of a model endpoint, and what is known about it without calling it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from agent.models.base import Purpose
from agent.models.pricing import Price

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
    including retries; other purposes get a share of it. Waiting out an outage is not included (`agent.outage_retry`).
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
