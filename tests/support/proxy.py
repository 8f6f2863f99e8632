"""A proxy on loopback before a service that cannot do TLS itself, or listens on a Unix socket only."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from psycopg.conninfo import conninfo_to_dict

SSL_REQUEST_BYTES = 8  # what a client of Postgres sends first, to be answered with S


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key, as files."""

    file: Path
    key_file: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key_file)
        return context


def make_certificate(folder: Path, *, name: str = "localhost") -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"of a test for {name}")])
    now = datetime.now(UTC)
    names: list[x509.GeneralName] = [x509.DNSName(name)]
    if name == "localhost":
        names.append(x509.IPAddress(ip_address("127.0.0.1")))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    made.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


def socket_of(database_url: str) -> str:
    """The path of the Unix socket that a server's URL means."""
    parts = conninfo_to_dict(database_url)
    return f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"


@contextmanager
def proxy(
    upstream: str | int, certificate: Certificate | None = None, *, postgres: bool = False
) -> Iterator[int]:
    """The port of a proxy.

    Args:
        upstream: The path of a Unix socket, or a port of loopback.
        certificate: What it shows its clients; without one it speaks no TLS.
        postgres: Whether its clients ask for TLS as Postgres' do, rather than begin with it.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def serve() -> asyncio.Server:
        context = certificate.context() if certificate else None

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):
                if postgres and context:
                    await reader.readexactly(SSL_REQUEST_BYTES)
                    writer.write(b"S")
                    await writer.start_tls(context)
                if isinstance(upstream, str):
                    there = await asyncio.open_unix_connection(upstream)
                else:
                    there = await asyncio.open_connection("127.0.0.1", upstream)
                await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))

        return await asyncio.start_server(carry, "127.0.0.1", 0, ssl=None if postgres else context)

    server = asyncio.run_coroutine_threadsafe(serve(), loop).result(60)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(_end_all(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
    finally:
        target.close()


async def _end_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
