"""Whether a notification tells a code that is good for signing in: it begins nothing then, and is shown to no model.

Words for secrets, in every language that has a table, are those of the gate (`Policy.asks_for_secret`). In doubt it is
a code.
"""

from __future__ import annotations

import re
from typing import Final

from agent.guards.policy import Policy
from bot.application.interpret import looks_like_a_code

_TOKEN: Final = re.compile(
    r"(?<![\w.,:/])(?:[A-Za-z]{1,3}-)?\d[\d -]{2,9}\d(?![\w/]|[.,:]\d)|(?<!\w)(?=\w*\d)[A-Z0-9]{4,10}(?!\w)"
)
"""Four to eleven digits, in groups or not, that are no amount, time or date; or capital letters with a digit."""
_SIGN_IN: Final = re.compile(
    r"\b(?:log ?in|sign ?in|verif\w*|confirm\w*|token|tan|2fa|authenti\w*|anmeld\w*|connexion|acceso|войти|вход\w*)\b"
    r"|登录|登入|验证|驗證",
    re.IGNORECASE,
)
"""What such messages say where they name no secret."""


def tells_code(text: str, policy: Policy) -> bool:
    """Whether these words hold a code, or may."""
    if looks_like_a_code(text):
        return True
    return _TOKEN.search(text) is not None and (policy.asks_for_secret(text) or _SIGN_IN.search(text) is not None)
