"""Which questions ask for a password, PIN, code or recovery phrase, in every language of the lexicon; which do not."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.guards.lexicon import tables
from agent.guards.policy import Policy

ASKS = {
    "en": [
        "What is your password?",
        "Please tell me the 6-digit CODE that came.",
        "Which passwords do you use?",
        "Your P\u200bIN, please",
        "Which zip code, and which code came by SMS?",
        "Please enter the 12 recovery words of your wallet.",
        "What is the PIN code of the card?",
        "Can you give me your login credentials?",
        "Which passcode unlocks this chat?",
        "What's the CVV on the back?",
        "Should I pin the chat, and what is your PIN?",
    ],
    "zh": [
        "请输入验证码",
        "你的密码是什么？",
        "請輸入驗證碼",
        "您的密碼是？",
        "PIN是多少？",
        "请提供助记词",
        "PIN 码？",
    ],
    "de": [
        "Wie lautet dein Passwort für das WLAN?",
        "Bitte gib mir den sechsstelligen Bestätigungscode aus der SMS.",
        "Welches Kennwort soll ich eingeben?",
        "Wie ist deine PIN?",
        "Wie lautet die TAN?",
        "Wie lauten die zwölf Wiederherstellungswörter?",
        "Welche Postleitzahl und welcher Code?",
    ],
    "fr": [
        "Quel est ton mot de passe ?",
        "Quel est le code reçu par SMS ?",
        "Quelle est la phrase de récupération de votre portefeuille ?",
        "Quel est votre code PIN ?",
    ],
    "es": [
        "¿Cuál es tu contraseña?",
        "¿Qué código de verificación te ha llegado?",
        "Dime la clave del wifi",
        "¿Cuáles son tus palabras de recuperación?",
    ],
    "pt": ["Qual é a sua senha?", "Qual é o código que chegou por SMS?", "Qual é a palavra-passe?"],
    "it": ["Qual è la tua password?", "Qual è il codice di verifica?", "Qual è la frase di recupero?", "Che PIN hai?"],
    "nl": ["Wat is je wachtwoord?", "Welke verificatiecode heb je gekregen?", "Wat is de code uit de sms?"],
    "pl": ["Jakie jest twoje hasło?", "Podaj kod z SMS-a", "Jaki jest kod PIN?"],
    "cs": ["Jaké je tvoje heslo?", "Jaký kód přišel v SMS?", "Zadejte prosím PIN"],
    "sv": ["Vad är ditt lösenord?", "Vilken kod kom med sms?", "Vad är din pinkod?"],
    "nb": ["Hva er passordet ditt?", "Hvilken kode fikk du på SMS?"],
    "da": ["Hvad er din adgangskode?", "Hvilken kode fik du på sms?"],
    "fi": ["Mikä on salasanasi?", "Mikä koodi tuli tekstiviestillä?", "Mikä on tunnuslukusi?"],
    "ro": ["Care este parola ta?", "Care este codul primit prin SMS?", "Ce cod PIN ai?"],
    "hu": ["Mi a jelszavad?", "Mi a jelszó?", "Milyen kódot kaptál SMS-ben?"],
    "ru": ["Какой у тебя пароль?", "Введите код из СМС", "Какой ПИН-код карты?", "Назови секретную фразу"],
    "uk": ["Який у тебе пароль?", "Який код прийшов в SMS?", "Який ПІН?"],
    "el": ["Ποιος είναι ο κωδικός πρόσβασης;", "Ποιον κωδικό έλαβες με SMS;"],
    "tr": ["Şifren nedir?", "SMS ile gelen kod nedir?", "Parolanız nedir?"],
    "id": ["Apa kata sandi Anda?", "Apa kode yang dikirim lewat SMS?"],
    "vi": ["Mật khẩu của bạn là gì?", "Mã xác nhận trong tin nhắn là gì?"],
    "fil": ["Ano ang password mo?", "Ano ang code na natanggap mo?"],
    "ar": ["ما هي كلمة المرور؟", "ما هو الرمز الذي وصلك؟", "ما هو الرقم السري؟"],
    "fa": ["رمز عبور شما چیست؟", "کد پیامک شده چیست؟"],
    "he": ["מה הסיסמה שלך?", "מה הקוד שקיבלת ב-SMS?"],
    "hi": ["आपका पासवर्ड क्या है?", "SMS में आया कोड बताइए", "आपका पिन क्या है?"],
    "bn": ["আপনার পাসওয়ার্ড কী?", "এসএমএসে আসা কোডটি কী?"],
    "ja": ["パスワードは何ですか？", "SMSで届いたコードを教えてください", "暗証番号は？"],
    "ko": ["비밀번호가 뭐예요?", "문자로 온 인증번호를 알려 주세요", "PIN번호는?"],
    "th": ["รหัสผ่านของคุณคืออะไร", "รหัส OTP ที่ได้รับคืออะไร"],
    "sw": ["Nenosiri lako ni nini?", "Msimbo uliotumwa kwa SMS ni upi?"],
    "ms": ["Apakah kata laluan anda?", "Apakah kod yang dihantar melalui SMS?"],
    "ur": ["آپ کا پاس ورڈ کیا ہے؟", "ایس ایم ایس والا کوڈ کیا ہے؟"],
}
ASKS_FOR_SOMETHING_ELSE = {
    "en": [
        "Which zip code do you live in?",
        "Is there a promo code?",
        "Which colour?",
        "Which code style do you prefer?",
        "What is the postal code?",
        "Which area code should I dial?",
        "Shall I scan the QR code?",
        "Which PIN board should I use?",
        "Should I pin the message?",
        "Which chat should I pin?",
        "Do you have a discount code?",
        "What is the dress code?",
        "Which opinion counts?",
        "Shall I start a secret chat with Bob?",
        "Is it a one-time payment?",
        "Which e-mail address should I use for verification?",
        "How much codeine is in it?",
        "Which tan jacket?",
    ],
    "zh": ["您想要什么颜色？", "邮政编码是多少？", "要扫描二维码吗？", "有优惠码吗？"],
    "de": ["Welche Postleitzahl?", "Hast du einen Gutscheincode?", "Soll ich den QR-Code scannen?", "Wie warm ist es?"],
    "fr": ["Quel est le code postal ?", "As-tu un code promo ?", "Quel code de réduction ?", "Quelle couleur ?"],
    "es": [
        "¿Cuál es el código postal?",
        "¿Tienes un código de descuento?",
        "¿Qué palabra clave busco?",
        "¿Es tan grande?",
        "¿Escaneo el código QR?",
    ],
    "pt": ["Qual é o código postal?", "Tem um código de desconto?", "Qual cor?"],
    "it": ["Qual è il codice postale?", "Hai un codice sconto?", "Quale parola devo cercare?"],
    "nl": ["Wat is je postcode?", "Heb je een kortingscode?"],
    "pl": ["Jaki jest kod pocztowy?", "Czy masz kod rabatowy?"],
    "cs": ["Jaké je PSČ?", "Máte slevový kód?"],
    "sv": ["Vilket postnummer?", "Har du en rabattkod?", "Ska jag skanna QR-koden?"],
    "nb": ["Hvilket postnummer?", "Har du en rabattkode?"],
    "da": ["Hvilket postnummer?", "Har du en rabatkode?"],
    "fi": ["Mikä on postinumero?", "Onko sinulla alennuskoodia?"],
    "ro": ["Care este codul poștal?", "Ce culoare?"],
    "hu": ["Mi az irányítószám?", "Van kuponkódod?"],
    "ru": ["Какой почтовый код?", "Есть промокод?", "Сканировать QR-код?", "Какой пингвин?"],
    "uk": ["Який поштовий індекс?", "Є промокод?"],
    "el": ["Ποιος είναι ο ταχυδρομικός κωδικός;", "Ποιο χρώμα;"],
    "tr": ["Posta kodu nedir?", "İndirim kodu var mı?"],
    "id": ["Apa kode posnya?", "Apakah ada kode promo?"],
    "vi": ["Bạn có mã giảm giá không?", "Màu nào?"],
    "fil": ["Ano ang zip code?", "Anong kulay?"],
    "ar": ["ما هو الرمز البريدي؟", "هل لديك كود خصم؟"],
    "fa": ["کدام رنگ؟", "کد پستی چیست؟"],
    "he": ["מה המיקוד?", "איזו נקודה?", "יש קוד הנחה?"],
    "hi": ["पिन कोड क्या है?", "कौन सा रंग?", "आपकी ओपिनियन क्या है?"],
    "bn": ["পোস্টকোড কত?", "কোন রং?"],
    "ja": ["郵便番号は？", "QRコードを読み取りますか？", "どのレコードですか？", "クーポンコードはありますか？"],
    "ko": ["우편번호가 뭐예요?", "QR 코드를 스캔할까요?", "할인 코드가 있나요?"],
    "th": ["รหัสไปรษณีย์คืออะไร", "มีรหัสส่วนลดไหม"],
    "sw": ["Msimbo wa posta ni upi?", "Rangi gani?"],
    "ms": ["Apakah poskod anda?", "Ada kod promosi?"],
    "ur": ["پوسٹل کوڈ کیا ہے؟", "کون سا رنگ؟"],
}


@cache
def policy() -> Policy:
    return Policy.default()


@pytest.mark.parametrize("language", ASKS)
def test_questions_for_secrets(language: str) -> None:
    """Seen failing with the words of the policy alone: in 33 of 34 languages."""
    assert [text for text in ASKS[language] if not policy().asks_for_secret(text)] == []


@pytest.mark.parametrize("language", ASKS_FOR_SOMETHING_ELSE)
def test_questions_for_something_else(language: str) -> None:
    """Seen failing with the words of the policy alone: "code postal", "Which PIN board?", "Which code style?"."""
    assert [text for text in ASKS_FOR_SOMETHING_ELSE[language] if policy().asks_for_secret(text)] == []


def test_every_language_of_the_lexicon_has_both() -> None:
    assert set(ASKS) == set(ASKS_FOR_SOMETHING_ELSE) == set(tables())


@given(st.text(max_size=200))
def test_no_text_hides_the_question_behind_it(before: str) -> None:
    """Whatever stands before it in a sentence of its own, a plain question for a password is one."""
    assert policy().asks_for_secret(f"{before}\nxyz. What is your password?")
