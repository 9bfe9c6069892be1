"""Read by every Python that starts with this folder on PYTHONPATH: torchvision is not there."""

import sys

sys.modules["torchvision"] = None  # type: ignore[assignment]
