"""Account: a user name, a six-digit code, then signed in."""

from __future__ import annotations

from devices.simulator.apps.base import App, Page, list_row
from devices.simulator.desk import Desk
from devices.simulator.screen.pieces import Button, Gap, Label, Picture
from devices.simulator.screen.widgets import Box, Widget


def main(desk: Desk) -> Page:
    """Who is signed in, or the first step of signing in."""
    who = desk.state.account.signed_in
    if who:
        return Page(
            title=desk.say("Account"),
            body=[
                _head(
                    "account_circle",
                    desk.say("Signed in as {who}", who=who),
                    desk.say("This phone may use the account."),
                ),
                list_row(desk.say("Security"), subtitle=desk.say("Last sign-in: today"), icon="shield_check_outline"),
            ],
            bottom=Button(
                desk.say("Sign out"), lambda: _sign_out(desk), "sign_out", filled=False, margin=(16, 8, 16, 12)
            ),
        )
    return Page(
        title=desk.say("Account"),
        body=[
            _head("account_circle_outline", desk.say("Sign in"), desk.say("Use your user name or e-mail address.")),
            _form([desk.field("user_name", "User name", on_enter=lambda: _next(desk))]),
        ],
        bottom=Button(desk.say("Next"), lambda: _next(desk), "next", margin=(16, 8, 16, 12)),
    )


def code(desk: Desk) -> Page:
    """The second step: a code that was sent somewhere else."""
    wrong = desk.page.arguments.get("wrong") == "yes"
    error: list[Widget] = (
        [Gap(8), Label(desk.say("Wrong code. Try again."), 15, colour="error", identifier="error")] if wrong else []
    )
    name = desk.page.arguments["user"]
    return Page(
        title=desk.say("Verification code"),
        on_back=desk.close_page,
        body=[
            _head(
                "message_lock_outline",
                desk.say("Enter the 6-digit code"),
                desk.say("We sent a code to the phone of {name}.", name=name),
            ),
            _form([desk.field("code", "6-digit code", on_enter=lambda: _verify(desk)), *error]),
        ],
        bottom=Button(desk.say("Verify"), lambda: _verify(desk), "verify", margin=(16, 8, 16, 12)),
    )


def _head(icon: str, title: str, text: str) -> Widget:
    return Box(
        children=[
            Picture(icon, 64, "primary"),
            Gap(10),
            Label(title, 26, 400, align="centre", identifier="headline"),
            Label(text, 16, colour="muted", align="centre"),
        ],
        gap=4,
        padding=(24, 24, 24, 20),
    )


def _form(children: list[Widget]) -> Widget:
    return Box(children=children, padding=(24, 0, 24, 0))


def _next(desk: Desk) -> None:
    name = desk.value("user_name").strip()
    if name:
        desk.open("code", user=name)
        desk.focus("code")


def _verify(desk: Desk) -> None:
    account = desk.state.account
    if desk.value("code").strip() == desk.state.sign_in_code:
        account.signed_in = desk.page.arguments["user"]
        desk.restart()
    else:
        account.wrong_codes += 1
        desk.page.fields["code"] = ""
        desk.page.caret = 0
        desk.page.arguments["wrong"] = "yes"


def _sign_out(desk: Desk) -> None:
    desk.state.account.signed_in = ""


APP = App(
    "account",
    "org.example.account",
    "org.example.account.SignInActivity",
    "Account",
    "account_key",
    "teal",
    {"main": main, "code": code},
)
