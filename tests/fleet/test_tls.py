"""Hub and host over TLS, by its own port and by WebSocket, with real certificates."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

import pytest

from tests.end_to_end.test_telegram import BLUETOOTH, bluetooth_is_on, town
from tests.fixtures.adb import AdbServer
from tests.fleet.engine import Way
from tests.fleet.place import fleet_place_with

pytestmark = [pytest.mark.fleet, pytest.mark.slow]


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def certified(directory: Path, scheme: Literal["tls", "wss"]) -> tuple[Way, Path]:
    """A server certificate for localhost, and that of the authority that has signed it."""
    authority, ca_key = directory / "ca.pem", directory / "ca.key"
    key, asked, signed, names = (directory / name for name in ("key.pem", "asked.csr", "cert.pem", "names"))
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(
        "req", "-x509", *made, "-keyout", str(ca_key), "-out", str(authority), "-days", "2", "-subj", "/CN=an authority"
    )
    openssl("req", *made, "-keyout", str(key), "-out", str(asked), "-subj", "/CN=localhost")
    names.write_text("subjectAltName=DNS:localhost\n")
    openssl(
        *("x509", "-req", "-in", str(asked), "-CA", str(authority), "-CAkey", str(ca_key), "-CAcreateserial"),
        *("-out", str(signed), "-days", "2", "-extfile", str(names)),
    )
    return Way(scheme, signed, key), authority


@pytest.mark.parametrize("scheme", ["tls", "wss"])
async def test_a_task_is_done_over_tls_and_who_does_not_know_the_certificate_is_told_so(
    adb_server: AdbServer, tmp_path: Path, scheme: Literal["tls", "wss"]
) -> None:
    way, authority = certified(tmp_path, scheme)
    async with fleet_place_with(adb_server, tmp_path, way=way) as place:
        place.settings["SSL_CERT_FILE"] = str(authority)
        assert place.engine is not None
        assert place.engine.url.startswith(f"{scheme}://")
        async with town(*BLUETOOTH) as here, place.service(**here.settings):
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
            await here.bot_says("It is done.", here.group)
            assert bluetooth_is_on(place)
            code, line, why = await place.opengui("fleet", "invite", "second")
            assert code == 0, why
            joining = line.split("'")[1]
            second = str(tmp_path / "second")
            stranger = {"DATA_DIR": second, "SSL_CERT_FILE": "/nowhere"}
            code, _, why = await place.opengui("host", "--join", joining, **stranger)
            assert code != 0
            assert "certificate is not trusted here" in why
            wrong = joining.replace("localhost", "127.0.0.1")
            code, _, why = await place.opengui("host", "--join", wrong, DATA_DIR=second)
            assert code != 0
            assert "certificate" in why
            # A server that asks for TLS is spoken to by TLS, whatever the address says; a WebSocket is either or.
            plain = joining.replace(f"{scheme}://", "nats://" if scheme == "tls" else "ws://")
            code, _, why = await place.opengui("host", "--join", plain, **stranger)
            assert code != 0
            assert "could not be reached" in why, "nothing is said where others can read it"
            assert not (tmp_path / "second" / "fleet-host.json").exists()
