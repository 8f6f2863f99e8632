"""Debian's Chromium, driven by Playwright: pages as a person meets them."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, async_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Without these, Chromium asks its maker's servers for many things at its start.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
FLAGS = ["--no-sandbox", "--disable-gpu", *QUIET]
TIMEOUT_MS = 60_000  # a busy machine is no failure


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser while the block runs."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def window(
    browser: Browser,
    *,
    key: str = "",
    width: int = 1_440,
    is_phone: bool = False,
    has_script: bool = True,
    is_dark: bool = False,
) -> AsyncIterator[tuple[Page, list[str]]]:
    """A page, and what the browser complains about while it is open.

    Args:
        key: Sent with each request; empty for pages that are not of the API.
        is_phone: Whether the page's own viewport decides how wide it is laid out, as phones have it.
    """
    context = await browser.new_context(
        viewport={"width": width, "height": 900},
        is_mobile=is_phone,
        java_script_enabled=has_script,
        color_scheme="dark" if is_dark else "light",
        extra_http_headers={"Authorization": f"Bearer {key}"} if key else {},
        reduced_motion="reduce",
    )
    context.set_default_timeout(TIMEOUT_MS)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page, complaints
    finally:
        await context.close()
