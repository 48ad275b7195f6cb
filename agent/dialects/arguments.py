"""The arguments of a written call, taken one by one; what is left over at the end is an error."""

from __future__ import annotations

from agent.dialects.base import BadReply
from agent.dialects.call_syntax import Call, Value


class Arguments:
    """Arguments of one call. Each is taken once, by one of its names or by its place."""

    def __init__(self, call: Call) -> None:
        self._action = call.name
        self._named = dict(call.named)
        self._positional = list(call.positional)

    def named_action(self, name: str) -> None:
        """Call the action by the name that the model knows, in every reason given later."""
        self._action = name

    def take(self, *names: str, by_place: bool = True) -> Value:
        """The value under the first of the names that is there, else the next one without a name, else None."""
        for name in names:
            if name in self._named:
                return self._named.pop(name)
        return self._positional.pop(0) if by_place and self._positional else None

    def rest_by_place(self) -> tuple[Value, ...]:
        """Take all values that have no name."""
        rest, self._positional = tuple(self._positional), []
        return rest

    def text(self, *names: str) -> str:
        """A text that must be there and must not be empty. Raises BadReply."""
        text = self.optional_text(*names)
        if not text:
            raise BadReply(f"{self._action} needs a text in {names[0]}, and it must not be empty.")
        return text

    def optional_text(self, *names: str, by_place: bool = True) -> str:
        """A text, "" when it is not there. Raises BadReply for a value that is no text."""
        value = self.take(*names, by_place=by_place)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise BadReply(f"{names[0]} of {self._action} must be a text in quotes.")
        return value

    def end(self) -> None:
        """Nothing may be left. Raises BadReply: a leftover often means that a quote in a text was not escaped."""
        if self._named:
            raise BadReply(
                f"{self._action} does not take {', '.join(self._named)}. Escape quotes inside a text with a backslash."
            )
        if self._positional:
            raise BadReply(
                f"{self._action} has more values than it takes. Escape quotes inside a text with a backslash."
            )
