"""A chat platform as one manifest: all that the rest of the program knows of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import SecretStr

from bot.config.extras import lack_of
from bot.config.settings import Settings
from bot.config.settings_file import FILED
from bot.domain.address import Address, Person, Place
from bot.domain.chat import Connected, Intake
from bot.domain.finding import Finding
from bot.people.access import Lists
from bot.people.subjects import Audience, Naming
from bot.texts import words
from devices.extras import Extra, is_installed

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class ListFields:
    """The settings that hold the lists of who may use the bot; "" for a list that the platform has not."""

    users: str
    admins: str
    chats: str = ""
    guilds: str = ""

    def read(self, settings: Settings) -> Lists:
        """The lists as they are set."""
        guilds, chats, users, admins = (
            frozenset(getattr(settings, name) if name else ())
            for name in (self.guilds, self.chats, self.users, self.admins)
        )
        return Lists(guilds, chats, users, admins)

    @property
    def opening(self) -> tuple[str, ...]:
        """The lists that let anybody in; the admin list alone does not."""
        return tuple(name for name in (self.guilds, self.chats, self.users) if name)


@dataclass(frozen=True, slots=True)
class Asked:
    """One setting that `opengui setup` asks for. `prompt` says it in the language of the terminal."""

    field: str
    prompt: Callable[[], str]
    secret: bool = False
    choices: Callable[[Mapping[str, str]], Awaitable[Sequence[str]]] | None = None
    """What may be chosen, by the values of this part so far; anything else can be typed as well."""


@dataclass(frozen=True, slots=True)
class ChatContext:
    """What a chat is given to work with."""

    intake: Intake
    """What it hands in all that people do."""
    welcome: Callable[[Person, Place], bool]
    """Whether somebody may use the bot there, so that their files are fetched."""
    audiences: Callable[[], Sequence[Audience]]
    """Who is shown a menu of commands, asked again at each look."""
    moved: Callable[[Address, str], Awaitable[None]]
    """To be told of a chat that has a new id."""
    lost: Callable[[Address], Awaitable[None]]
    """To be told of a place where nobody can be reached any more."""


def filed_by(platforms: Iterable[Platform[Any]]) -> frozenset[str]:
    """The settings that a settings file may have in a program with these platforms."""
    return FILED.union(*(platform.connected_by for platform in platforms))


def _nothing(_settings: Any) -> str:  # noqa: ANN401 - of every platform
    return ""


@dataclass(frozen=True, slots=True)
class Platform(Generic[S]):
    """A chat platform. Nothing outside the package that makes one names the platform.

    `settings` holds the fields that it adds, whose names all begin with `name` and "_". Importing the manifest does not
    load the platform's library; `connect` does.
    """

    name: str
    """As addresses and people's rights have it: small letters, for ever the same."""
    title: str
    """As people call it, in every language."""
    settings: type[S]
    token: str
    """The setting without which it is not used, a SecretStr."""
    lists: ListFields
    connect: Callable[[S, ChatContext], Connected]
    """Makes the chat, not connected yet."""
    check: Callable[[S], Awaitable[list[Finding]]]
    """Asks the platform whether it can be used as it is set; called only where `refusal` has nothing to say. It raises
    nothing and shows no token.
    """
    asked: tuple[Asked, ...]
    """What setup asks; without an answer to the first the rest is not asked."""
    about: Callable[[], str]
    """Where the token is found, for setup."""
    closing: Callable[[S], str] = _nothing
    """What setup says at the end, such as how the bot is invited."""
    naming: Naming = field(default_factory=Naming)
    """How people are named there in what admins type."""
    secrets: tuple[str, ...] = ()
    """Regular expressions of what must not be in a log, whatever is set: the form of the platform's tokens."""
    extra: Extra | None = None
    """What has to be installed for it."""
    chatty: tuple[str, ...] = ()
    """Loggers of its library that tell more than an operator wants to read, or texts of people."""

    loads: tuple[str, ...] = ()
    """The modules that `connect` loads; a service that stands by has them ready."""

    def __post_init__(self) -> None:
        own = set(self.settings.model_fields) - set(Settings.model_fields)
        if strange := sorted(name for name in own if not name.startswith(f"{self.name}_")):
            raise ValueError(f"settings of {self.name} must begin with {self.name}_, unlike {', '.join(strange)}")

    @property
    def connected_by(self) -> tuple[str, ...]:
        """The settings that the console can change: what setup asks, and the lists."""
        lists = (self.lists.guilds, self.lists.chats, self.lists.users, self.lists.admins)
        return tuple(dict.fromkeys((*(one.field for one in self.asked), *filter(None, lists))))

    def is_set(self, settings: Settings) -> bool:
        """Whether there is a token."""
        token = getattr(settings, self.token)
        return isinstance(token, SecretStr) and bool(token.get_secret_value())

    def refusal(self, settings: Settings) -> str:
        """Why it is not started although its token is set, "" when it may be (or has no token)."""
        if not self.is_set(settings):
            return ""
        if self.extra is not None and not is_installed(self.extra):
            return lack_of(self.extra)
        if self.lists.read(settings).any_set or settings.pairing:
            return ""
        names = ", ".join(name.upper() for name in self.lists.opening)
        return words("settings.open", title=self.title, token=self.token.upper(), lists=names)
