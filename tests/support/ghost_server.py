"""A real Ghost with SQLite, from the user's cache where `make ghost` installs it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from .ghost_install import FOLDER
from .postgres import free_port

_OWNER = {"email": "owner@example.org", "password": "three calm brown bears"}


class RealGhost:
    """`with RealGhost() as ghost: ghost.add_member("ada@example.org")`. The owner is logged in, and
    `admin_api_key` is the key of a custom integration."""

    def __enter__(self) -> RealGhost:
        assert FOLDER.exists(), "Run `make ghost` first."
        self._folder = Path(tempfile.mkdtemp(prefix="hgghost"))
        shutil.copytree(FOLDER / "content", self._folder / "content")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._log = self._folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["node", "index.js"],
                cwd=FOLDER,
                env=os.environ | self._settings(port),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        # Ghost takes the token of a session only from its own pages.
        self._http = httpx.Client(
            base_url=f"{self.url}/ghost/api/admin", headers={"Origin": self.url}, timeout=60
        )
        self._wait_until_ready()
        self.admin_api_key = self._set_up()
        return self

    def _settings(self, port: int) -> dict[str, str]:
        return {
            "NODE_ENV": "production",
            "url": self.url,
            "server__port": str(port),
            "database__client": "sqlite3",
            "database__connection__filename": str(self._folder / "ghost.db"),
            "database__useNullAsDefault": "true",
            "paths__contentPath": str(self._folder / "content"),
            "mail__transport": "stub",
            "logging__transports": '["stdout"]',
            "privacy__useTinfoil": "true",  # no requests to anybody else
            "security__staffDeviceVerification": "false",  # which would send a code by email
        }

    def _wait_until_ready(self) -> None:
        give_up = time.monotonic() + 600  # the first start creates the tables
        while True:
            try:
                if self._http.get("/site/").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            assert time.monotonic() < give_up and self._process.poll() is None, self.log
            time.sleep(0.2)

    def _set_up(self) -> str:
        owner = {"name": "Olga", "blogTitle": "The Morning Wax", **_OWNER}
        self.call("POST", "/authentication/setup/", {"setup": [owner]})
        session = {"username": _OWNER["email"], "password": _OWNER["password"]}
        self.call("POST", "/session/", session)
        new = {"integrations": [{"name": "Honeyguide"}]}
        [made] = self.call("POST", "/integrations/?include=api_keys", new)["integrations"]
        [key] = [each["secret"] for each in made["api_keys"] if each["type"] == "admin"]
        return str(key)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._http.close()
        shutil.rmtree(self._folder)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def edits(self) -> int:
        """How often somebody changed a member, we or the test."""
        return self.log.count('"PUT /ghost/api/admin/members/')

    @property
    def webhooks(self) -> int:
        with closing(sqlite3.connect(self._folder / "ghost.db")) as database:
            return int(database.execute("SELECT COUNT(*) FROM webhooks").fetchone()[0])

    def call(self, method: str, path: str, json: Any = None) -> Any:
        answer = self._http.request(method, path, json=json)
        assert answer.is_success, f"{answer.text}\n{self.log}"
        return answer.json() if "json" in answer.headers.get("content-type", "") else None

    def add_member(self, email: str, **fields: Any) -> dict[str, Any]:
        [made] = self.call("POST", "/members/", {"members": [{"email": email, **fields}]})[
            "members"
        ]
        return made  # type: ignore[no-any-return]

    def change_member(self, member_id: str, **fields: Any) -> None:
        self.call("PUT", f"/members/{member_id}/", {"members": [fields]})

    def delete_member(self, member_id: str) -> None:
        self.call("DELETE", f"/members/{member_id}/")

    def member(self, email: str) -> dict[str, Any] | None:
        found = self.call("GET", f"/members/?filter=email:'{email}'")["members"]
        return found[0] if found else None

    def labels(self, email: str) -> list[str]:
        member = self.member(email)
        return sorted(each["name"] for each in member["labels"]) if member else []
