"""Computes a digest of the weights in a folder."""

from hashlib import blake2b
from pathlib import Path

FILES = (".json", ".jinja", ".py", ".txt", ".safetensors")
"""Suffixes of the files in a model's folder that can change the model's replies."""
END = 1 << 20
"""The number of bytes at the start and at the end of a file that are part of the digest."""


def digest(folder: Path) -> str:
    """Return the BLAKE2b-64 digest (hex) of the names, sizes, starts, and ends of a model's files.
    The starts and ends of files are enough, because training changes the weights everywhere."""
    hasher = blake2b(digest_size=8)
    for path in sorted(folder.iterdir()):
        if path.suffix in FILES:
            size = path.stat().st_size
            hasher.update(f"{path.name} {size}\n".encode())
            with path.open("rb") as file:
                hasher.update(file.read(END))
                file.seek(max(END, size - END))
                hasher.update(file.read())
    return hasher.hexdigest()
