import re

import httpx2
from fastapi.routing import APIRoute

from chiron_api.http.app import all_routes
from chiron_api.http.document import document


async def test_the_reference_names_every_operation_and_every_model(client: httpx2.AsyncClient):
    answer = await client.get("/docs")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    anchors = re.findall(r' id="([^"]+)"', answer.text)
    assert len(anchors) == len(set(anchors))
    for route in all_routes():
        assert isinstance(route, APIRoute)
        assert route.name in anchors
        assert route.path_format in answer.text
    assert {f"model-{name}" for name in document()["components"]["schemas"]} <= set(anchors)


async def test_no_link_of_the_reference_leads_nowhere(client: httpx2.AsyncClient):
    text = (await client.get("/docs")).text
    anchors = set(re.findall(r' id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= anchors
    for asset in re.findall(r'(?:href|src)="(/assets/[^"]+)"', text):
        assert (await client.get(asset)).status_code == 200


async def test_the_reference_needs_no_code_and_no_style_of_its_own(client: httpx2.AsyncClient):
    answer = await client.get("/docs")
    assert "'unsafe-inline'" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=\"/assets/)|https?://", answer.text)


async def test_the_reference_says_what_a_field_may_be(client: httpx2.AsyncClient):
    text = (await client.get("/docs")).text
    assert "whole number, at least 1, at most 100" in text
    assert "queued | running | paused | completed | failed | cancelled" in text
    assert 'text/event-stream of <a href="#model-ServerSentEvent">' in text
