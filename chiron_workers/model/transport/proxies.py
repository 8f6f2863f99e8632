"""Which proxy stands before a server, by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, as the SDK reads them."""

import ipaddress
from contextlib import suppress
from urllib.request import getproxies

from yarl import URL


def proxy_of(url: str) -> str | None:
    """The proxy for requests to this address; None: there is none."""
    proxies, target = getproxies(), URL(url)
    exceptions = [entry for entry in map(str.strip, proxies.get("no", "").split(",")) if entry]
    if "*" in exceptions or any(_is_excepted(target, entry) for entry in exceptions):
        return None
    proxy = proxies.get(target.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def _is_excepted(target: URL, entry: str) -> bool:
    host = target.host or ""
    with suppress(ValueError):
        # An address, or a network of them.
        network = ipaddress.ip_network(entry.strip("[]"), strict=False)
        with suppress(ValueError):
            return ipaddress.ip_address(host) in network
        return False
    scheme, name, port = _parts(entry)
    target_port = None if target.is_default_port() else target.port
    if scheme not in ("", "all", target.scheme) or (port is not None and port != target_port):
        return False
    if name.startswith((".", "*.")):
        return host.endswith(name.lstrip("*"))
    # Without a scheme, the names below a name are meant as well; one with a scheme, and localhost, is that host alone.
    return host == name or (not scheme and name != "localhost" and host.endswith(f".{name}"))


def _parts(entry: str) -> tuple[str, str, int | None]:
    scheme, separator, rest = entry.lower().rpartition("://")
    name, _, port = rest.partition(":")
    return scheme if separator else "", name, int(port) if port.isdecimal() else None
