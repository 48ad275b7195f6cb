"""Which words of a task let a file leave the phone."""

from __future__ import annotations

import pytest

from agent.guards.policy import Policy

PDF, PHOTO = "/sdcard/Download/report.pdf", "/sdcard/DCIM/Camera/IMG_1.jpg"


def verdict(path: str, task: str) -> str:
    return Policy.default().file_gate(path, asked=task).verdict


@pytest.mark.parametrize(
    ("path", "task"),
    [
        (PDF, "Send me the file report.pdf"),
        (PDF, "send me /sdcard/Download/REPORT.pdf"),
        (PDF, "Open Chrome, download the bill. Then send me the PDF here."),
        (PDF, "send me the newest file in Download"),
        (PHOTO, "Take a photo, then send the picture to me"),
        (PHOTO, "upload the last screenshot to this chat"),
        (PHOTO, "把最新的照片发给我"),
        ("/sdcard/报告.pdf", "把报告.pdf发给我"),
        ("/sdcard/Download/Invoice-2026.pdf", "Send me the invoice file"),
        ("/sdcard/Invoices/17.pdf", "Send me the invoice file"),
        ("/sdcard/Download/invoice.pdf", "send me the PDF invoice from my phone, please"),
        ("/sdcard/Download/发票.pdf", "把发票文件发给我"),
        (PHOTO, "send me the photo of the cat"),
        ("/sdcard/Pictures/Screenshots/Screenshot_20260101-120000_Settings.png", "send me a screenshot of the map"),
    ],
)
def test_a_file_that_was_asked_for_goes_by_itself(path: str, task: str) -> None:
    assert verdict(path, task) == "allow"


@pytest.mark.parametrize(
    ("path", "task"),
    [
        (PDF, "open settings"),
        (PDF, "read me the newest file"),
        (PDF, "send me the newest photo"),
        (PDF, "send me other-report.pdf"),
        (PDF, "send me the file report.pdf.txt"),
        ("/sdcard/x-report.pdf", "send me report.pdf"),
        (PHOTO, "send the photo to Anna"),
        (PHOTO, "send Anna the photo"),
        (PHOTO, "take a photo but do not send me the file"),
        (PHOTO, "tell me how many photos there are. Send Ben a message"),
        (PHOTO, "不要把照片发给我"),
        (PHOTO, ""),
    ],
)
def test_every_other_file_waits_for_a_person(path: str, task: str) -> None:
    """Seen failing with `asked_for` always true; single lines with the look at names, kinds and negations taken out."""
    assert verdict(path, task) == "approve"


CAT = "/sdcard/Pictures/cat.jpg"


@pytest.mark.parametrize(
    ("path", "task"),
    [
        (CAT, "Send me the invoice file"),
        (CAT, "Send me the file"),
        (CAT, "Send me the newest file in Download"),
        (CAT, "Send me the picture of the invoice"),
        (CAT, "send me the invoice picture"),
        (PHOTO, "send me the newest photo in Download"),
        (PDF, "send me the PDF invoice"),
        (PDF, "send me the invoice PDF"),
        (PDF, "send me the file called invoice"),
        (PDF, "Open the mail from Anna and send me the contract document"),
        (CAT, "把发票文件发给我"),
        (CAT, "把文件发给我"),
    ],
)
def test_a_file_of_another_name_or_folder_waits(path: str, task: str) -> None:
    """Seen failing before: a kind of file was all that was looked at, and "file" is every kind."""
    assert verdict(path, task) == "approve"


def test_a_policy_that_says_nothing_of_files_asks_for_each() -> None:
    gate = Policy({"approve": {}}).file_gate(PHOTO, asked="send me the photo")
    assert gate.verdict == "approve"
    assert "does not ask" in gate.reason
