"""Headless Chromium through its DevTools protocol: a page at a width, as a picture and as numbers."""

import asyncio
import shutil
import subprocess
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"]
START_S = 60


class Page:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.calls = 0
        self.complaints: list[str] = []  # of the browser: what the page's policy refused, what failed to load

    async def show(self, file: Path, *, width: int, dark: bool = False) -> None:
        await self.call("Page.enable")
        await self.call("Log.enable")
        metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        await self.call("Page.navigate", url=file.as_uri())
        while (
            await self.value("document.readyState") != "complete"
            or await self.value("location.href") == "about:blank"
        ):
            await asyncio.sleep(0.05)

    async def value(self, expression: str) -> Any:
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    async def picture(self, file: Path, *, height_max: int = 4_000) -> None:
        size = (await self.call("Page.getLayoutMetrics"))["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height_max), "scale": 1}
        found = await self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(b64decode(found["data"]))

    async def paper(self, file: Path) -> None:
        found = await self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)
        file.write_bytes(b64decode(found["data"]))

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.calls += 1
        await self.socket.send_json({"id": self.calls, "method": method, "params": params})
        while True:
            answer = await self.socket.receive_json(timeout=START_S)
            if answer.get("method") == "Log.entryAdded":
                self.complaints.append(answer["params"]["entry"]["text"])
            if answer.get("id") == self.calls:
                assert "error" not in answer, answer
                return answer["result"]


@asynccontextmanager
async def browsing(folder: Path) -> AsyncIterator[Page]:
    """A page of a Chromium of its own, whose profile is in the folder."""
    profile = folder / "profile"
    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with (
            aiohttp.ClientSession() as client,
            client.ws_connect(await _page(client, port), max_msg_size=0) as socket,
        ):
            yield Page(socket)
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, START_S)
        finally:
            process.kill()
            process.wait()


async def _port(file: Path) -> int:
    async with asyncio.timeout(START_S):
        while not (file.exists() and file.read_text().count("\n")):
            await asyncio.sleep(0.05)
    return int(file.read_text().splitlines()[0])


async def _page(client: aiohttp.ClientSession, port: int) -> str:
    async with asyncio.timeout(START_S):
        while True:  # the port is open before there is a page
            async with client.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.05)
