"""A server written by hand, that speaks the protocol of 2025-11-25 over stdio and does what a plan (a JSON file) says.

The plan is read again for each list: `tools` and `results` as they go over the wire, `lines` for tools whose answers are
bytes (as Latin-1, with the id for @id), and `does` as one of: silent (it never
answers), flood, endless (a line without an end), chatter (words on stdout that are no JSON), die_on_call, stubborn (it
ends only when it is killed), changing (it tells of a change ten times a second).
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any


def plan() -> dict[str, Any]:
    return json.loads(Path(sys.argv[1]).read_text())


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any]) -> None:
    method, given = request["method"], request.get("params", {})
    if method == "initialize":
        result: dict[str, Any] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "liar", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": plan()["tools"], **plan().get("list", {})}
    elif method == "tools/call":
        if plan().get("does") == "die_on_call":
            print("killed by a call, with the key", os.environ.get("API_KEY"), file=sys.stderr, flush=True)
            os._exit(3)
        if line := plan().get("lines", {}).get(given["name"]):
            sys.stdout.buffer.write(line.replace("@id", str(request["id"])).encode("latin-1") + b"\n")
            sys.stdout.buffer.flush()
            return
        result = plan()["results"].get(given["name"], {"content": []})
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        return
    send({"id": request["id"], "result": result})


def misbehave(does: str) -> None:
    while does == "flood":
        send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}})
    while does == "endless":
        sys.stdout.write("x" * 100_000)
    while does == "changing":
        send({"method": "notifications/tools/list_changed"})
        time.sleep(0.1)


def main() -> None:
    does = plan().get("does", "")
    if pids := os.environ.get("PIDS"):
        (Path(pids) / str(os.getpid())).touch()
    if does == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if does == "chatter":
        print("Listening ...\n{}\n[1, 2", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "notifications/initialized":
            threading.Thread(target=misbehave, args=(does,), daemon=True).start()
        if "id" in request and does != "silent":
            answer(request)
    while does == "stubborn":
        time.sleep(1)


main()
