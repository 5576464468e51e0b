"""Logos and other uploads: whatever is sent, what we store is a clean PNG or JPEG that
we made, at most 512 pixels a side for a logo.

Uploaded images are decoded in a child process with limits on memory and time (`sanitize_apart`),
never in the server, which does not even load the image library. Color profiles and other metadata
are dropped, and so is whatever follows the picture in the file, such as a phone's second picture.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import json
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.partners import picture_process

if TYPE_CHECKING:
    from PIL import Image

UNKNOWN = "There is no such logo."
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
SIZE_LIMIT = 1_048_576
"""A logo must be smaller than this many bytes."""
PIXEL_LIMIT = 16_000_000
SIDE_LIMIT = 16_000
"""A picture one pixel wide and 16 million high costs far more memory than its pixels."""


_DATA_URI = re.compile(r"data:[^,]*;\s*base64\s*,", re.IGNORECASE)
_ORIENTATION_TAG = 0x0112

_NO_IMAGE = "{field} must be a PNG or JPEG image."
_TOO_LARGE = "{field} must be smaller than 1 MB (1,048,576 bytes)."
_TOO_MANY_PIXELS = "{field} must have at most 16 million pixels and at most 16,000 on each side."
_DAMAGED = "{field} is damaged or too complex to read. Save it again as a plain PNG or JPEG."
_NO_BASE64 = (
    "{field} must be a base64 string or a data URI such as data:image/png;base64,iVBORw0KGgo."
)
_TEMPLATES = frozenset({_NO_IMAGE, _TOO_LARGE, _TOO_MANY_PIXELS, _DAMAGED})


class Shape(NamedTuple):
    """What a picture is for, and so how large it becomes."""

    param: str
    """The field it is uploaded with."""
    width: int
    height: int
    is_cropped: bool = False
    """Fills the whole size; what does not fit is cut off."""
    is_padded: bool = False
    """Is shown whole, on a transparent ground of that size."""


LOGO = Shape("logo", 512, 512)
ICON = Shape("icon", 96, 96, is_padded=True)
SHARE = Shape("share_picture", 1200, 630, is_cropped=True)
_SHAPES = {shape.param: shape for shape in (LOGO, ICON, SHARE)}


@dataclass(frozen=True, slots=True)
class Logo:
    data: bytes
    content_type: str
    width: int
    height: int


class StoredLogo(NamedTuple):
    """A logo with the id that its row and its address get."""

    id: str
    content_type: str
    data: bytes | None
    """None for a logo that is a file in the folder, named by its id."""


async def store(logo: Logo, folder: Path | None) -> StoredLogo:
    """Writes the logo to the folder, if there is one.

    This comes before the transaction that writes its row: a file without a row is harmless, a row
    without a file would be a broken picture.
    """
    logo_id = new_id()
    if folder is None:
        return StoredLogo(logo_id, logo.content_type, logo.data)
    await asyncio.to_thread(_write, folder, logo_id, logo.data)
    return StoredLogo(logo_id, logo.content_type, None)


async def load(logo: StoredLogo, folder: Path | None) -> bytes:
    """The picture itself, from its row or its file."""
    if logo.data is not None:
        return logo.data
    try:
        return await asyncio.to_thread(((folder or Path()) / logo.id).read_bytes)
    except OSError:
        raise Missing(UNKNOWN) from None


def _write(folder: Path, name: str, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def decode_field(value: str) -> bytes:
    """The bytes of a logo in JSON: a data URI or bare base64, plain or URL-safe, padded or not,
    line breaks allowed."""
    head = _DATA_URI.match(value, 0, 256)
    body = (
        "".join((value[head.end() :] if head else value).split())
        .translate({ord("-"): "+", ord("_"): "/"})
        .rstrip("=")
    )
    if len(body) > SIZE_LIMIT * 4 // 3 + 4:
        raise _refusal(_TOO_LARGE)
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        raise _refusal(_NO_BASE64)
    return data


async def sanitize_apart(data: bytes, shape: Shape = LOGO) -> Logo:
    """`sanitize` in a child process: the worst image kills the child, and the caller gets a
    refusal."""
    _check_bytes(data, shape)
    code, answer = await picture_process.run("honeyguide.partners.logos", data, shape.param)
    return read_answer(code, answer, shape)


def read_answer(code: int, answer: bytes, shape: Shape) -> Logo:
    """The picture that a child made, or its refusal."""
    if code < 0:  # killed by its limits, our timeout or a crash: the image is to blame
        raise _refusal(_DAMAGED, shape)
    if code > 0:
        raise RuntimeError(f"the picture worker failed with exit code {code}")
    head, _, body = answer.partition(b"\n")
    result = json.loads(head)
    if "refusal" in result:
        # A child taken over by an image must not choose the template.
        raise _refusal(result["refusal"] if result["refusal"] in _TEMPLATES else _DAMAGED, shape)
    return Logo(body, _content_type(body), result["width"], result["height"])


def sanitize(data: bytes, shape: Shape = LOGO) -> Logo:
    """Decode, turn upright, fit into the shape and encode anew. Only pixels pass through."""
    _check_bytes(data, shape)
    try:
        image, photograph = _decode(data, shape)
        # Apps that show a shared link want a small file; a lossless photograph would be large.
        if shape.is_cropped:
            return encode(_on_white(image), photograph=True)
        return encode(image, photograph=photograph and not shape.is_padded)
    except Invalid:
        raise
    except Exception as fault:  # given garbage, a decoder may raise anything, even a SyntaxError
        raise _refusal(_DAMAGED, shape) from fault


def _check_bytes(data: bytes, shape: Shape) -> None:
    if len(data) >= SIZE_LIMIT:
        raise _refusal(_TOO_LARGE, shape)
    if not data.startswith((PNG, JPEG)):
        raise _refusal(_NO_IMAGE, shape)


def _decode(data: bytes, shape: Shape) -> tuple[Image.Image, bool]:
    """The pixels, small and upright, and whether they came as a photograph (JPEG)."""
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            image: Image.Image = Image.open(io.BytesIO(data), formats=["PNG", "JPEG"])
        except (Image.DecompressionBombWarning, Image.DecompressionBombError):
            raise _refusal(_TOO_MANY_PIXELS, shape) from None
        except UnidentifiedImageError:
            raise _refusal(_DAMAGED, shape) from None
    # Only the header has been read so far. What it claims is what decoding would cost.
    if image.width * image.height > PIXEL_LIMIT or max(image.size) > SIDE_LIMIT:
        raise _refusal(_TOO_MANY_PIXELS, shape)
    photograph = image.format != "PNG"
    # Lets the JPEG decoder skip what shrinking would throw away.
    longest = 2 * max(shape.width, shape.height)
    image.draft(None, (longest, longest))
    image.load()
    turn = _turns().get(_orientation(image))
    image = _plain(image)
    return _fit(image if turn is None else image.transpose(turn), shape), photograph


def _fit(image: Image.Image, shape: Shape) -> Image.Image:
    from PIL import Image, ImageOps

    size = shape.width, shape.height
    if shape.is_cropped:
        return ImageOps.fit(image, size, Image.Resampling.LANCZOS)
    if shape.is_padded:
        return ImageOps.pad(
            image.convert("RGBA"), size, Image.Resampling.LANCZOS, color=(0, 0, 0, 0)
        )
    image.thumbnail(size, Image.Resampling.LANCZOS)
    return image


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode != "RGBA":
        return image
    ground = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(ground, image).convert("RGB")


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION_TAG, 1))
    except Exception:  # broken metadata does not matter: it is about to be dropped
        return 1


def _turns() -> dict[int, Image.Transpose]:
    from PIL.Image import Transpose

    return {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }


def _plain(image: Image.Image) -> Image.Image:
    """The same picture in RGB, or in RGBA if any of it may be transparent."""
    if image.mode.startswith("I"):
        # 16 bits of gray: converting to RGB would cut at 255 instead of scaling.
        image = image.convert("I").point(lambda level: level * (1 / 256)).convert("L")
        image.info.clear()  # a transparent level would still be counted in 16 bits
    mode = "RGBA" if image.has_transparency_data else "RGB"
    return image if image.mode == mode else image.convert(mode)


def encode(image: Image.Image, *, photograph: bool) -> Logo:
    """A file with these pixels and nothing else."""
    from PIL import Image

    # A new image made from nothing but the pixels: no comment, profile or thumbnail can ride along.
    clean = Image.frombytes(image.mode, image.size, image.tobytes())
    out = io.BytesIO()
    if photograph:
        clean.save(out, "JPEG", quality=88, optimize=True)
    else:
        clean.save(out, "PNG", optimize=True)
    return Logo(out.getvalue(), _content_type(out.getvalue()), clean.width, clean.height)


def _content_type(data: bytes) -> str:
    # From the bytes, not from the child: a child taken over by an image must not get HTML served.
    if data.startswith(PNG):
        return "image/png"
    if data.startswith(JPEG):
        return "image/jpeg"
    raise RuntimeError("the picture worker answered with something that is no image")


def _refusal(template: str, shape: Shape = LOGO) -> Invalid:
    return Invalid(template, param=shape.param, code="invalid_logo")


def _worker(shape: Shape) -> None:
    picture_process.limit_ourselves()
    try:
        logo = sanitize(sys.stdin.buffer.read(SIZE_LIMIT), shape)
    except Invalid as refused:
        header: dict[str, object] = {"refusal": refused.template}
        body = b""
    else:
        header = {"width": logo.width, "height": logo.height}
        body = logo.data
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + body)


if __name__ == "__main__":
    _worker(_SHAPES[sys.argv[1]])
