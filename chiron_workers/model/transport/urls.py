import re

SEGMENT_CHARS = "!$&'()*+,;=:@"  # that the SDK leaves as they are in a segment of a path
LABEL = "[a-z0-9-]{1,63}"
# What a path may hold beside these is written anew by each URL library in its own way.
PLAIN = re.compile(
    rf"https?://(?:{LABEL}(?:\.{LABEL})*|\[[0-9a-f:.]+\])(?::([0-9]{{1,5}}))?(?:/[A-Za-z0-9._~/-]*)?"
)
PORT_MAX = 65_535
PASSWORD = re.compile(r"(?<=://)[A-Za-z0-9._~-]+:[A-Za-z0-9._~-]*@")


def is_plain(url: str, *, with_password: bool = False) -> bool:
    """Whether every library reads and writes this address in the same way.

    Args:
        with_password: It may hold a user and a password.
    """
    if with_password:
        url = PASSWORD.sub("", url, count=1)
    match = PLAIN.fullmatch(url)
    if match is None or int(match[1] or 0) > PORT_MAX:
        return False
    return not any(part in (".", "..") for part in url.split("/"))


def join(base_url: str, path: str) -> str:
    """A path below an address, which may have a path itself."""
    return f"{base_url.rstrip('/')}/{path.lstrip('/')}"
