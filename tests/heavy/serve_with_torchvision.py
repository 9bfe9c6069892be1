"""`transformers` with a torchvision whose compiled part is not loaded, as in the tests' process.
Pillow decodes pictures in its stead.

usage: python -m tests.heavy.serve_with_torchvision serve MODEL ...
"""

import importlib
import io
from typing import Any

import numpy as np
import PIL.Image

from tests.heavy.conftest import declared


def decoded(data: Any, **_: Any) -> Any:
    """The red, green, and blue pixels (3, height, width) of a picture file, as torchvision decodes
    them for transformers."""
    import torch

    picture = PIL.Image.open(io.BytesIO(bytes(data.numpy()))).convert("RGB")
    return torch.from_numpy(np.array(picture).transpose(2, 0, 1))


if __name__ == "__main__":
    declared()
    from transformers.cli.transformers import main

    importlib.import_module("torchvision.io").decode_image = decoded  # type: ignore[attr-defined]
    main()
