"""Which weights a folder has."""

from hashlib import blake2b
from pathlib import Path

FILES = (".json", ".jinja", ".py", ".txt", ".safetensors")
"""What in a model's folder changes its replies."""
END = 1 << 20
"""Bytes at a file's start and end that tell it from others of its size."""


def digest(folder: Path) -> str:
    """BLAKE2b-64 (hex) of the names, sizes, starts and ends of a model's files: another training
    changes them all."""
    told = blake2b(digest_size=8)
    for path in sorted(folder.iterdir()):
        if path.suffix in FILES:
            size = path.stat().st_size
            told.update(f"{path.name} {size}\n".encode())
            with path.open("rb") as file:
                told.update(file.read(END))
                file.seek(max(END, size - END))
                told.update(file.read())
    return told.hexdigest()
