"""Lets torchvision be imported beside a torch for the CPU alone, for tests: declares the operators
of its compiled part, which links to CUDA, that it names when it is imported. What is written in
Python works then, as the video processors of transformers need it; detection and reading of files
do not.

A folder with a file of this name on PYTHONPATH is read by each Python that starts.
"""

import torch

OPERATORS = torch.library.Library("torchvision", "FRAGMENT")
if not hasattr(torch.ops.torchvision, "nms"):
    for name in ("nms", "qnms"):
        OPERATORS.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
