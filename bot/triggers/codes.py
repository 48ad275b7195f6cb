"""Recognises notifications that contain a code or link for signing in. They start no task and are shown to no model.

The words for secrets (`Policy.asks_for_secret`) cover every language that has a table. Whether a number or word is a
code depends on what the text says about signing in; in doubt it counts as one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from agent.guards.policy import Policy
from bot.application.interpret import looks_like_a_code

_SIGN_IN: Final = re.compile(
    r"\b(?:log(?:ging)?[ -]?(?:in|on)|sign(?:ing)?[ -]?in|verif\w*|tokens?|tan|2fa|authenticat\w*"
    r"|passwordless|magic link"
    r"|confirm (?:that )?(?:it'?s you|you|your (?:identity|e-?mail|account|device|phone))"
    r"|anmeld\w*|einlog\w*|einzuloggen|connexion|connect(?:er|ez)|acceso|acceder|(?:iniciar|inicio de) sesi[oó]n"
    r"|accedi|accedere|accesso|iniciar sess[aã]o|entrar na (?:sua )?conta|inlogg\w*|aanmeld\w*|zalog\w*|logowani\w*"
    r"|přihlá\w*|logga in|logg inn|log ind|kirjaudu\w*|autentific\w*|bejelentkez\w*|вход\w*|войти|войдите|авториз\w*"
    r"|увійти|вхід|giriş|masuk|đăng nhập"
    r"|\w*(?:lösenord|passord|passwort|kennwort|wachtwoord|koodi|jelszó)\w*)\b"
    r"|登录|登入|登陆|验证|驗證|ログイン|サインイン|로그인|인증"
    r"|تسجيل الدخول|لاگین|ورود به|התחבר|लॉग ?इन|เข้าสู่ระบบ|σύνδεση",
    re.IGNORECASE,
)
"""Phrases in such messages that name no secret."""
_HARMLESS: Final = re.compile(
    r"\b(?:tracking|order|booking|reservation|pick-?up|collection|parcel|ship(?:ping|ment)|flight|invoice|reference"
    r"|customer)[ -]codes?\b|\b(?:sendungs|bestell|buchungs|abhol|kunden)-?codes?\b"
    r"|\bcodes? de (?:suivi|commande|retrait)\b"
    r"|\bc[oó]digos? de (?:seguimiento|rastreo|rastreamento|reserva|pedido|recogida|retirada)\b"
    r"|\bcodice (?:di tracciamento|ordine|prenotazione)\b|\bкод\w* (?:отслеживания|заказа|бронирования|получения)\b",
    re.IGNORECASE,
)
"""Codes for finding or collecting things."""
_NUMBER: Final = re.compile(
    r"(?<![\w.,:/+#№€$£¥₹])(?:[A-Za-z]{1,3}-)?\d(?:[ .·–-]?\d){3,10}"
    r"(?![\w/]|[.,:]\d|\s?(?:[€$£¥₹%]|(?:eur|usd|gbp|rmb)\b|元|円))",
    re.IGNORECASE,
)
"""Four to eleven digits, grouped or not, that are neither an amount nor a time."""
_DATE: Final = re.compile(r"(?:0?[1-9]|[12]\d|3[01])([.-])(?:0?[1-9]|1[0-2])\1(?:\d\d)?\d\d|\d{4}([.-])[01]\d\2[0-3]\d")
_MIXED: Final = re.compile(
    r"(?<![\w#№./-])(?=\w*\d)(?=\w*[a-z])(?!\d+(?:min|mins|sec|secs|hrs|days|gb|mb)\b)[a-z0-9]{4,10}(?![\w/]|[.-]\w)",
    re.IGNORECASE,
)
_GROUPS: Final = re.compile(
    r"(?<![\w#№/-])(?:[A-Z0-9]{3,6}(?:-[A-Z0-9]{3,6})+|(?=[a-z-]*\d)[a-z0-9]{3,6}(?:-[a-z0-9]{3,6})+)(?![\w-])"
)
_WORD: Final = r"(?:[A-Z]{4,10}|[a-z]{4,10})"
_SAID: Final = re.compile(
    rf"(?:[:：=]|\b(?:is|ist|lautet|est|es|é|è|jest|je|är|er|on|este|adalah|ialah|là)\b|是|为|為|は)\s*"
    rf"[\"“”„«「'*]*{_WORD}[\"”“»」'*.。!]*\s*$",
    re.MULTILINE,
)
"""A word on its own after what it is."""
_LINE: Final = re.compile(r"^\s*[A-Z]{4,10}\s*$", re.MULTILINE)
_IS_IT: Final = re.compile(
    rf"^\W*(?:\[[^\]]*\]\s*)?{_WORD}\s+(?:is|ist|est|es|é|è|jest|är|er|on|adalah|là)\b", re.MULTILINE
)
"""A word on its own before what it is."""
_LINK: Final = re.compile(r"\bhttps?://\S+", re.IGNORECASE)
_LETS_IN: Final = re.compile(
    r"token|otp|magic|log-?in|sign-?in|passwordless|auth|sso|verif|(?:reset|forgot)[-_/]?p|invite", re.IGNORECASE
)
_KEY: Final = re.compile(r"(?<![A-Za-z0-9_-])(?=[\w.-]*\d)[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+)*|[A-Za-z0-9_-]{20,}")
"""A part of an address that no person would write."""


def tells_code(text: str, policy: Policy) -> bool:
    """Return whether the text contains, or may contain, a code or link with which somebody can sign in."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if looks_like_a_code(plain):
        return True
    links = _LINK.findall(plain)
    words = _HARMLESS.sub(" ", _LINK.sub(" ", plain))
    is_about_it = policy.asks_for_secret(words) or _SIGN_IN.search(words) is not None
    if any(
        _KEY.search(link.partition("//")[2].partition("/")[2]) for link in links if is_about_it or _LETS_IN.search(link)
    ):
        return True
    if not is_about_it:
        return False
    return any(pattern.search(words) for pattern in (_MIXED, _GROUPS, _SAID, _LINE, _IS_IT)) or any(
        not _DATE.fullmatch(found[0]) for found in _NUMBER.finditer(words)
    )
