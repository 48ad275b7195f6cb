"""The Account app: signing in with a user name and a code of six digits."""

from __future__ import annotations

from functools import partial

from devices.virtual_phone.apps.base import App, Page, bottom_button, list_row
from devices.virtual_phone.screen.pieces import Gap, Label, Picture
from devices.virtual_phone.screen.widgets import Box, Widget
from devices.virtual_phone.window_manager import WindowManager


def main(windows: WindowManager) -> Page:
    """Build the first page: who is signed in, or the field for the user name."""
    who = windows.state.account.signed_in
    if who:
        return Page(
            title=windows.say("Account"),
            body=[
                _head(
                    "account_circle",
                    windows.say("Signed in as {who}", who=who),
                    windows.say("This phone may use the account."),
                ),
                list_row(
                    windows.say("Security"), subtitle=windows.say("Last sign-in: today"), icon="shield_check_outline"
                ),
            ],
            bottom=bottom_button(
                windows.say("Sign out"),
                partial(setattr, windows.state.account, "signed_in", ""),
                "sign_out",
                filled=False,
            ),
        )
    return Page(
        title=windows.say("Account"),
        body=[
            _head(
                "account_circle_outline", windows.say("Sign in"), windows.say("Use your user name or e-mail address.")
            ),
            _form([windows.field("user_name", "User name", on_enter=lambda: _next(windows))]),
        ],
        bottom=bottom_button(windows.say("Next"), lambda: _next(windows), "next"),
    )


def code(windows: WindowManager) -> Page:
    """Build the second page: the field for the code that was sent to another phone."""
    wrong = windows.page.arguments.get("wrong") == "yes"
    error: list[Widget] = (
        [Gap(8), Label(windows.say("Wrong code. Try again."), 15, colour="error", identifier="error")] if wrong else []
    )
    name = windows.page.arguments["user"]
    return Page(
        title=windows.say("Verification code"),
        on_back=windows.close_page,
        body=[
            _head(
                "message_lock_outline",
                windows.say("Enter the 6-digit code"),
                windows.say("We sent a code to the phone of {name}.", name=name),
            ),
            _form([windows.field("code", "6-digit code", on_enter=lambda: _verify(windows)), *error]),
        ],
        bottom=bottom_button(windows.say("Verify"), lambda: _verify(windows), "verify"),
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


def _next(windows: WindowManager) -> None:
    name = windows.value("user_name").strip()
    if name:
        windows.open("code", user=name)
        windows.focus("code")


def _verify(windows: WindowManager) -> None:
    account = windows.state.account
    if windows.value("code").strip() == windows.state.sign_in_code:
        account.signed_in = windows.page.arguments["user"]
        windows.restart()
    else:
        account.wrong_codes += 1
        windows.page.fields["code"] = ""
        windows.page.caret = 0
        windows.page.arguments["wrong"] = "yes"


_PAGES = {"main": main, "code": code}
APP = App("account", "org.example.account", ".SignInActivity", "Account", "account_key", "teal", _PAGES)
