"""The core of the service: store, agent and phones, which work on tasks. It can run without any chat."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from agent.graph.agent import GraphAgent
from agent.graph.member.members import Members
from agent.guards.policy import Policy, PolicyError
from agent.guards.reading import Readings
from agent.local_time import LocalTimes
from agent.run import RunId
from agent.runner.local import LocalRunner, RunnerDependencies
from agent.skills.library import Skills
from agent.tools.calling import Toolbox
from bot.application.services import Services
from bot.config.endpoints import dialect_of, embedder_of
from bot.config.settings import Settings, SettingsError, record_url
from bot.domain.clock import SteadyClock, seconds_since_boot
from bot.domain.limits import GIBIBYTE
from bot.domain.locale import zone_named
from bot.logs.setup import cover_secrets
from bot.people.access import Policy as AccessPolicy
from bot.people.pairing import Pairing
from bot.people.quotas import Quotas
from bot.people.rights import Rights
from bot.platform import Platform, filed_by
from bot.runtime.run_config import RunConfigs, SideEndpoint
from bot.runtime.settings import RuntimeSettings
from bot.store.checkpoints import Checkpoints
from bot.store.directory import DataDirectory
from bot.store.housekeeping import Housekeeper
from bot.store.knowledge import KNOWLEDGE_NAME, KnowledgeFolder
from bot.store.store import Store, open_checkpoints
from bot.store.waiting import PATIENCE_S
from bot.tasks.follow import TaskFollowers
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import ManualInput
from bot.tasks.queue import Admission
from bot.tasks.remote_control import RemoteControlService
from bot.tasks.secrets import MemorySecrets
from bot.tasks.service import TaskService
from bot.texts import words
from bot.views.tools import ToolOffer
from bot.wiring.parts import installed_parts, tool_servers
from bot.wiring.team import actions_of, members_of, skills_of, tool_offer, toolbox_of, workshop_of
from devices.adb.server import ServerAddress
from devices.pool import AdbPhones, NameBook, Pool
from devices.provider import DeviceProvider
from devices.wording import sentence_of

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from bot.machines import HostedPhones, RemoteMachines

logger = logging.getLogger(__name__)

VIRTUAL_NAME = "virtual-phones"
"""The folder in the data directory where virtual phones keep their contents."""


@dataclass(frozen=True)
class Core:
    """The components that work on tasks."""

    settings: Settings
    """The settings at the start, from the environment and the settings file; `live` has the current ones."""
    store: Store
    checkpoints: Checkpoints
    phones: Pool
    live: RuntimeSettings
    run_configs: RunConfigs
    task_service: TaskService
    rights: Rights
    quotas: Quotas
    housekeeper: Housekeeper
    admission: Admission
    manual_input: ManualInput
    remote_control: RemoteControlService
    skills: Skills
    tools: Callable[[], ToolOffer]
    members: Members
    toolbox: Toolbox
    readings: Readings
    machines: RemoteMachines | None
    """Other machines whose phones are used; None if the settings name none."""

    def services(self, following: TaskFollowers) -> Services:
        """Return the application's services, without any chats yet."""
        return Services(
            self.task_service,
            self.store,
            self.phones,
            self.rights,
            self.quotas,
            self.live,
            self.remote_control,
            self.manual_input,
            following,
            chats={},
            zone=zone_named(self.settings.time_zone),
            skills=self.skills,
            tools=self.tools,
            offered_tools=self.toolbox.offered,
            readings=self.readings,
            reasoning=lambda: self.run_configs.models.reasoning,
            model=lambda: self.run_configs.state,
            machines=self.machines,
        )


class StoppedEarly(Exception):
    """The service was stopped before it had got access to its record (the stored data)."""


async def _unless(stopping: asyncio.Event, opening: Coroutine[Any, Any, Store]) -> Store:
    """Return the opened store. If `stopping` is set first, the opening is cancelled and StoppedEarly is raised."""
    opened, stopped = asyncio.create_task(opening), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({opened, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        if not opened.done():
            opened.cancel()
            await asyncio.wait({opened})
    if opened.cancelled():
        raise StoppedEarly
    return opened.result()


@asynccontextmanager
async def open_core(
    environment: Settings,
    platforms: Sequence[Platform[Any]],
    *,
    serves: bool = False,
    way_out: Callable[[], Egress] | None = None,
    stopping: asyncio.Event | None = None,
    stand_by: Callable[[str], None] | None = None,
) -> AsyncIterator[Core]:
    """Start the core and yield it: open the data directory, attach the phones, and run the task service until the block
    ends.

    - `platforms` are the chat platforms whose lists decide who may use the service.
    - `serves` says that the core has a console, for which the command line waits.
    - `way_out` returns the client through which web pages are fetched; by default only the public internet can be
      reached.
    - `stopping` ends the wait for the record while another service owns it; StoppedEarly is then raised.
    - `stand_by` is called repeatedly during that wait, with the other service's name.

    Raises SettingsError, or StoreError and its subclasses, before anything has begun.
    """
    dialect_of(environment)
    policy = policy_of(environment)
    async with AsyncExitStack() as stack:
        stack.enter_context(DataDirectory(environment.data_dir, serves=serves))
        opening = Store.open(
            environment.data_dir,
            url=record_url(environment),
            owns=True,
            keep_days=environment.keep_days,
            keep_bytes=environment.keep_gigabytes * GIBIBYTE,
            stand_by=stand_by,
            patience=PATIENCE_S,
        )
        store = await (opening if stopping is None else _unless(stopping, opening))
        stack.push_async_callback(store.close)
        checkpoints = await stack.enter_async_context(
            open_checkpoints(environment.data_dir, record_url(environment), owns=True)
        )
        live = await RuntimeSettings.open(environment, store, filed_by(platforms))
        settings = live.base
        cover_secrets(settings)
        live.on_change(cover_secrets)
        run_configs = RunConfigs(live.now, lambda request, away: task_service.model_away(request.task, away))
        stack.push_async_callback(run_configs.close)
        live.on_change(run_configs.change)
        if run_configs.models.vision.name == "offline":
            logger.info("No model is set (VLM_API_KEY, VLM_BASE_URL): the offline pilot follows simple instructions.")
        else:
            logger.info("Model: %s", run_configs.models.vision.name)
        machines = _machines_of(settings, store, policy)
        phones = phones_of(
            settings,
            store.phone_names,
            mends=True,
            hosted=None if machines is None else machines.phones,
            may_send=lambda: store.is_ours,
        )
        stack.push_async_callback(phones.stop)
        await phones.start()
        rights = await Rights.open(lists_of(settings, platforms), store, Pairing() if settings.pairing else None)

        async def admit(now: Settings) -> None:
            # Who waits with a code goes on waiting.
            rights.pairing = (rights.pairing or Pairing()) if now.pairing else None
            await rights.replace_lists(lists_of(now, platforms))

        live.follow(admit)
        admission = Admission(lambda: rights.policy)

        def admits(run: RunId, phone: str) -> bool:
            return admission.admits(run, phone) and (machines is None or machines.phones.may_use(run, phone))

        leases = PhoneLeases(store.leases, phones, SteadyClock(), admits, admission.certainty, store.phone_names.all)
        secrets = MemorySecrets()
        quotas = Quotas(store, rights, lambda: live.now, zone_named(settings.time_zone), time.time)
        offer = await workshop_of(settings)
        if offer.close is not None:
            stack.push_async_callback(offer.close)
        embedder = SideEndpoint("embed_", embedder_of, live.now)
        stack.push_async_callback(embedder.close)
        live.on_change(embedder.change)
        memory = store.memory(lambda person: rights.policy.subjects(person), embedder.client)  # noqa: PLW0108 - links change
        skills = await asyncio.to_thread(skills_of, settings)
        readings = Readings(store.press_verdicts)
        await readings.load()
        for verdict in await store.skills.verdicts():
            readings.know(verdict.key, verdict.consequence, verdict.object)
        foreign = await stack.enter_async_context(tool_servers().connected(settings.data_dir, lambda: store.is_ours))
        toolbox = toolbox_of(
            settings,
            store.tool_calls,
            policy,
            workshop=offer.workshop,
            memory=memory,
            skills=skills,
            way_out=way_out,
            offered_now=foreign.tools,
        )
        equipment = RunnerDependencies(
            phones=phones,
            leases=leases,
            configs=run_configs,
            policy=policy,
            journal=store.journal,
            frames=store.frames.patient(),
            secrets=secrets,
            actions=actions_of(toolbox),
            toolbox=toolbox,
            memory=memory,
            skills=skills,
            skill_names=store.skills,
            readings=readings,
        )
        members = members_of(settings, toolbox, store, checkpoints, skills, policy)
        local = LocalRunner(equipment, checkpoints)
        agent = GraphAgent(
            run_configs,
            local if machines is None else machines.runner(local, leases, secrets, memory),
            checkpoints,
            knowledge=knowledge_of(settings),
            allowance=quotas,
            members=members,
            memory=memory,
            skills=skills,
            local_times=LocalTimes(phones.list, zone_named(settings.time_zone)),
        )
        task_service = TaskService(
            store,
            agent,
            leases,
            secrets,
            model=lambda: run_configs.models.vision.name,
            gate=quotas,
            admission=admission,
            steady=seconds_since_boot,
        )
        if machines is not None:
            stack.callback(task_service.on_event(machines.confirm_stored))
            stack.push_async_callback(machines.stop)
            await machines.start()
        stack.push_async_callback(task_service.stop)
        manual_input = ManualInput(leases, phones, policy, store.journal)
        remote_control = RemoteControlService(leases, phones, manual_input, task_service)
        stack.push_async_callback(remote_control.close)
        await task_service.start()
        housekeeper = Housekeeper(store, checkpoints, settings.data_dir, keep_tasks_days=settings.keep_tasks_days)
        await stack.enter_async_context(housekeeper.at_work())
        yield Core(
            settings,
            store,
            checkpoints,
            phones,
            live,
            run_configs,
            task_service,
            rights,
            quotas,
            housekeeper,
            admission,
            manual_input,
            remote_control,
            skills,
            lambda: tool_offer(settings, toolbox.tools, offer.lack, foreign),
            members,
            toolbox,
            readings,
            machines,
        )


def _machines_of(settings: Settings, store: Store, policy: Policy) -> RemoteMachines | None:
    """The other machines. Raises SettingsError if they are configured and cannot be used."""
    for part in installed_parts():
        if part.machines is not None:
            return part.machines(settings, store, policy)
    if settings.fleet_url:
        raise SettingsError(words("parts.setting", name="FLEET_URL", folder="bot/fleet"))
    return None


def lists_of(settings: Settings, platforms: Iterable[Platform[Any]]) -> AccessPolicy:
    """Return the access policy made of the lists in the settings."""
    return AccessPolicy({platform.name: platform.lists.read(settings) for platform in platforms})


def knowledge_of(settings: Settings) -> KnowledgeFolder | None:
    """Return the folder of documents that are searched before planning; None if there are none, or if this is switched
    off.
    """
    if settings.knowledge_dir is None or not settings.search_before_planning:
        return None
    return KnowledgeFolder(settings.knowledge_dir, settings.data_dir / KNOWLEDGE_NAME)


def policy_of(settings: Settings) -> Policy:
    """Return the rules that decide what needs an approval. Raises SettingsError if the operator's rules file cannot be
    used.
    """
    if settings.policy_file is None:
        return Policy.default()
    try:
        return Policy.load(settings.policy_file)
    except PolicyError as error:
        raise SettingsError(words("settings.policy", why=sentence_of(error))) from error


def phones_of(
    settings: Settings,
    book: NameBook | None = None,
    *,
    mends: bool = False,
    hosted: HostedPhones | None = None,
    may_send: Callable[[], bool] = lambda: True,
) -> Pool:
    """Create the pool of phones, not started yet: the phones in the settings, of installed providers, and those
    `hosted` on other machines. `book` contains the names that people gave to phones.

    With `mends`, phone settings are restored that a crashed task left changed. Inputs are sent only while `may_send`
    returns True. Raises SettingsError for a provider that cannot be loaded.
    """
    adb = AdbPhones(
        [ServerAddress(host, port) for host, port in settings.adb_servers],
        serials=settings.android_serials,
        names=settings.phone_names,
        book=book,
        aliases=settings.app_aliases,
        virtual=settings.virtual_phones,
        virtual_state=settings.data_dir / VIRTUAL_NAME,
        mends=mends,
        fast_lane=settings.fast_lane == "auto",
        may_send=may_send,
    )
    providers = [adb, *(make(settings, book) for make in _installed_providers())]
    return Pool(providers) if hosted is None else Pool([*providers, hosted], hosted.owns)


MakeProvider = Callable[[Settings, NameBook | None], DeviceProvider]
"""Makes a provider of other kinds of phones, not started yet; names that people give to phones are kept in the book."""
PROVIDERS: Final = "opengui.devices"
"""The entry point group in which installed packages register a `MakeProvider`."""


def _installed_providers() -> list[MakeProvider]:
    found = []
    for point in entry_points(group=PROVIDERS):
        try:
            found.append(point.load())
        except (ImportError, AttributeError) as error:
            raise SettingsError(words("settings.provider", name=point.name, why=str(error))) from error
    return found
