"""A data set class in VLMEvalKit's shape."""

from openpyxl import load_workbook


class Letters:
    TYPE = "MCQ"
    MODALITY = "IMAGE"

    @classmethod
    def supported_datasets(cls):
        return ["Letters"]

    def __init__(self, dataset="Letters", skip_noimg=True):
        self.dataset_name = dataset
        self.data = [
            dict(
                index=number,
                question=f"Which color has square {number}?",
                A=("red", "black")[number // 3],
                B=("green", "white")[number // 3],
                C=("blue", "yellow")[number // 3],
                answer="ABC"[number % 3],
                category=("first", "second")[number // 3],
                image=f"iVBORw0KGgo{number}",
            )
            for number in range(6)
        ]

    def dump_image(self, line):
        return [f"pictures/{line['index']}.png"]

    def build_prompt(self, line):
        parts = [dict(type="image", value=path) for path in self.dump_image(line)]
        choices = "\n".join(f"{letter}. {line[letter]}" for letter in "ABC")
        return [*parts, dict(type="text", value=f"{line['question']}\n{choices}")]

    def evaluate(self, eval_file, **judge_kwargs):
        head, *rows = load_workbook(eval_file).active.values
        rows = [dict(zip(head, row, strict=True)) for row in rows]
        hits = [row["prediction"] == row["answer"] for row in rows]
        return {"Overall": 100 * sum(hits) / len(hits), "by": {"n": len(hits)}}
