import json

from support import bare_interpreter

PROGRAM = """
import logging, structlog
from chiron_workers.telemetry.logs import log_to_stderr
log_to_stderr("info")
url = "https://me:TOPSECRET@a.org/x?y=1&token=TOPSECRET"
structlog.get_logger().warning("page.unread", url=url, of={"address": url})
logging.getLogger("library").warning("GET %s failed", url)
try:
    raise ValueError(f"{url} answered 403")
except ValueError:
    logging.getLogger("library").exception("failed")
"""


def test_no_line_of_a_log_holds_a_password_or_a_key_of_an_address():
    outcome = bare_interpreter.run(PROGRAM)
    lines = [json.loads(line) for line in outcome.errors.splitlines()]
    assert [line["event"] for line in lines] == ["page.unread", "GET https://a.org/x?y=1 failed", "failed"]
    assert lines[0]["url"] == lines[0]["of"]["address"] == "https://a.org/x?y=1"
    assert "https://a.org/x?y=1 answered 403" in lines[2]["exception"]
    assert "TOPSECRET" not in outcome.errors
