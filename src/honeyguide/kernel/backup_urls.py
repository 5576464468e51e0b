"""Where backups go, as HONEYGUIDE_BACKUP_URL says it: a folder, or a bucket of an S3-compatible
service.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from honeyguide.kernel.errors import Invalid

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)


@dataclass(frozen=True)
class FolderUrl:
    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class BucketUrl:
    bucket: str
    prefix: str
    endpoint: str
    region: str

    def __str__(self) -> str:
        at = f" at {self.endpoint}" if self.endpoint else ""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/") + at


BackupUrl = FolderUrl | BucketUrl


def parse_backup_url(text: str) -> BackupUrl:
    """`/folder`, `file:///folder` or `s3://bucket/prefix?endpoint=https://…&region=…`."""
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = None
    if parts is not None and not parts.scheme and "://" not in text and text:
        return FolderUrl(Path(text))
    if parts is not None and parts.scheme == "file" and not parts.netloc and len(parts.path) > 1:
        return FolderUrl(Path(unquote(parts.path)))
    if parts is not None and parts.scheme == "s3":
        return _bucket(parts)
    raise Invalid("{field} must be a folder or a URL such as s3://bucket/folder.", param="url")


def _bucket(parts: SplitResult) -> BucketUrl:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    endpoint, region = options.pop("endpoint", ""), options.pop("region", "")
    if not _BUCKET.fullmatch(parts.netloc):
        raise Invalid(
            "{field} must name a bucket: s3://bucket/folder. Access keys have settings of "
            "their own.",
            param="url",
        )
    if options or parts.fragment:
        raise Invalid("{field} can have only endpoint and region after the ?.", param="url")
    if endpoint and not re.fullmatch(r"https?://[^/?#@\s]+/?", endpoint):
        raise Invalid("The endpoint in {field} must be a URL such as https://host.", param="url")
    return BucketUrl(parts.netloc, parts.path.strip("/"), endpoint.rstrip("/"), region)
