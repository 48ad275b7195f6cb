"""The strategy for signing in: enters the user name, goes on to the next page, and has the person enter the code or
password.
"""

from __future__ import annotations

from agent.actions import AskUser
from agent.offline.clauses import Open, SignIn
from agent.offline.matching import contains, folded
from agent.offline.progress import answer_of
from agent.offline.strategies.tapping import launch_known, touched
from agent.offline.strategies.typing import ask_secret, field_of, fill, secret_field
from agent.offline.view import Done, Move, Page, View
from agent.offline.vocabulary import labels
from agent.scene import ScreenElement

MAX_SECRETS = 2
"""How often a code or password is asked for. A wrong one may be a slip; after the second one, the clause fails."""


def sign_in_next(clause: SignIn, view: View) -> Move:
    """Return the next move of a sign-in clause, which depends on what the page asks for now."""
    page = view.page
    asks = field_of(page, "user") is not None or secret_field(page) is not None
    if view.index and not isinstance(view.before, Open) and not view.staged("open") and not asks:
        return launch_known(view, "account")
    if not view.index and not view.worked("open"):
        return launch_known(view, "account")
    name = clause.name or answer_of(view.steps)
    if (field := secret_field(page)) is not None:
        return _secret(view, field)
    user = field_of(page, "user")
    if user is None and page.says(*labels().signs["signed_in"]):
        return Done() if _is_user(page, name) else view.stuck("other_user", name=_shown_user(page))
    if user is not None or (view.worked("user") and not view.worked("secret")):
        return _user(view, user, name)
    if not view.worked("secret") and not view.staged("onward") and (button := _button(page)) is not None:
        return touched(view, button, stage="onward")
    return view.stuck("not_signed_in" if view.worked("secret") else "no_sign_in")


def _user(view: View, field: ScreenElement | None, name: str) -> Move:
    if field is not None and not view.worked("user"):
        if not name:
            return view.act(AskUser(question=view.words("question_user")), "ask", "asking")
        return fill(view, field, name, "user")
    button = _button(view.page)
    if button is None or len(view.staged("onward")) > 1:
        return view.stuck("not_signed_in")
    return touched(view, button, stage="onward")


def _secret(view: View, field: ScreenElement) -> Move:
    what = _secret_name(view, field)
    asked = view.staged("secret")
    if asked and asked[-1].worked and not view.page.says(*labels().signs["wrong"]) and not view.since("secret"):
        button = _button(view.page)
        return touched(view, button, stage="onward") if button is not None else view.stuck("not_signed_in")
    if len(asked) >= MAX_SECRETS:
        return view.stuck("secret_refused", name=what)
    return ask_secret(view, field, what, submit=True)


def _secret_name(view: View, field: ScreenElement) -> str:
    code = "password" not in field.states and field_of(view.page, "password") is not field
    return view.words("a_code" if code else "a_password")


def _button(page: Page) -> ScreenElement | None:
    words = {folded(word) for word in labels().buttons["onward"]}
    return next((each for each in page.named if folded(each.text) in words and page.tappable(each)), None)


def _is_user(page: Page, name: str) -> bool:
    return not name or any(contains(each.text, name) for each in page.named)


def _shown_user(page: Page) -> str:
    signs = labels().signs["signed_in"]
    return next((each.text for each in page.named if any(contains(each.text, sign) for sign in signs)), "")
