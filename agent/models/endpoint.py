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
    """One model at one OpenAI-compatible endpoint. The key never appears in a repr.

    `base_url` "" is OpenAI itself. `timeout` is the limit in seconds for one step's call including retries; other
    purposes get a share of it. Waiting out an outage is not included (`agent.outage_retry`). `prices` are by model
    name.
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
        """Host and port for sentences, never a user name or password from the URL."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    @property
    def key(self) -> str:
        """The key in plain text; "" if none is set."""
        return self.api_key.get_secret_value().strip()

    def limit(self, purpose: Purpose) -> float:
        """Return the total seconds that a call for this purpose may take."""
        return self.timeout * SHARE_OF_TIMEOUT[purpose]

    def overridden(
        self, *, model: str = "", base_url: str = "", api_key: SecretStr = NOT_SET, context: int | None = None
    ) -> EndpointSettings:
        """Return these settings with the values that another role sets for itself.

        A key stays with its endpoint: to another base URL, only the role's own key is sent. A context window belongs to
        its model.
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
