"""Emoji, drawn as icons: the text fonts have none, and a font of colour pictures has ten megabytes."""

from __future__ import annotations

from fonticon_mdi7 import MDI7

# Emoticons, pictographs, transport, supplemental symbols (Unicode blocks), and the older signs among them.
RANGES = ((0x1F000, 0x1FAFF), (0x2600, 0x27BF), (0x2B50, 0x2B55), (0x231A, 0x231B))
# Joiner, presentation, skin tones: they change the sign before them and are none by themselves.
MODIFIERS = {0x200D, 0xFE0F, 0xFE0E, *range(0x1F3FB, 0x1F400)}
ANY = "emoticon_outline"
ICONS = {
    "😀😃😄😁🙂😊☺": "emoticon_happy_outline",
    "😂🤣😆😅": "emoticon_lol_outline",
    "😉😜": "emoticon_wink_outline",
    "😍🥰😘": "emoticon_kiss_outline",
    "😎": "emoticon_cool_outline",
    "😢😭": "emoticon_cry_outline",
    "😞☹🙁😔": "emoticon_sad_outline",
    "😠😡": "emoticon_angry_outline",
    "😐😑": "emoticon_neutral_outline",
    "👋🖐✋": "hand_front_right_outline",
    "👍": "thumb_up_outline",
    "👎": "thumb_down_outline",
    "👌": "hand_okay",
    "✌": "hand_peace",
    "👏🙏🙌": "hand_clap",
    "❤💙💚💛💜🧡🖤💕": "heart",
    "⭐🌟✨": "star",
    "🎉🎊🥳": "party_popper",
    "🎂🍰": "cake_variant",
    "🎁": "gift",
    "🔥": "fire",
    "☀🌞": "white_balance_sunny",
    "☁🌧": "weather_rainy",
    "❄": "snowflake",
    "☂☔": "umbrella",
    "☕🍵": "coffee",
    "🍺🍻": "beer",
    "🍕": "pizza",
    "🍎": "food_apple",
    "🥛": "bottle_soda",
    "🥚": "egg",
    "🚗🚕": "car",
    "🚀": "rocket",
    "✈": "airplane",
    "🏠🏡": "home",
    "📷📸": "camera",
    "📱": "cellphone",
    "💻": "laptop",
    "📅": "calendar",
    "⏰": "alarm",
    "📞☎": "phone",
    "✉📧": "email",
    "🐱": "cat",
    "🐶": "dog",
    "💡": "lightbulb",
    "🎵🎶": "music",
    "✅✔": "check",
    "❌✖": "close",
    "❗⚠": "alert",
    "❓": "help",
}
_BY_SIGN = {sign: name for signs, name in ICONS.items() for sign in signs}


def is_emoji(sign: str) -> bool:
    """Whether this character is an emoji or changes one."""
    number = ord(sign)
    return number in MODIFIERS or any(first <= number <= last for first, last in RANGES)


def pictured(text: str) -> str:
    """Emoji as characters of the icon font, one for each that stands by itself."""
    signs = [sign for sign in text if ord(sign) not in MODIFIERS]
    # The package puts the font's name in front of the character.
    return "".join(str(getattr(MDI7, _BY_SIGN.get(sign, ANY)))[-1] for sign in signs)
