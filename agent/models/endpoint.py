"""Where a model is found, and what may be known about it without calling it."""

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
"""Sent where no key is set: local endpoints ignore it, and the SDK insists on one."""

NOT_SET = SecretStr("")

Api = Literal["chat", "responses", "auto"]
Pictures = Literal["auto", "always", "never"]

SHARE_OF_TIMEOUT: Mapping[Purpose, float] = {
    Purpose.ACT: 1.0,
    Purpose.INTENT: 0.5,
    Purpose.PLAN: 2.5,  # reasoning models think for minutes, and nobody taps meanwhile
    Purpose.MEMBER: 1.5,
    Purpose.SUPERVISE: 1.0,
    Purpose.SUMMARIZE: 1.0,
    Purpose.VERIFY: 0.5,
    Purpose.CAPTION: 0.25,
    Purpose.GUARD: 0.25,
}


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """One model at one OpenAI-compatible endpoint. The key never shows in a repr.

    `base_url` "" is OpenAI itself. `timeout` is how many seconds one call for a step may take, retries included; the
    other purposes have a share of it. Waiting out an outage is no part of it (`agent.outage_retry`). `prices` are
    per model name.
    """

    model: str
    base_url: str = ""
    api_key: SecretStr = NOT_SET
    api: Api = "chat"
    timeout: float = 120.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    context: int | None = None
    """Tokens that fit into the model's window; None is what the endpoint tells (agent.models.window)."""
    pictures: Pictures = "auto"
    """Whether the model is shown pictures; "auto" is until it refuses one."""

    @property
    def url(self) -> str:
        """The base URL that is called."""
        return self.base_url or OPENAI_BASE_URL

    @property
    def host(self) -> str:
        """Host and port, for sentences; never a user name or password from the URL."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    @property
    def key(self) -> str:
        """The key in the clear, "" when none is set."""
        return self.api_key.get_secret_value().strip()

    def limit(self, purpose: Purpose) -> float:
        """Seconds that a call for this purpose may take in all."""
        return self.timeout * SHARE_OF_TIMEOUT[purpose]

    def overridden(
        self, *, model: str = "", base_url: str = "", api_key: SecretStr = NOT_SET, context: int | None = None
    ) -> EndpointSettings:
        """The settings with what another role sets of its own. A key stays with its endpoint: at another base URL
        only the role's own key is sent. A window is that of its model.
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
