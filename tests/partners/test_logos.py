"""A corpus of hostile logos: none comes out as it was sent, none costs more than a bounded child
process.
"""

import asyncio
import base64
import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from honeyguide.kernel.errors import Invalid
from honeyguide.partners import logos, picture_process
from honeyguide.partners.logos import Logo, decode_field, sanitize, sanitize_apart
from tests.support.effort import effort_of
from tests.support.hostile_logos import (
    BROKEN,
    CLEANED,
    NOT_AN_IMAGE,
    SECRET,
    SMALL_JPEG,
    SMALL_PNG,
    chunk,
    encoded,
    exif,
    picture,
    scan_bomb,
    with_chunks,
)

pytestmark = pytest.mark.filterwarnings("ignore:Corrupt EXIF")


def check_clean(logo: Logo, sent: bytes) -> None:
    assert (
        logo.data != sent
        and SECRET not in logo.data
        and b"<script" not in logo.data
        and b"PK\x03\x04" not in logo.data
    )
    with Image.open(io.BytesIO(logo.data), formats=["PNG", "JPEG"]) as image:
        image.load()
        assert logo.content_type == {"PNG": "image/png", "JPEG": "image/jpeg"}[image.format or ""]
        assert (logo.width, logo.height) == image.size and 1 <= max(image.size) <= 512
        assert not image.getexif() and not getattr(image, "is_animated", False)
        assert not set(image.info) - {"jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi"}
        end = b"IEND\xaeB`\x82" if image.format == "PNG" else b"\xff\xd9"
    assert logo.data.endswith(end)


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(Invalid) as refusal:
        work()
    assert refusal.value.param == "logo" and refusal.value.message.startswith("logo ")
    return refusal.value.message


def test_the_corpus_is_large_and_fits_through_the_door() -> None:
    assert len(NOT_AN_IMAGE) + len(BROKEN) + len(CLEANED) >= 90
    assert [name for name, data in CLEANED.items() if len(data) >= 1_048_576] == []


@pytest.mark.parametrize("data", NOT_AN_IMAGE.values(), ids=list(NOT_AN_IMAGE))
def test_what_is_neither_png_nor_jpeg_is_refused_by_its_content(data: bytes) -> None:
    assert refused(lambda: sanitize(data)) == "logo must be a PNG or JPEG image."
    assert refused(lambda: asyncio.run(sanitize_apart(data))) == "logo must be a PNG or JPEG image."


@pytest.mark.parametrize("data", BROKEN.values(), ids=list(BROKEN))
def test_a_broken_or_boastful_image_is_refused_at_once(data: bytes) -> None:
    assert effort_of(lambda: refused(lambda: sanitize(data)), most=400) < 400


@pytest.mark.parametrize("data", CLEANED.values(), ids=list(CLEANED))
def test_an_image_with_more_than_pixels_comes_out_as_pixels(data: bytes) -> None:
    check_clean(sanitize(data), data)


@pytest.mark.parametrize(
    "name",
    [
        "JPEG of several pictures",
        "JPEG then a film, as phones send",
        "JPEG then ZIP",
        "JPEG then HTML at its end",
    ],
)
def test_nothing_behind_the_first_picture_reaches_the_stored_file(name: str) -> None:
    assert sanitize(CLEANED[name]).data == sanitize(SMALL_JPEG).data


def test_refusals_say_what_to_mend() -> None:
    assert "16 million pixels" in refused(lambda: sanitize(BROKEN["PNG 30,000 x 30,000"]))
    assert "16 million pixels" in refused(lambda: sanitize(BROKEN["JPEG 65,000 x 65,000"]))
    assert "smaller than 1 MB" in refused(lambda: sanitize(BROKEN["PNG of exactly 1 MB"]))
    assert "damaged" in refused(lambda: sanitize(BROKEN["PNG truncated"]))


def test_one_byte_under_the_limit_is_taken() -> None:
    data = with_chunks(chunk(b"prIv", bytes(1_048_575 - len(SMALL_PNG) - 12)))
    assert len(data) == 1_048_575
    check_clean(sanitize(data), data)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_turned_upright_before_its_metadata_goes(kind: str, orientation: int) -> None:
    image = picture(size=(60, 30))
    image.paste((255, 0, 0), (0, 0, 30, 15))
    sent = encoded(image, kind, exif=exif(orientation=orientation))
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(sent))).convert("RGB")
    logo = sanitize(sent)
    came = Image.open(io.BytesIO(logo.data)).convert("RGB")
    assert came.size == upright.size
    for spot in [
        (5, 5),
        (came.width - 6, 5),
        (5, came.height - 6),
        (came.width - 6, came.height - 6),
    ]:
        assert all(
            abs(a - b) < 40
            for a, b in zip(came.getpixel(spot), upright.getpixel(spot), strict=True)
        )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "kind", "content_type"),
    [
        *[(mode, "PNG", "image/png") for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")],
        *[(mode, "JPEG", "image/jpeg") for mode in ("L", "RGB", "CMYK")],
    ],
)
def test_every_kind_of_pixels_survives(mode: str, kind: str, content_type: str) -> None:
    image = (
        Image.new("I;16", (30, 20), 200 * 256)
        if mode == "I;16"
        else Image.new("L", (30, 20), 200).convert(mode, dither=None)
    )
    logo = sanitize(encoded(image, kind))
    level = Image.open(io.BytesIO(logo.data)).convert("L").getpixel((9, 9))
    assert (logo.content_type, logo.width, logo.height) == (content_type, 30, 20)
    assert isinstance(level, int | float) and abs(level - (255 if mode == "1" else 200)) < 4


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB", "L", "I;16"])
def test_transparency_survives_and_broken_transparency_harms_nobody(mode: str) -> None:
    options = (
        {"transparency": {"P": 0, "RGB": (0, 0, 0), "L": 0, "I;16": 0}[mode]}
        if mode not in ("RGBA", "LA")
        else {}
    )
    data = encoded(Image.new(mode, (8, 8)), "PNG", **options)
    came = Image.open(io.BytesIO(sanitize(data).data))
    if mode != "I;16":
        assert came.convert("RGBA").getpixel((0, 0))[3] == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("size", "after"),
    [
        ((512, 512), (512, 512)),
        ((1024, 100), (512, 50)),
        ((100, 2000), (26, 512)),
        ((3, 2), (3, 2)),
    ],
)
def test_a_large_picture_shrinks_and_a_small_one_stays(
    size: tuple[int, int], after: tuple[int, int]
) -> None:
    for kind in ("PNG", "JPEG"):
        logo = sanitize(encoded(picture(size=size), kind))
        assert (logo.width, logo.height) == after


MEASURE = """
import asyncio, json, resource, sys
from honeyguide.kernel.errors import Invalid
from honeyguide.partners.logos import sanitize_apart

def peak_kb(whose):
    return resource.getrusage(whose).ru_maxrss // (1024 if sys.platform == "darwin" else 1)

async def main():
    corpus = [bytes.fromhex(sent) for sent in json.load(sys.stdin)]
    before = peak_kb(resource.RUSAGE_SELF)
    answers = await asyncio.gather(*map(sanitize_apart, corpus), return_exceptions=True)
    grown = peak_kb(resource.RUSAGE_SELF) - before
    outcomes = [
        answer.message if isinstance(answer, Invalid) else answer.data.hex() for answer in answers
    ]
    children = peak_kb(resource.RUSAGE_CHILDREN)
    told = {"grown": grown, "children": children, "outcomes": outcomes}
    print(json.dumps({**told, "pillow": "PIL" in sys.modules}))

asyncio.run(main())
"""


@pytest.mark.long
def test_the_whole_corpus_leaves_the_caller_and_its_children_small() -> None:
    bad = [*BROKEN.values()]
    corpus = [*bad, *CLEANED.values()]
    sent = json.dumps([data.hex() for data in corpus])
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=sent, capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert result["outcomes"][: len(bad)] == [
        refused(lambda data=data: sanitize(data)) for data in bad
    ]  # type: ignore[misc]
    assert result["outcomes"][len(bad) :] == [
        sanitize(data).data.hex() for data in CLEANED.values()
    ]
    print(f"caller grew by {result['grown']} KB, largest child {result['children']} KB")
    assert not result["pillow"]
    assert result["grown"] < 30_000, "the caller keeps nothing but what came out"
    assert result["children"] < 250_000, (
        "16 million pixels in 16 bits need about 150 MB, a bomb would need gigabytes"
    )


def test_a_child_that_takes_too_long_is_killed_and_the_image_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(picture_process, "_CHILD_WALL_S", 0.01)
    assert "too complex" in refused(lambda: asyncio.run(sanitize_apart(SMALL_PNG)))


def test_a_child_that_was_taken_over_does_not_choose_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child"
    child.write_text("""#!/bin/sh\ncat > /dev/null; echo '{"refusal": "{field.__class__}"}'\n""")
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    assert "too complex" in refused(lambda: asyncio.run(sanitize_apart(SMALL_PNG)))


@pytest.mark.long
def test_a_child_that_computes_too_long_is_stopped_by_its_own_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its CPU time, however long the machine takes to give it that."""
    monkeypatch.setattr(picture_process, "_CHILD_WALL_S", 600.0)
    before_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert "too complex" in refused(lambda: asyncio.run(sanitize_apart(scan_bomb())))
    took_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before_s
    assert picture_process._CHILD_CPU_S - 1 < took_s < 2 * picture_process._CHILD_CPU_S


only_where_memory_is_limited = pytest.mark.skipif(
    sys.platform == "darwin",
    reason=(
        "macOS takes a limit on memory and does not keep it, so there is none to test; there a "
        "child's time is its limit"
    ),
)
LIMITED = "from honeyguide.partners import picture_process; picture_process.limit_ourselves(); "
WRITING = "import os; os.write(os.open('x', os.O_CREAT | os.O_WRONLY), b'x')"


@pytest.mark.parametrize(
    ("greed", "fault"),
    [
        pytest.param("bytes(600_000_000)", b"MemoryError", marks=only_where_memory_is_limited),
        (WRITING, b"File too large"),
    ],
)
def test_a_child_gets_no_more_memory_than_its_share_and_writes_no_file(
    greed: str, fault: bytes, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED + greed], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode != 0 and fault in done.stderr


@only_where_memory_is_limited
def test_the_worker_limits_itself_before_it_decodes() -> None:
    tight = (
        "from honeyguide.partners import logos, picture_process; "
        "picture_process._CHILD_MEMORY = 100_000_000; logos._worker(logos.LOGO)"
    )
    sent = CLEANED["PNG 4,000 x 4,000 in 16 bits"]
    done = subprocess.run(
        [sys.executable, "-c", tight], input=sent, capture_output=True, check=True
    )
    assert "too complex" in json.loads(done.stdout)["refusal"]


def test_a_worker_that_cannot_run_is_our_fault_not_the_images(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"}
    monkeypatch.setattr(picture_process, "child_environment", lambda: nowhere)
    with pytest.raises(RuntimeError, match="worker failed"):
        asyncio.run(sanitize_apart(SMALL_PNG))


def test_the_child_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "HONEYGUIDE_SECRET_KEY", "s3cret")
    assert not [name for name in picture_process.child_environment() if "HONEYGUIDE" in name]


def test_uploads_in_parallel_all_come_through() -> None:
    async def flood() -> list[Logo]:
        return await asyncio.gather(*(sanitize_apart(SMALL_PNG) for _ in range(6)))

    assert {logo.data for logo in asyncio.run(flood())} == {sanitize(SMALL_PNG).data}


PLAIN = base64.b64encode(SMALL_PNG).decode()


@pytest.mark.parametrize(
    "value",
    [
        PLAIN,
        PLAIN.rstrip("="),
        base64.encodebytes(SMALL_PNG).decode(),
        "\n " + PLAIN.replace("A", "A\r\n", 5) + "\t",
        base64.urlsafe_b64encode(SMALL_PNG).decode(),
        "data:image/png;base64," + PLAIN,
        "DATA:image/PNG;charset=utf-8;BASE64, " + PLAIN,
        "data:;base64," + PLAIN,
        "data:image/svg+xml;base64," + PLAIN,
    ],
)
def test_a_logo_in_json_is_read_however_it_is_wrapped(value: str) -> None:
    assert decode_field(value) == SMALL_PNG


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "=",
        "====",
        "A",
        "a=b=",
        "data:image/png,abc",
        "data:image/png;base64,",
        "https://example.com/a.png",
        "logo.png",
        "é",
        "AA\x00A",
        "\ud800",
    ],
)
def test_what_is_no_base64_is_refused(value: str) -> None:
    assert "base64" in refused(lambda: decode_field(value))


def test_a_field_too_large_is_refused_before_it_is_decoded() -> None:
    assert "1 MB" in refused(lambda: decode_field("A" * 1_500_000))
    assert len(decode_field(base64.b64encode(bytes(1_048_575)).decode())) == 1_048_575


@pytest.mark.parametrize("shape", [logos.ICON, logos.SHARE])
@pytest.mark.parametrize("sent", [SMALL_PNG, SMALL_JPEG, encoded(picture("RGBA"), "PNG")])
def test_icons_and_share_pictures_get_their_size(sent: bytes, shape: logos.Shape) -> None:
    made = asyncio.run(sanitize_apart(sent, shape))
    assert (made.width, made.height) == (shape.width, shape.height)
    assert made.content_type == ("image/jpeg" if shape is logos.SHARE else "image/png")


@pytest.mark.parametrize("shape", [logos.ICON, logos.SHARE])
def test_what_is_no_image_is_refused_by_the_name_of_its_field(shape: logos.Shape) -> None:
    with pytest.raises(Invalid) as caught:
        asyncio.run(sanitize_apart(b"<svg xmlns='http://www.w3.org/2000/svg'/>", shape))
    assert caught.value.message == f"{shape.param} must be a PNG or JPEG image."
