"""The candidates of a comparison: each is a model with a dialect (the form in which it writes actions) and a number of
pictures that it sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.limits import TaskLimits
from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.base import Models
from agent.models.endpoint import EndpointSettings
from agent.outages import patient
from agent.run_config import RunConfig
from bot.config.endpoints import dialect_of, model_settings
from bot.config.settings import Settings, changed

MOST_MINUTES: Final = 15.0
"""Minutes for one task; the service allows hours, but none of these tasks needs more."""
MOST_TOKENS: Final = 400_000
"""Tokens for one task: four times what thirty steps with a picture each take."""


@dataclass(frozen=True)
class Candidate:
    """One model in one configuration: a row of the comparison."""

    model: str
    dialect: str
    image_window: int
    """How many of the latest screenshots the model gets. With 0 it gets no pictures and works from the list of
    elements.
    """
    config: RunConfig
    endpoints: Models
    """The connections to the models, which `close` closes."""
    offline: bool = False
    priced: bool = True
    """Whether the price of every model in use is known."""

    @property
    def name(self) -> str:
        """The candidate's name for a line of progress."""
        return self.model if self.offline else f"{self.model}, {self.dialect}, {self.image_window}"

    async def close(self) -> None:
        """Close the connections to the models; the candidate cannot be used afterwards."""
        await close_models(self.endpoints)


def floor() -> Candidate:
    """Return the offline pilot as the candidate to compare with. It is free, so a model that does no better is not
    worth its price.
    """
    return _candidate(Settings.model_construct(), ModelSettings(EndpointSettings(model="")), None, offline=True)


def candidates_of(
    settings: Settings,
    *,
    base_url: str = "",
    models: Sequence[str] = (),
    dialects: Sequence[str] = (),
    image_windows: Sequence[int] = (),
) -> list[Candidate]:
    """Return a candidate for each combination of these models, dialects and image windows; omitted values come from the
    settings. Empty if no endpoint is set.

    The API key in the settings is not sent to another `base_url`. Raises SettingsError.
    """
    found: list[Candidate] = []
    for model in models or (settings.vlm_model,):
        for dialect in dialects or (settings.vlm_dialect,):
            values: dict[str, object] = {"vlm_model": model, "vlm_dialect": dialect}
            if base_url and base_url.rstrip("/") != settings.vlm_base_url.rstrip("/"):
                values |= {"vlm_base_url": base_url, "vlm_api_key": ""}
            wished = changed(settings, values)
            endpoints = model_settings(wished)
            if endpoints.offline:
                return []
            windows = image_windows or (0 if wished.vlm_pictures == "never" else wished.vlm_image_window,)
            # A model family's dialect may be another dialect under a second name.
            found += [each for window in windows if not _is_among(each := _candidate(wished, endpoints, window), found)]
    return found


def _is_among(candidate: Candidate, found: Sequence[Candidate]) -> bool:
    return any(each.name == candidate.name for each in found)


def _candidate(settings: Settings, endpoints: ModelSettings, window: int | None, *, offline: bool = False) -> Candidate:
    endpoints = replace(endpoints, fallback=None)  # another model's answers say nothing about this one
    if window == 0:
        endpoints = replace(endpoints, vision=replace(endpoints.vision, pictures="never"))
    built = build_models(endpoints)
    models, _ = patient(built, lambda _request, _away: None)
    dialect = dialect_of(settings)
    image_window = dialect.image_window if window is None else window
    roles = (endpoints.vision, endpoints.basic or endpoints.vision, endpoints.reasoning or endpoints.vision)
    return Candidate(
        built.vision.name,
        dialect.name,
        image_window,
        RunConfig(
            models,
            dialect,
            max(1, image_window),
            TaskLimits(minutes=MOST_MINUTES, tokens=MOST_TOKENS),
            guard=settings.guard,
        ),
        built,
        offline,
        priced=offline or all(each.model in each.prices for each in roles),
    )
