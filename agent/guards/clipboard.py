"""Recognises buttons that paste the phone's clipboard, because no rule has checked its content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import normalize

from agent.guards.touch_target import TouchTarget, Words

PASTE: Final = frozenset(
    {
        *("paste", "paste as plain text", "paste without formatting", "i-paste"),
        *("粘贴", "粘贴为纯文本", "以纯文本形式粘贴", "貼上", "以純文字貼上"),
        *(
            "einfügen",
            "als klartext einfügen",
            "coller",
            "coller en texte brut",
            "pegar",
            "pegar como texto sin formato",
        ),
        *("colar", "colar como texto simples", "incolla", "incolla come testo normale", "plakken", "klistra in"),
        *("sæt ind", "indsæt", "lim inn", "liitä", "vložit", "prilepiť", "vložiť", "beillesztés", "lipiți", "inserați"),
        *("wklej", "wklej jako zwykły tekst", "вставить", "вставить как обычный текст", "вставити", "поставяне"),
        *("залепи", "налепи", "nalepi", "zalijepi", "prilepi", "įklijuoti", "ielīmēt", "kleebi", "enganxa"),
        *("επικόλληση", "yapıştır", "הדבקה", "הדבק", "لصق", "جای‌گذاری", "پیسٹ کریں", "चिपकाएं", "पेस्ट करें"),
        *("পেস্ট করুন", "ஒட்டு", "అతికించు", "貼り付け", "貼り付ける", "ペースト", "붙여넣기", "วาง", "dán"),
        *("tempel", "tampal", "bandika"),
    }
)
"""The complete captions of such buttons in Android's languages (the framework string `paste`)."""
_CAPTIONS: Final = frozenset(each.casefold() for each in PASTE)


def pastes_unknown(spot: TouchTarget, said: Iterable[Words]) -> bool:
    """Whether a touch pastes the phone's clipboard. `said` are the labels that the touch may trigger."""
    if spot.target is not None and spot.target.editable:
        return False
    # Accents are kept: without them, the Vietnamese word is the name Dan.
    return any(normalize("NFC", " ".join(each.label.split())).casefold().strip(" .…") in _CAPTIONS for each in said)
