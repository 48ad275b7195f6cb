"""An operator's file: laid over the shipped rules, never in their place."""

from __future__ import annotations

from pathlib import Path

from agent import actions as act
from agent.guards import rules
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds
from devices.phone import Element
from tests.agent.guards.screens import HERE


def verdict(policy: Policy, label: str) -> str:
    button = Element(Bounds(0, 0, 9, 9), text=label, clickable=True)
    return policy.gate(act.Tap(target=HERE), TouchTarget("com.example", button)).verdict


def written(folder: Path, text: str) -> Policy:
    file = folder / "rules.toml"
    file.write_text(text, encoding="utf-8")
    return Policy.load(file)


def test_what_a_file_leaves_out_still_holds(tmp_path: Path) -> None:
    """Seen passing before: a file with one rule had taken all the others away."""
    policy = written(tmp_path, '[approve.x]\nreason = "r"\nlabels = ["engage"]\n[refuse]\npackages = ["com.bank"]\n')
    assert [verdict(policy, word) for word in ("Engage", "Send", "Löschen")] == ["approve"] * 3
    assert policy.closes("com.bank")
    assert policy.app_name("com.whatsapp") == "WhatsApp (com.whatsapp)"
    assert policy.switched_off() == ()


def test_what_a_file_switches_off_can_be_told(tmp_path: Path) -> None:
    install = '[approve.install]\nlabels = ["install"]\nthings = ["install it"]\n'
    policy = written(tmp_path, install + '[confirm]\nharmless = ["cancel", "sure"]\n')
    assert verdict(policy, "Install") == "approve"
    assert verdict(policy, "Enable unknown sources") == "allow"
    off = policy.switched_off()
    assert "approve.install.labels: enable unknown sources" in off
    assert "approve.install.things: +install it" in off
    assert "confirm.harmless: +sure" in off
    assert not any("approve.pay" in line for line in off)
    assert Policy.default().switched_off() == ()


def test_a_copy_of_the_shipped_file_is_the_shipped_file(tmp_path: Path) -> None:
    text = (Path(rules.__file__).parent / "policy.toml").read_text(encoding="utf-8")
    policy = written(tmp_path, text)
    assert policy.switched_off() == ()
    assert verdict(policy, "Pay now") == "approve"
