"""A whole task through the graph's public seam: virtual phone at one end, an endpoint over HTTP at the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agent.events import TaskEnded
from agent.guards.reading import GuardMode
from agent.models.base import Models
from agent.models.endpoint import Api, Pictures
from agent.models.openai_model import OpenAIModel
from agent.models.pricing import Price
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.models.endpoints import KEY, VirtualTime, model_at
from tests.agent.providers.speaking import TASK
from tests.fakes.model_server import ModelServer


@dataclass
class World:
    """A phone whose mind asks this endpoint."""

    rig: Rig
    server: ModelServer
    model: OpenAIModel
    time: VirtualTime
    dialect: str
    image_window: int

    def work(
        self,
        text: str = TASK,
        *,
        quick: bool = True,
        task: str = "7",
        max_steps: int = 20,
        guard: GuardMode = "rules",
    ) -> Work:
        """Begin a task."""
        models = Models(self.model, self.model, self.model)
        agent = self.rig.agent(models, dialect=self.dialect, image_window=self.image_window, guard=guard)
        return Work(agent, order(text, quick=quick, task=task, max_steps=max_steps))

    async def do(self, text: str = TASK, *, quick: bool = True, task: str = "7") -> TaskEnded:
        """Do a task to its end."""
        return await self.work(text, quick=quick, task=task).ended()

    @property
    def bluetooth(self) -> bool:
        """What the phone really is."""
        return self.rig.phone.truth.toggles["bluetooth"]


@asynccontextmanager
async def world(
    rig: Rig,
    server: ModelServer,
    *,
    api: Api = "chat",
    dialect: str = "tools",
    image_window: int = 1,
    model: str = "fake-vl",
    key: str = KEY,
    timeout: float = 20.0,
    prices: dict[str, Price] | None = None,
    pictures: Pictures = "auto",
) -> AsyncIterator[World]:
    """Start the endpoint and connect a client; leaving closes both."""
    time = VirtualTime()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server)
        client = await stack.enter_async_context(
            model_at(
                server, api=api, model=model, key=key, timeout=timeout, time=time, prices=prices, pictures=pictures
            )
        )
        yield World(rig, server, client, time, dialect, image_window)
