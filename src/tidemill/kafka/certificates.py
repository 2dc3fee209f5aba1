"""Throw-away certificates for clusters on this machine: a CA, a server certificate, one per user.

Made by the `openssl` command where it exists, else by the `cryptography` package.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from tidemill.errors import SetupError
from tidemill.kafka.private import write_private

VALID_DAYS = 365
SERVER_NAMES = "IP:127.0.0.1,DNS:localhost"


def make_certificates(directory: Path, users: Sequence[str], maker: str | None = None) -> None:
    """Write `ca.pem` and, for `server` and every user, `<name>.key`, `.pem` and both in `-keystore.pem`.

    The CA's key is forgotten at once: nobody can issue further certificates. `maker` forces `openssl` or
    `cryptography`.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    maker = maker or _maker()
    if maker == "openssl":
        _with_openssl(directory, users)
    else:
        _with_cryptography(directory, users)
    for name in ("server", *users):
        # Kafka's Java clients want key and certificate in one file.
        both = (directory / f"{name}.key").read_text() + (directory / f"{name}.pem").read_text()
        write_private(directory / f"{name}-keystore.pem", both)


def _maker() -> str:
    if shutil.which("openssl"):
        return "openssl"
    if importlib.util.find_spec("cryptography"):
        return "cryptography"
    raise SetupError(
        "certificates cannot be made: there is neither an openssl command nor the cryptography package",
        remedy="install openssl, or `pip install cryptography`",
    )


def _with_openssl(directory: Path, users: Sequence[str]) -> None:
    days = ["-days", str(VALID_DAYS)]
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    ca = ["-CA", "ca.pem", "-CAkey", "ca.key"]
    config = directory / "openssl.cnf"
    # Our own configuration: the machine's may add extensions of its own, or be missing.
    config.write_text(_OPENSSL_CONFIG, encoding="utf-8")
    run = [str(shutil.which("openssl"))]
    request = [*run, "req", "-config", "openssl.cnf", *new_key]
    try:
        subject = ["-subj", "/CN=Tidemill development CA"]
        files = ["-keyout", "ca.key", "-out", "ca.pem"]
        _run([*request, "-x509", "-extensions", "ca", *subject, *files, *days], directory)
        for name in ("server", *users):
            files = ["-keyout", f"{name}.key", "-out", f"{name}.csr"]
            _run([*request, "-subj", f"/CN={name}", *files], directory)
            kind = ["-extfile", "openssl.cnf", "-extensions", "server" if name == "server" else "client"]
            files = ["-in", f"{name}.csr", "-out", f"{name}.pem"]
            _run([*run, "x509", "-req", *files, *ca, "-CAcreateserial", *kind, *days], directory)
    finally:
        for leftover in ("ca.key", "ca.srl", "openssl.cnf", *(f"{name}.csr" for name in ("server", *users))):
            (directory / leftover).unlink(missing_ok=True)
    for name in ("server", *users):
        (directory / f"{name}.key").chmod(0o600)


_OPENSSL_CONFIG = f"""\
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = CA:false
subjectAltName = {SERVER_NAMES}
extendedKeyUsage = serverAuth,clientAuth
[client]
basicConstraints = CA:false
extendedKeyUsage = clientAuth
"""


def _run(command: Sequence[str], directory: Path) -> None:
    done = subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        # An OPENSSL_CONF of the user's could refuse what we ask for.
        env={key: value for key, value in os.environ.items() if key != "OPENSSL_CONF"},
    )
    if done.returncode:
        raise SetupError(
            f"openssl failed: {done.stderr.strip().splitlines()[-1:]}",
            where=" ".join(command),
            remedy="`pip install cryptography` is the other way to make certificates",
        )


def _with_cryptography(directory: Path, users: Sequence[str]) -> None:
    # Not a dependency of ours, so that nothing is known of its types here.
    x509: Any = import_module("cryptography.x509")
    hashes: Any = import_module("cryptography.hazmat.primitives.hashes")
    serialization: Any = import_module("cryptography.hazmat.primitives.serialization")
    ec: Any = import_module("cryptography.hazmat.primitives.asymmetric.ec")
    oid: Any = import_module("cryptography.x509.oid")
    now = datetime.now(UTC)

    def builder(name: str, issuer: Any, public_key: Any) -> Any:
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(oid.NameOID.COMMON_NAME, name)]))
            .issuer_name(issuer)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(days=VALID_DAYS))
        )

    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(oid.NameOID.COMMON_NAME, "Tidemill development CA")])
    ca = (
        builder("Tidemill development CA", ca_name, ca_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (directory / "ca.pem").write_bytes(ca.public_bytes(pem))
    for name in ("server", *users):
        key = ec.generate_private_key(ec.SECP256R1())
        made = builder(name, ca_name, key.public_key())
        usages = [oid.ExtendedKeyUsageOID.CLIENT_AUTH]
        if name == "server":
            usages.append(oid.ExtendedKeyUsageOID.SERVER_AUTH)
            names = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")]
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        made = made.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        (directory / f"{name}.pem").write_bytes(made.sign(ca_key, hashes.SHA256()).public_bytes(pem))
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        write_private(directory / f"{name}.key", private.decode())
