"""The certificates that are trusted, as the SDK trusts them: those of the system, or of SSL_CERT_FILE and SSL_CERT_DIR."""

import os
import platform
import re
import ssl
from functools import cache
from pathlib import Path

HASHED_NAME = re.compile(r"[0-9a-fA-F]{8}\.\d")
# Where distributions keep them, if OpenSSL was built for another place.
BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


@cache
def tls_context() -> ssl.SSLContext:
    """The context of all connections of this process."""
    if bundle := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=bundle)
    if folder := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=folder)
    if platform.system() in ("Windows", "Darwin"):
        import truststore  # which asks the system

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    file = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
    directory = Path(paths.openssl_capath)
    has_folder = directory.is_dir() and (
        file or any(HASHED_NAME.fullmatch(path.name) for path in directory.iterdir())
    )
    if file is None and not has_folder:
        file = next((bundle for bundle in BUNDLES if Path(bundle).is_file()), None)
    if file or has_folder:
        context.load_verify_locations(file, directory if has_folder else None)
    return context
