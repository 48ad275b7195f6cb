"""The container files: linted, and as safe as they say. Running them needs a container engine and its images."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_dockerfile_has_no_fault_that_the_linter_knows() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    told = subprocess.run([linter, "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "")


def test_every_variant_runs_without_rights_that_it_does_not_need() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    del services["workshop"], services["postgres"]
    assert {profile for service in services.values() for profile in service["profiles"]} == {"adb-server", "usb"}
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert "privileged" not in service, name
        assert "ports" not in service, "the console stays on loopback"


def test_the_data_is_in_the_volume_whatever_the_file_of_settings_says() -> None:
    """Any other folder cannot be written there."""
    assert "DATA_DIR=\n" in (ROOT / ".env.example").read_text(encoding="utf-8")
    for name, service in yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"].items():
        if name in {"workshop", "postgres"}:
            continue
        assert service["environment"]["DATA_DIR"] == "/data"
        assert "data:/data" in service["volumes"]


def test_the_database_is_on_loopback_and_waited_for_only_where_it_is_asked_for() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    database = services.pop("postgres")
    assert database["profiles"] == ["postgres"]
    assert [port.rpartition(":")[0] for port in database["ports"]] == ["127.0.0.1:5432"]
    assert "env_file" not in database, "it needs no token"
    assert database["cap_drop"] == ["ALL"]
    assert database["security_opt"] == ["no-new-privileges:true"]
    assert database["healthcheck"]["test"][1] == "pg_isready"
    del services["workshop"]
    for service in services.values():
        assert service["depends_on"] == {"postgres": {"condition": "service_healthy", "required": False}}


def test_the_workshop_has_no_secret_no_network_and_no_data() -> None:
    workshop = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["workshop"]
    assert workshop["network_mode"] == "none"
    assert "env_file" not in workshop
    assert "environment" not in workshop
    assert workshop["volumes"] == ["workshop:/run/opengui-workshop"]
    assert workshop["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in workshop["security_opt"]
    assert workshop["read_only"] is True
    refused = json.loads((ROOT / "docker" / "workshop-seccomp.json").read_text(encoding="utf-8"))["syscalls"][0]
    assert {"bpf", "keyctl", "kexec_load"} <= set(refused["names"])


def test_only_the_program_goes_into_the_image() -> None:
    """A `.env` with tokens in the folder does not reach the image."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert lines[0] == "*"
    assert not any(".env" in line or "data" in line for line in lines[1:])


def test_hub_and_hosts_run_without_rights_that_they_do_not_need() -> None:
    services = yaml.safe_load((ROOT / "compose.fleet.yaml").read_text(encoding="utf-8"))["services"]
    assert set(services) == {"engine", "hub", "config", "host"}
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert "privileged" not in service, name
    assert [name for name, service in services.items() if "ports" in service] == ["engine"], "hosts dial out"
