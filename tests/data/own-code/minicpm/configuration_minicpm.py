"""The configuration of a stand-in for MiniCPM-V 2.6, with the same keys."""

from transformers import Qwen2Config


class MiniCPMVConfig(Qwen2Config):
    model_type = "minicpmv"

    def __init__(
        self,
        query_num=64,
        image_size=448,
        patch_size=14,
        slice_mode=True,
        use_image_id=True,
        slice_config=None,
        drop_vision_last_layer=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.query_num = query_num
        self.image_size = image_size
        self.patch_size = patch_size
        self.slice_mode = slice_mode
        self.use_image_id = use_image_id
        self.slice_config = slice_config or {"max_slice_nums": 9}
        self.drop_vision_last_layer = drop_vision_last_layer
