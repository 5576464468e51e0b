"""Debian's Caddy and nginx with the files of `deploy/`, in front of a real `honeyguide serve`."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path

import httpx
import trustme

from tests.support.postgres import free_port
from tests.support.service import until

DEPLOY = Path(__file__).parents[2] / "deploy"
HOST = "refer.example.org"

CADDY_OPTIONS = """{{
	admin off
	http_port {http_port}
	https_port {https_port}
	default_bind 127.0.0.1
{more}}}
"""
# Caddy's own authority instead of Let's Encrypt.
OWN_AUTHORITY = "\tlocal_certs\n\tskip_install_trust\n"
NGINX_MAIN = """
daemon off;
{user}
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/answers;
    include {folder}/site;
}}
"""


class Proxy:
    """Only ports, the certificate and folders differ from the file that is shipped."""

    def __init__(self, name: str, upstream_port: int, *, link_hosts: bool = False) -> None:
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        assert found, f"{name} is not installed; `make test-long` installs it on Debian"
        self.program = found
        self.folder = Path(tempfile.mkdtemp(prefix="hgproxy"))
        self.http_port, self.https_port = free_port(), free_port()
        authority = trustme.CA()
        self.trust = ssl.create_default_context()
        authority.configure_trust(self.trust)
        self._certificate(authority)
        self._upstream = f"127.0.0.1:{upstream_port}"
        self._command = self._caddy(link_hosts) if name == "caddy" else self._nginx()

    def _certificate(self, authority: trustme.CA) -> None:
        made = authority.issue_cert(HOST)
        made.private_key_pem.write_to_path(self.folder / "key.pem")
        for part in made.cert_chain_pems:
            part.write_to_path(self.folder / "cert.pem", append=True)

    def _caddy(self, link_hosts: bool) -> list[str]:
        site = self._shipped(
            "Caddyfile",
            (f"{HOST} {{\n", f"{HOST} {{\n\ttls {self.folder}/cert.pem {self.folder}/key.pem\n"),
        ).replace("127.0.0.1:8000", self._upstream)
        more = ""
        if link_hosts:
            site, more = _uncommented(site)
        options = CADDY_OPTIONS.format(
            http_port=self.http_port, https_port=self.https_port, more=more
        )
        (self.folder / "Caddyfile").write_text(options + site)
        return [self.program, "run", "--config", f"{self.folder}/Caddyfile"]

    def _nginx(self) -> list[str]:
        live = f"/etc/letsencrypt/live/{HOST}"
        site = self._shipped(
            "nginx.conf",
            ("127.0.0.1:8000", self._upstream),
            ("    listen [::]:80;\n", ""),
            ("    listen [::]:443 ssl http2;\n", ""),
            ("listen 80;", f"listen 127.0.0.1:{self.http_port};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.https_port} "),
            (f"{live}/fullchain.pem", f"{self.folder}/cert.pem"),
            (f"{live}/privkey.pem", f"{self.folder}/key.pem"),
        )
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "site").write_text(site)
        (self.folder / "nginx.conf").write_text(NGINX_MAIN.format(user=user, folder=self.folder))
        return [self.program, "-c", f"{self.folder}/nginx.conf", "-p", str(self.folder)]

    def _shipped(self, name: str, *changes: tuple[str, str]) -> str:
        text = (DEPLOY / name).read_text()
        for old, new in changes:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        return text

    @property
    def output(self) -> str:
        return (self.folder / "log").read_text()

    def client(self, address: str = "127.0.0.1", **headers: str) -> httpx.Client:
        """A client at this address, which finds the proxy as if it were on port 443."""
        transport = httpx.HTTPTransport(verify=self.trust, local_address=address)
        client = httpx.Client(
            transport=transport,
            base_url=f"https://127.0.0.1:{self.https_port}",
            headers={"host": HOST, "origin": f"https://{HOST}", **headers},
            timeout=30,
        )
        client.event_hooks["request"] = [_name_the_host]
        return client

    def __enter__(self) -> Proxy:
        own = {"XDG_DATA_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        with open(self.folder / "log", "wb") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=os.environ | own
            )
        until(self._is_listening)
        return self

    def _is_listening(self) -> bool:
        assert self._process.poll() is None, self.output
        try:
            socket.create_connection(("127.0.0.1", self.https_port), timeout=5).close()
        except OSError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


def _uncommented(site: str) -> tuple[str, str]:
    """The part about link hosts as its comment says to use it: what belongs to the site, and what
    goes to the top of the file."""
    site, comment, rest = site.partition("#\n# {\n")
    assert comment, "the part about link hosts has changed"
    lines = [line.removeprefix("#").removeprefix(" ") for line in rest.splitlines()]
    end = lines.index("}")
    options = "".join(f"{line}\n" for line in lines[:end])
    return site + "\n".join(lines[end + 1 :]) + "\n", options + OWN_AUTHORITY


def _name_the_host(request: httpx.Request) -> None:
    """For SNI, and for the name that the certificate must have."""
    request.extensions["sni_hostname"] = HOST
