"""Logos an attacker or a careless camera would send, by name: NOT_AN_IMAGE and BROKEN are
refused, CLEANED come out clean.
"""

import io
import random
import struct
import zipfile
import zlib

from PIL import Image, PngImagePlugin

SECRET = b"SECRET-PAYLOAD"
MANY = 1_000_000
_compressor = zlib.compressobj(9, wbits=-15)
_MANY_ZEROS = _compressor.compress(bytes(MANY)) + _compressor.flush(zlib.Z_FULL_FLUSH)
HTML = b"<html><script>alert('SECRET-PAYLOAD')</script></html>"


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(7).randbytes(width * height * 3))


def picture(mode: str = "RGB", size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.linear_gradient("L").resize(size).convert(mode)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def zeros(count: int) -> bytes:
    """So many, compressed; a block of many is compressed once, and then repeated."""
    rest = zlib.compressobj(9, wbits=-15)
    adler32 = (count % 65_521 << 16) | 1
    return b"".join(
        (
            b"\x78\xda",
            _MANY_ZEROS * (count // MANY),
            rest.compress(bytes(count % MANY)),
            rest.flush(),
            adler32.to_bytes(4, "big"),
        )
    )


def png(
    width: int,
    height: int,
    *extra: bytes,
    depth: int = 8,
    colour: int = 0,
    pixels: bytes | None = None,
) -> bytes:
    """A PNG by hand, so that its header can lie. Without `pixels` it has black rows, as many as fit
    in a few KB.
    """
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    body = zeros(min((width + 1) * height, 60_000_000)) if pixels is None else pixels
    return (
        b"\x89PNG\r\n\x1a\n" + header + b"".join(extra) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def with_chunks(*chunks: bytes, after_pixels: bool = False) -> bytes:
    whole = encoded(picture(), "PNG")
    place = whole.index(b"IEND") - 4 if after_pixels else whole.index(b"IDAT") - 4
    return whole[:place] + b"".join(chunks) + whole[place:]


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("index.html", HTML)
    return out.getvalue()


def exif(**tags: object) -> bytes:
    data = Image.Exif()
    data[0x010E] = SECRET.decode()
    data[0x0112] = tags.get("orientation", 1)
    data.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0), 29: SECRET.decode()})
    return data.tobytes()


def jpeg_segment(marker: int, body: bytes) -> bytes:
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body


def jpeg_with(*segments: bytes) -> bytes:
    whole = encoded(picture(), "JPEG")
    return whole[:2] + b"".join(segments) + whole[2:]


def thumbnailed() -> bytes:
    """A whole JPEG inside the metadata of another, as cameras write it: its end comes long before
    the picture's.
    """
    thumbnail = encoded(picture(size=(16, 12)), "JPEG")
    return encoded(picture(), "JPEG", exif=b"Exif\x00\x00" + exif() + thumbnail)


def text_info() -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", HTML.decode())
    info.add_itxt("XML:com.adobe.xmp", HTML.decode(), zip=True)
    return info


def jpeg_claiming(width: int, height: int) -> bytes:
    whole = bytearray(encoded(picture(), "JPEG"))
    place = whole.index(b"\xff\xc0") + 5
    whole[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(whole)


def scan_bomb() -> bytes:
    """A progressive JPEG with its last scan repeated: small to send, long to decode."""
    whole = encoded(picture("L", (3900, 3900)), "JPEG", progressive=True, quality=1)
    last = whole.rindex(b"\xff\xda")
    scan = whole[last:-2]
    return whole[:-2] + scan * ((900_000 - len(whole)) // len(scan)) + whole[-2:]


BOMB = zeros(60_000_000)
MEGABYTE = zeros(1_000_000)
DEEP = zeros(8 * 16_000_000 + 4_000)
SMALL_PNG = encoded(picture(), "PNG")
SMALL_JPEG = encoded(picture(), "JPEG")
SCANS = encoded(noise(64, 48), "JPEG", progressive=True, restart_marker_blocks=1, comment=SECRET)
TIME = chunk(b"tIME", bytes(7))
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert("SECRET-PAYLOAD")</script></svg>'

NOT_AN_IMAGE: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"\x89",
    "SVG": SVG,
    "SVG with a declaration": b'<?xml version="1.0"?>' + SVG,
    "HTML": HTML,
    "script": b"alert(1)",
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + HTML,
    "ZIP": zipped(),
    "GIF": encoded(picture("P"), "GIF"),
    "GIF with a script": b"GIF89a/*" + HTML,
    "BMP": encoded(picture(), "BMP"),
    "TIFF": encoded(picture(), "TIFF"),
    "WEBP": b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(24),
    "ICO": encoded(picture(), "ICO"),
    "PPM": encoded(picture(), "PPM"),
    "EPS": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(SECRET-PAYLOAD) print",
    "PSD": b"8BPS\x00\x01" + bytes(6) + b"\x00\x03\x00\x00\x10\x00\x00\x00\x10\x00\x00\x08\x00\x03",
    "FITS": b"SIMPLE  =                    T" + b" " * 2850 + MEGABYTE,
    "PNG after HTML": HTML + SMALL_PNG,
    "PNG after a space": b" " + SMALL_PNG,
    "JPEG after a ZIP": zipped() + SMALL_JPEG,
    "JPEG 2000": b"\x00\x00\x00\x0cjP  \r\n\x87\n" + bytes(64),
    "MNG": b"\x8aMNG\r\n\x1a\n" + SMALL_PNG[8:],
    "path": b"../../x.png",
}
BROKEN: dict[str, bytes] = {
    "PNG of exactly 1 MB": with_chunks(chunk(b"prIv", bytes(1_048_576 - len(SMALL_PNG) - 12))),
    "PNG of 1 MB and a byte": with_chunks(chunk(b"prIv", bytes(1_048_577 - len(SMALL_PNG) - 12))),
    "PNG signature only": SMALL_PNG[:8],
    "PNG header only": SMALL_PNG[:33],
    "PNG truncated": encoded(noise(200, 200), "PNG")[:50_000],
    "PNG with HTML as pixels": png(10, 10, pixels=HTML),
    "PNG with a broken checksum": SMALL_PNG.replace(b"IDAT", b"IDAX"),
    "PNG without pixels": SMALL_PNG[:33] + chunk(b"IEND", b""),
    "PNG too short of pixels": png(100, 100, pixels=zlib.compress(bytes(50))),
    "PNG 0 x 0": png(0, 0),
    "PNG 0 x 10": png(0, 10),
    "PNG 1000000000 x 0": png(1_000_000_000, 0),
    "PNG of a colour type that is none": png(10, 10, colour=5),
    "PNG 30,000 x 30,000": png(30_000, 30_000, pixels=BOMB),
    "PNG 12,000 x 12,000": png(12_000, 12_000, pixels=BOMB),
    "PNG 4,001 x 4,000": png(4_001, 4_000),
    "PNG 4294967295 x 4294967295": png(2**32 - 1, 2**32 - 1, pixels=BOMB),
    "PNG 1 x 16,000,000": png(1, 16_000_000, pixels=BOMB),
    "PNG 16,000,000 x 1": png(16_000_000, 1, pixels=BOMB),
    "PNG 2147483647 x 1": png(2**31 - 1, 1, pixels=BOMB),
    "PNG zTXt bomb": with_chunks(chunk(b"zTXt", b"Comment\x00\x00" + BOMB)),
    "PNG iTXt bomb": with_chunks(chunk(b"iTXt", b"Comment\x00\x01\x00\x00\x00" + BOMB)),
    "PNG iCCP bomb": with_chunks(chunk(b"iCCP", b"icc\x00\x00" + BOMB)),
    "PNG of many texts": with_chunks(
        *[chunk(b"zTXt", b"k%d\x00\x00" % n + MEGABYTE) for n in range(99)]
    ),
    "PNG of a chunk of 2 GB": SMALL_PNG[:33] + struct.pack(">I", 2**31 - 1) + b"tEXt" + bytes(100),
    "PNG with an end in a chunk too long": SMALL_PNG[:-12]
    + struct.pack(">I", 2**31)
    + b"prIv"
    + SMALL_PNG[-12:]
    + HTML,
    "JPEG without an end": SMALL_JPEG[:-2],
    "JPEG with a JPEG for an end": SMALL_JPEG[:-2] + SMALL_JPEG,
    "JPEG signature only": b"\xff\xd8\xff",
    "JPEG header only": SMALL_JPEG[:200],
    "JPEG truncated": encoded(noise(300, 300), "JPEG")[:20_000],
    "JPEG then HTML": SMALL_JPEG[:4] + HTML,
    "JPEG 65,000 x 65,000": jpeg_claiming(65_000, 65_000),
    "JPEG 0 x 0": jpeg_claiming(0, 0),
    "JPEG 8,000 x 8,000 of 64 x 48": jpeg_claiming(8_000, 8_000),
}
CLEANED: dict[str, bytes] = {
    "PNG then HTML": SMALL_PNG + HTML,
    "PNG then ZIP": SMALL_PNG + zipped(),
    "PNG then another PNG": SMALL_PNG + SMALL_PNG,
    "PNG then another chunk": SMALL_PNG + TIME,
    "PNG then one letter": SMALL_PNG + b"a",
    "PNG, room, then HTML": SMALL_PNG + bytes(4096) + b"\r\n" + HTML,
    "PNG with HTML in its last chunk": SMALL_PNG[:-12] + chunk(b"IEND", HTML),
    "JPEG then HTML at its end": SMALL_JPEG + HTML,
    "JPEG then ZIP": SMALL_JPEG + zipped(),
    "JPEG then another end": SMALL_JPEG + b"\xff\xd9",
    "JPEG with a thumbnail, then PDF": thumbnailed() + b"%PDF-1.7\n" + HTML,
    "JPEG in scans, then a PNG": SCANS + SMALL_PNG,
    "JPEG, room, then HTML": SMALL_JPEG + b" \n" * 2048 + HTML,
    "JPEG of several pictures": encoded(
        picture(), "MPO", save_all=True, append_images=[noise(64, 48)]
    ),
    "JPEG then a film, as phones send": SMALL_JPEG + b"\x00\x00\x00\x18ftypmp42" + SECRET * 5_000,
    "PNG without an end": SMALL_PNG[:-12],
    "PNG with a ZIP for an end": SMALL_PNG[:-12] + zipped(),
    "PNG with a PNG for an end": SMALL_PNG[:-12] + SMALL_PNG,
    "JPEG with a ZIP for an end": SMALL_JPEG[:-2] + zipped(),
    "JPEG with an end in a segment too long": SMALL_JPEG[:-2] + b"\xff\xfe\xff\xff\xff\xd9" + HTML,
    "JPEG with a segment of no length": jpeg_with(b"\xff\xfe\x00\x00" + HTML),
    "PNG with zeros behind it": with_chunks(TIME) + bytes(4096),
    "PNG with a line end behind it": with_chunks(TIME) + b"\r\n",
    "PNG with a ZIP in a chunk": with_chunks(chunk(b"prIv", zipped() + SMALL_PNG[-12:])),
    "PNG with HTML as text": encoded(picture(), "PNG", pnginfo=text_info()),
    "PNG with text after its pixels": with_chunks(
        chunk(b"tEXt", b"Comment\x00" + HTML), after_pixels=True
    ),
    "PNG with an unknown chunk": with_chunks(chunk(b"prIv", HTML)),
    "PNG with a colour profile": encoded(picture(), "PNG", icc_profile=SECRET * 20),
    "PNG with EXIF": encoded(picture(), "PNG", exif=exif()),
    "PNG animated": encoded(
        picture(), "PNG", save_all=True, append_images=[noise(64, 48)], pnginfo=text_info()
    ),
    "PNG 1 x 16,000": png(1, 16_000, chunk(b"tEXt", b"a\x00" + SECRET)),
    "PNG 16,000 x 1": png(16_000, 1, chunk(b"tEXt", b"a\x00" + SECRET)),
    "PNG 4,000 x 4,000": png(4_000, 4_000, chunk(b"tEXt", b"a\x00" + SECRET)),
    "PNG 4,000 x 4,000 in 16 bits": png(4_000, 4_000, depth=16, colour=6, pixels=DEEP),
    "JPEG with EXIF and GPS": encoded(picture(), "JPEG", exif=exif(orientation=6)),
    "JPEG with broken EXIF": jpeg_with(
        jpeg_segment(0xE1, b"Exif\x00\x00MM\x00*\xff\xff\xff\xff" + SECRET)
    ),
    "JPEG with a comment": encoded(picture(), "JPEG", comment=HTML),
    "JPEG with XMP": jpeg_with(jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + HTML)),
    "JPEG with a colour profile": encoded(picture(), "JPEG", icc_profile=SECRET * 20),
    "JPEG with Photoshop data": jpeg_with(
        jpeg_segment(0xED, b"Photoshop 3.0\x008BIM\x04\x04" + bytes(5) + b"\x0e" + SECRET)
    ),
    "JPEG with a thumbnail": thumbnailed(),
    "JPEG with a ZIP and an end in a comment": encoded(
        picture(), "JPEG", comment=zipped() + b"\xff\xd9"
    ),
    "JPEG with a comment before its end": SMALL_JPEG[:-2]
    + jpeg_segment(0xFE, b"\xff\xd9" + HTML)
    + SMALL_JPEG[-2:],
    "JPEG with fill before its end": SMALL_JPEG[:-2] + b"\xff\xff" + SMALL_JPEG[-2:],
    "JPEG in scans with restarts": SCANS,
    "JPEG with zeros behind it": SMALL_JPEG + bytes(4096),
    "JPEG with a line end behind it": SMALL_JPEG + b"\n",
    "JPEG in CMYK": encoded(picture("CMYK"), "JPEG", comment=SECRET),
}
