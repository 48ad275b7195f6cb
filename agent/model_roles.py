"""Builds the models of all roles from the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.models.base import PILOT, Connected, Delta, Model, ModelReply, ModelRequest, Models
from agent.models.endpoint import EndpointSettings
from agent.models.errors import ModelKeyRejected
from agent.wording import words
from devices.extras import load_part


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The endpoint of each role. None means the same as `vision` (see `EndpointSettings.overridden`)."""

    vision: EndpointSettings
    basic: EndpointSettings | None = None
    reasoning: EndpointSettings | None = None
    fallback: EndpointSettings | None = None
    """The endpoint that answers while that of `vision` does not, for all roles with the same address; None if there is
    none.
    """

    @property
    def offline(self) -> bool:
        """Whether no endpoint is configured, so that the offline pilot is used. A local endpoint needs no key."""
        return not self.vision.key and not self.vision.base_url


def build_models(settings: ModelSettings) -> Models:
    """Build a model for each role. Roles with equal settings share one model, and thus what it learned about its
    endpoint.
    """
    if settings.offline:
        pilot = _pilot()
        return Models(pilot, pilot, pilot)
    # The client alone takes half a second to load.
    from agent.models.connection import RetryPolicy  # noqa: PLC0415
    from agent.models.openai_model import OpenAIModel  # noqa: PLC0415
    from agent.outages import FailoverModel  # noqa: PLC0415 - see above

    built: list[tuple[EndpointSettings, Model]] = []

    def model_for(endpoint: EndpointSettings) -> Model:
        for known, model in built:
            if known == endpoint:
                return model
        made: Model
        if settings.fallback is None or endpoint.url != settings.vision.url:
            made = OpenAIModel(endpoint)
        else:
            # Tried once: the second answers sooner than the first would after a pause.
            made = FailoverModel(OpenAIModel(endpoint, retry=RetryPolicy(attempts=1)), OpenAIModel(settings.fallback))
        built.append((endpoint, made))
        return made

    basic = settings.basic or settings.vision
    return Models(
        vision=model_for(settings.vision),
        basic=model_for(basic),
        reasoning=model_for(settings.reasoning or settings.vision),
        at_basic=_Named(lambda name: model_for(basic.overridden(model=name))),
    )


def _pilot() -> Model:
    """Return the offline pilot; an installation may lack `agent/offline`."""
    part = load_part("agent.offline.pilot")
    pilot: Model = NoModel() if part is None else part.OfflinePilot()
    return pilot


class NoModel:
    """Used if there is neither an endpoint nor the offline pilot. Every call raises an error."""

    name = PILOT

    async def complete(
        self,
        request: ModelRequest,  # noqa: ARG002 - as a Model has it
        *,
        on_delta: Callable[[Delta], None] | None = None,  # noqa: ARG002 - the same
    ) -> ModelReply:
        """Raise ModelKeyRejected, always."""
        raise ModelKeyRejected(words("model.none"))


class _Named:
    """Models by name, each created when it is first used."""

    def __init__(self, make: Callable[[str], Model]) -> None:
        self._make = make
        self.made: dict[str, Model] = {}

    def __call__(self, name: str) -> Model:
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]


async def close_models(models: Models) -> None:
    """Close the connections of all models; they cannot be used afterwards."""
    named = models.at_basic.made.values() if isinstance(models.at_basic, _Named) else ()
    for model in {id(model): model for model in (models.vision, models.basic, models.reasoning, *named)}.values():
        if isinstance(model, Connected):
            await model.close()
