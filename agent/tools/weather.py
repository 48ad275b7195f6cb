"""A tool for the weather of a place, from Open-Meteo, which needs no key.

This module fixes the two hosts; the model can only supply the name of a place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, PageSource, Tool, ToolContext, query_gate
from agent.wording import Texts

if TYPE_CHECKING:
    from agent.tools.egress import Egress

PLACES: Final = "https://geocoding-api.open-meteo.com/v1/search"
FORECAST: Final = "https://api.open-meteo.com/v1/forecast"
SITE: Final = "https://open-meteo.com/"
DAYS: Final = 3
_SKIES: Final = (
    (0, "clear"), (2, "partly cloudy"), (3, "overcast"), (48, "fog"), (57, "drizzle"), (67, "rain"), (77, "snow"),
    (82, "showers"), (86, "snow showers"), (99, "thunderstorm"),
)  # fmt: skip
"""WMO weather codes, each up to the given number."""
TEXTS: Final = Texts(
    {"weather": "look at the weather of {place}", "now": "{place}: {degrees} °C, {sky}"},
    zh={"weather": "查看{place}的天气", "now": "{place}：{degrees} °C，{sky}"},
)


class Weather(Action):
    """The weather of a place: now, today and the next two days."""

    kind: Literal["weather"] = "weather"
    place: str = Field(min_length=1, max_length=100, description="A town, in any language.")


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Place(_Loose):
    name: str = Field(max_length=200)
    country: str = Field(default="", max_length=200)
    latitude: float = Field(ge=-90, le=90, allow_inf_nan=False)
    longitude: float = Field(ge=-180, le=180, allow_inf_nan=False)


class _Places(_Loose):
    results: tuple[_Place, ...] = ()


class _Now(_Loose):
    temperature_2m: float
    weather_code: int
    wind_speed_10m: float


class _Days(_Loose):
    time: tuple[str, ...]
    weather_code: tuple[int | None, ...]
    temperature_2m_min: tuple[float | None, ...]
    temperature_2m_max: tuple[float | None, ...]
    precipitation_sum: tuple[float | None, ...]


class _Forecast(_Loose):
    current: _Now
    daily: _Days


def weather_tool(make: Callable[[], Egress], places: str = PLACES, forecast: str = FORECAST) -> Tool[Weather]:
    """Return the weather tool. `make` returns the Egress for fetching; it is called at each use. `places` and
    `forecast` are the addresses of the two services.
    """

    async def run(action: Weather, context: ToolContext) -> ActionResult:
        if context.mask.text(action.place) != action.place:
            raise ActionError("Not done: there is a secret in it, and secrets never leave.")
        found = await context.control.guard(_asked(make(), places, {"name": action.place, "count": 1}, _Places))
        if not found.results:
            raise ActionError("No place of this name is known. Name a larger town nearby.")
        place = found.results[0]
        wanted: dict[str, Any] = {
            "latitude": place.latitude,
            "longitude": place.longitude,
            "current": "temperature_2m,weather_code,wind_speed_10m",
            "daily": "weather_code,temperature_2m_min,temperature_2m_max,precipitation_sum",
            "timezone": "auto",
            "forecast_days": DAYS,
        }
        told = await context.control.guard(_asked(make(), forecast, wanted, _Forecast))
        now, days = told.current, told.daily
        name = in_a_line(", ".join(filter(None, (place.name, place.country))), 80)
        degrees = days.temperature_2m_min, days.temperature_2m_max
        rows = zip(days.time, days.weather_code, *degrees, days.precipitation_sum, strict=False)
        lines = [f"{day[:10]}: {_sky(code)}, {low} to {high} °C, {rain} mm" for day, code, low, high, rain in rows]
        text = "\n".join([f"place: {name}", f"wind now: {now.wind_speed_10m:g} km/h", *lines[:DAYS]])
        words = TEXTS.words("now", place=name, degrees=f"{now.temperature_2m:g}", sky=_sky(now.weather_code))
        data = {"place": name, "degrees": now.temperature_2m, "sky": _sky(now.weather_code)}
        return ActionResult((Worded.of(words),), read=(text,), sources=(PageSource("Open-Meteo", SITE),), data=data)

    return Tool(
        model=Weather,
        describe=lambda action, _: TEXTS.words("weather", place=in_a_line(action.place, 80)),
        gate=lambda action, situation: query_gate(action.place, situation),
        details=lambda action: [action.place],
        repeatable=True,
        cacheable=True,
        run=run,
    )


async def _asked(egress: Egress, address: str, wanted: dict[str, Any], model: type[Any]) -> Any:  # noqa: ANN401 - by the model
    from agent.tools.egress import FetchFailed  # noqa: PLC0415 - only where something is fetched

    try:
        got = await egress.fetch(f"{address}?{urlencode(wanted)}")
    except FetchFailed as error:
        raise ActionError(f"The weather could not be looked up. {error}") from error
    if got.status >= 400:
        raise ActionError(f"The weather could not be looked up: the service answered with error {got.status}.")
    try:
        return model.model_validate(json.loads(got.body))
    except (ValueError, RecursionError, ValidationError) as error:
        raise ActionError("The weather could not be looked up: the answer cannot be read.") from error


def _sky(code: int | None) -> str:
    return next((name for most, name in _SKIES if code is not None and code <= most), "unknown")
