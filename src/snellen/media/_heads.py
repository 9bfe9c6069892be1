"""What the first bytes of a picture's file say."""

PNG_START = b"\x89PNG\r\n\x1a\n"


def kind_of_head(data: bytes) -> str | None:
    """The format that the first bytes name, among those that are read at all."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(PNG_START):
        return "PNG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "TIFF"
    return "BMP" if data.startswith(b"BM") else None


def is_picture(head: bytes) -> bool:
    """Whether a file that begins so is a picture of a kind that is read."""
    kind = kind_of_head(head)
    return kind is not None and (kind != "BMP" or head[6:10] == b"\0\0\0\0")
