"""The manifest of a chat platform: everything that the rest of the program knows about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import SecretStr

from bot.config.installation import lack_of
from bot.config.settings import Settings
from bot.config.settings_file import FILED
from bot.domain.address import Address, Person, Place
from bot.domain.chat import Connected, Intake, Record
from bot.domain.finding import Finding
from bot.people.access import Lists
from bot.people.subjects import Audience, Naming
from bot.texts import words
from devices.extras import Extra, is_installed

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class ListFields:
    """The names of the settings that list who may use the bot on a platform; "" for a list that the platform does not
    have.
    """

    users: str
    admins: str
    chats: str = ""
    guilds: str = ""

    def read(self, settings: Settings) -> Lists:
        """Return the lists with their values in these settings."""
        guilds, chats, users, admins = (
            frozenset(getattr(settings, name) if name else ())
            for name in (self.guilds, self.chats, self.users, self.admins)
        )
        return Lists(guilds, chats, users, admins)

    @property
    def opening(self) -> tuple[str, ...]:
        """The names of the settings whose lists let people in. The admin list is not one: by itself it lets
        nobody in.
        """
        return tuple(name for name in (self.guilds, self.chats, self.users) if name)


@dataclass(frozen=True, slots=True)
class Asked:
    """One setting that `opengui setup` asks for."""

    field: str
    prompt: Callable[[], str]
    """Returns the question, in the language of the terminal."""
    secret: bool = False
    """Whether the answer is hidden while it is typed."""
    choices: Callable[[Mapping[str, str]], Awaitable[Sequence[str]]] | None = None
    """Suggests values, given the answers of this part so far; anything else can be typed as well."""


@dataclass(frozen=True, slots=True)
class ChatContext:
    """The callbacks that the service hands to a chat when it is made."""

    intake: Intake
    """Receives everything that people do in the chat."""
    is_allowed: Callable[[Person, Place], bool]
    """Whether a person may use the bot at a place; only then are their files downloaded."""
    audiences: Callable[[], Sequence[Audience]]
    """Returns who should see a menu of commands; called again for each refresh."""
    on_moved: Callable[[Address, str], Awaitable[None]]
    """Called when a chat has got a new id, with its old address and the new id."""
    on_lost: Callable[[Address], Awaitable[None]]
    """Called when nothing can be sent to a place any more."""
    record: Record
    """Checked before anything is sent to the platform, and before a message is confirmed to it."""


def filed_by(platforms: Iterable[Platform[Any]]) -> frozenset[str]:
    """Return the names of all settings that a settings file may contain if these platforms are installed."""
    return FILED.union(*(platform.connected_by for platform in platforms))


@dataclass(frozen=True, slots=True)
class Platform(Generic[S]):
    """A chat platform. Only the package that defines one mentions the platform by name. `settings` is the class with
    the platform's own settings; their names begin with `name` and "_", else ValueError is raised. Importing a manifest
    does not load the platform's library; `connect` does.

    For example:

        IRC = Platform(
            name="irc", title="IRC", settings=IrcSettings, token="irc_token",
            lists=ListFields("irc_users", "irc_admins"),
            connect=connect, check=check, asked=(Asked("irc_token", prompt, secret=True),), about=about,
        )
    """

    name: str
    """The platform in addresses and rights: lower case, and never changed."""
    title: str
    """The name that people read, the same in every language."""
    settings: type[S]
    token: str
    """The name of the setting (a SecretStr) without which the platform is not used."""
    lists: ListFields
    connect: Callable[[S, ChatContext], Connected]
    """Makes the chat; it connects when its `run` is awaited."""
    check: Callable[[S], Awaitable[list[Finding]]]
    """Asks the platform whether its settings work; called only if `refusal` returns "". It never raises and never
    shows a token.
    """
    asked: tuple[Asked, ...]
    """What setup asks, in order; if the first question gets no answer, the rest are skipped."""
    about: Callable[[], str]
    """Says where to get the token, for setup."""
    closing: Callable[[S], str] = lambda _settings: ""
    """What setup says at the end, such as how to invite the bot."""
    naming: Naming = field(default_factory=Naming)
    """How admins refer to people on this platform."""
    secrets: tuple[str, ...] = ()
    """Regular expressions that match the platform's tokens, so that logs never contain any."""
    extra: Extra | None = None
    """The optional dependencies that the platform needs."""
    chatty: tuple[str, ...] = ()
    """Loggers of its library that are too verbose, or that log people's messages."""

    loads: tuple[str, ...] = ()
    """The modules that `connect` imports; a standby service imports them in advance."""

    def __post_init__(self) -> None:
        own = set(self.settings.model_fields) - set(Settings.model_fields)
        if strange := sorted(name for name in own if not name.startswith(f"{self.name}_")):
            raise ValueError(f"settings of {self.name} must begin with {self.name}_, unlike {', '.join(strange)}")

    @property
    def connected_by(self) -> tuple[str, ...]:
        """The names of the platform's settings that the console can change: those that setup asks for, and
        the lists.
        """
        lists = (self.lists.guilds, self.lists.chats, self.lists.users, self.lists.admins)
        return tuple(dict.fromkeys((*(one.field for one in self.asked), *filter(None, lists))))

    def is_set(self, settings: Settings) -> bool:
        """Return whether the platform's token is set."""
        token = getattr(settings, self.token)
        return isinstance(token, SecretStr) and bool(token.get_secret_value())

    def refusal(self, settings: Settings) -> str:
        """Return why the platform cannot be started although its token is set; "" if it can be started or has
        no token.
        """
        if not self.is_set(settings):
            return ""
        if self.extra is not None and not is_installed(self.extra):
            return lack_of(self.extra)
        if self.lists.read(settings).any_set or settings.pairing:
            return ""
        names = ", ".join(name.upper() for name in self.lists.opening)
        return words("settings.open", title=self.title, token=self.token.upper(), lists=names)
