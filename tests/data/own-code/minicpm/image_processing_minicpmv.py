"""The image processor of a stand-in for MiniCPM-V 2.6: each picture becomes a small square."""

import numpy as np
import torch
from PIL import Image
from transformers import AutoImageProcessor
from transformers.image_processing_utils import BaseImageProcessor


class MiniCPMVImageProcessor(BaseImageProcessor):
    model_input_names = ["pixel_values"]  # noqa: RUF012

    def __init__(self, image_feature_size=4, max_slice_nums=9, use_image_id=True, **kwargs):
        super().__init__(**kwargs)
        self.image_feature_size = image_feature_size
        self.max_slice_nums = max_slice_nums
        self.use_image_id = use_image_id

    def square(self, picture, side=28):
        assert isinstance(picture, Image.Image) and picture.mode == "RGB"
        pixels = np.asarray(picture.resize((side, side)), np.float32) / 255
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


AutoImageProcessor.register("MiniCPMVImageProcessor", MiniCPMVImageProcessor)
