"""uiautomator2's server on the phone: `app_process` with its jar, and HTTP on port 9008 while it runs.

Paths and answers: uiautomator2 3.7 (uiautomator2/core.py); errors: JSON-RPC 2.0 with Java's exception as message.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from functools import partial

from devices.virtual_phone.adbd import Service, Stream
from devices.virtual_phone.device import Device
from devices.virtual_phone.faults import DRAWN

JAR = "/data/local/tmp/u2.jar"
MAIN_CLASS = "com.wetest.uia2.Main"
SERVICE = "tcp:9008"
RECEIPT_HEADER = "x-opengui-receipt"
MAX_HEAD_BYTES = 8192
# Codes of JSON-RPC 2.0; -32001 is what jsonrpc4j gives to an exception of the method.
UNKNOWN_METHOD = -32601
EXCEPTION = -32001
NO_OBJECT = "androidx.test.uiautomator.UiObjectNotFoundException"
REGISTERED = "java.lang.IllegalStateException: UiAutomationService already registered!"


class MethodFailed(Exception):
    """A method failed and is answered with an error: the code, and the message in Java's words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def find_automation(phone: Device, name: str) -> Service | None:
    """Return the service with this name if it is the server's start or its HTTP port; None otherwise, or if the server
    does not run.
    """
    if name.startswith("shell:") and MAIN_CLASS in name:
        return partial(_run, phone)
    if name == SERVICE and phone.uiautomator.running:
        return partial(_answer, phone)
    return None


async def _run(phone: Device, stream: Stream) -> None:
    await phone.faults.hold("app_process")
    await asyncio.sleep(phone.faults.lane_start_ms / 1000)
    problem = phone.uiautomator.broken.get("start", "")
    if phone.files.read(JAR) is None:
        problem = f"Error: Could not find or load main class {MAIN_CLASS}"
    elif phone.uiautomator.running:
        problem = REGISTERED
    elif phone.faults.no_lane:
        problem = "Aborted"
    if problem:
        await stream.write(f"{problem}\n".encode())
        return
    with phone.uiautomator.held() as ended:
        await stream.write(b"[server] INFO: [UiAutomator2Server] Starting Server\n")
        await ended.wait()


async def _answer(phone: Device, stream: Stream) -> None:
    """One request of HTTP/1.1; the connection is closed after it."""
    head = b""
    while not head.endswith(b"\r\n\r\n") and len(head) < MAX_HEAD_BYTES:
        head += await stream.read_exactly(1)
    request, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await stream.read_exactly(int(headers.get("content-length", "0")))
    if request.startswith("GET /ping"):
        answer = b"pong"
    else:
        answer = await _call(phone, json.loads(body), headers.get(RECEIPT_HEADER, ""))
    await stream.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)


async def _call(phone: Device, request: Mapping[str, object], receipt: str) -> bytes:
    method, parameters = str(request["method"]), request["params"]
    assert isinstance(parameters, list)
    words = (method, *(each if isinstance(each, str) else json.dumps(each) for each in parameters))
    line = f"jsonrpc {method}"
    await phone.moments.happen_at(line, before=True)
    entry = phone.journal.add("jsonrpc", method, words, receipt)
    await phone.faults.hold(line)
    answer: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        draws = method == "takeScreenshot"
        late = (phone.faults.lane_ms + (phone.faults.lane_frame_ms if draws else 0)) / 1000
        until = asyncio.get_running_loop().time() + late
        await asyncio.sleep(late * (DRAWN if draws else 1))
        answer["result"] = await _do(phone, method, parameters)
        await asyncio.sleep(until - asyncio.get_running_loop().time())
        entry.code = 0
    except MethodFailed as failed:
        answer["error"] = {"code": failed.code, "message": str(failed), "data": ""}
        entry.code = 1
    await phone.moments.happen_at(line, before=False)
    return json.dumps(answer).encode()


async def _do(phone: Device, method: str, parameters: list[object]) -> object:
    if method in phone.uiautomator.broken:
        raise MethodFailed(EXCEPTION, phone.uiautomator.broken[method])
    match method, parameters:
        case "dumpWindowHierarchy", [bool(compressed), int()]:
            if phone.faults.no_tree:
                raise MethodFailed(EXCEPTION, "java.util.concurrent.TimeoutException: no idle state")
            return phone.elements(compressed=compressed, hints=True)
        case "setText", [dict(selector), str(text)]:
            return _set_text(phone, selector.get("resourceId", ""), text)
        case "takeScreenshot", [1, 80]:
            return await _picture(phone)
    raise MethodFailed(UNKNOWN_METHOD, "method not found")


async def _picture(phone: Device) -> str:
    """JPEG in Base64, as android.util.Base64 breaks it: a line end after 76 signs."""
    frame = await phone.frame()
    data = await asyncio.to_thread(lambda: frame.jpeg)
    return base64.encodebytes(data[: len(data) // 2] if phone.faults.truncate else data).decode()


def _set_text(phone: Device, resource_id: str, text: str) -> bool:
    page = phone.windows.activity
    nodes = phone.elements(compressed=True, hints=True).split("<node")
    focused = next((node for node in nodes if 'focused="true"' in node), "")
    if page is None or not page.focus or (resource_id and f'resource-id="{resource_id}"' not in focused):
        raise MethodFailed(EXCEPTION, f"{NO_OBJECT}: UiSelector[FOCUSED=true]")
    phone.do(partial(phone.hand.replace, text))
    return True
