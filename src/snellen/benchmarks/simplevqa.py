"""SimpleVQA: short questions on facts, in Chinese and English, with a judge of three labels.

Paper    Cheng et al. 2025, SimpleVQA: Multimodal Factuality Evaluation for Multimodal Large
         Language Models, https://arxiv.org/abs/2502.13059 (ICCV).
Data     m-a-p/SimpleVQA on the Hugging Face hub, under Apache-2.0: 2,025 questions as parquet with
         base64 pictures (pass the folder). VLMEvalKit's SimpleVQA.tsv can also be read.
Prompt   `official`: the picture, then the question in the authors' words, in Chinese if data_id is
         below 1012, SimpleVQA/SimpleVQA@b94d1f3d05d7f488afcdcf95bfcd69bcb279111e:data_engineering/
         vqa_request/simplevqa_request_lvlm_api_parallel.py#L110-L130. Rows without data_id count as
         Chinese if the question has a Chinese character.
         `vlmevalkit`: the picture, then the bare question. `lmms-eval`: with "Answer the question
         using a short phrase." and 32 tokens. The authors set no limit; here, it is 512 tokens.
Scoring  `official`: GPT-4o judges, at its default temperature, llm_as_a_vqa_judger.py#L87-L211. A
         verdict is a label; other texts of more than three characters are "not attempted", even
         "correct, because …", simpleVQA_eval.py#L33-L49. The authors' script stops at any other
         verdict; here, such a reply stays unjudged. `accuracy` is the share of correct replies. The
         other metrics have the names of the authors' script, which rounds shares to four digits
         first (#L56-L78). VLMEvalKit's prompt lacks the spaces at the ends of lines.
         `lmms-eval`: the reply equals the answer after TextVQA's normalization, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/simplevqa/utils.py.
Proof    For generated verdicts, labels and aggregates equal those of the authors' code
         (tests/parity). The prompts equal the authors', by their digests. No outputs are
         published.
"""

import json
from base64 import b64decode
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.attempted import figures
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation, prompts
from snellen.benchmarks.families.judges import CHINESE
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import Benchmark, Interop, Published, Reading, Reply, Sample, Scoring
from snellen.data import Row, find, jsonl
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Metric, mean
from snellen.text.vqa import normalize_textvqa

REVISION = "b94d1f3d05d7f488afcdcf95bfcd69bcb279111e"
KIND = "words"
NEEDS_JUDGE = True
LANGUAGES = ("zh", "en")
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 2025
ALIASES = {"SimpleVQA": {"prompt": "vlmevalkit"}}
SHEET = own_sheet("SimpleVQA", md5="e3ce3c11df59a2a15d37489a8b245a87")
LABELS = {"正确": "correct", "错误": "incorrect", "未尝试": "not attempted"}
KEY = "预测答案0"
"""What the judge calls the only reply that it is asked about."""
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def simplevqa(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "simplevqa", [SHEET.name], (SHEET,))
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    return Benchmark(
        name="simplevqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row),
        prompt=lambda sample, _: (user(*sample.media, question(sample, prompt)),),
        scorings={
            "official": judged(
                f"SimpleVQA/SimpleVQA@{REVISION}:simpleVQA_eval.py#L20-L92",
                judge_of_all("gpt-4o", judge_prompt, verdict, temperature=None),
                lambda reading, _: float(reading.answer == "correct"),
                {"accuracy": mean, **figures(digits=4)},
            ),
            "lmms-eval": Scoring(
                version=1,
                source=f"{pins.LMMS_EVAL}:lmms_eval/tasks/simplevqa/utils.py#L34-L38",
                parse=parse_verbatim,
                score=lambda reading, sample: float(
                    normalize_textvqa(str(reading.answer or ""))
                    == normalize_textvqa(sample.target or "")
                ),
                metrics={"exact_match": Metric(mean, better="higher")},
            ),
        },
        max_answer_tokens=32 if prompt == "lmms-eval" else 512,
        check=check(
            lambda sample, reply: json.dumps(
                {KEY: "正确" if reply.text == sample.target else "错误"}
            ),
            ("official", "lmms-eval"),
        ),
        presentation=presentation(
            ("language",), "knowledge/world", "https://arxiv.org/abs/2502.13059, abstract"
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file, which includes the pictures."""
    return (SHEET,)


def to_sample(row: Row) -> Sample:
    number, picture = row.get("data_id"), row["image"]
    if isinstance(picture, str):  # as on the hub
        row = Row({**row, "image": b64decode(picture)}, row.position)
    chinese = CHINESE.search(row["question"]) if number is None else int(number) < 1012
    return Sample(
        id=str(row.get("index", row.position) if number is None else number),
        question=row["question"],
        media=(authors_files.picture(row),),
        target=row["answer"],
        tags={"language": "Chinese" if chinese else "English"},
    )


def question(sample: Sample, prompt: Preset) -> str:
    if prompt == "official":
        words: str = prompts("simplevqa")[f"ask_{sample.tags['language']}"]
        return words.replace("[<question>]", sample.question)
    if prompt == "vlmevalkit":
        return sample.question
    return f"{sample.question.strip()}\nAnswer the question using a short phrase."


def judge_prompt(sample: Sample, reply: Reply) -> str:
    words: str = prompts("simplevqa")["judge"]
    candidates = f"\n[{KEY}]：{reply.text}"
    return words.format(question=sample.question, answer=sample.target, candidates=candidates)


def verdict(words: str, _: Sample) -> Reading:
    """Parse the first verdict in a JSON object, whose closing brace may be missing."""
    for fence in ("```json", "```python", "```"):
        words = words.replace(fence, "")
    words = words.strip()
    try:
        content = json.loads(words if words.endswith("}") else f"{words}}}")
    except (ValueError, RecursionError):
        return Reading(answer=None, rule="no JSON")
    first = next(iter(content.values()), None) if isinstance(content, dict) else None
    return Reading(answer=label(first), rule="verdict")


def label(value: object) -> str | None:
    """The label of a verdict, which is a text or an object with a conclusion."""
    text = value.get("conclusion") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return None
    text = text.replace("**", "")
    long = len(text) > 3 and not isinstance(value, dict)
    return "not attempted" if long else LABELS.get(text)


def layout(path: Path) -> Published | None:
    """Read the authors' list of questions, each with a model's reply and the judge's verdict.

    Raises:
        DataError: the file has verdicts on several models, or two rows have the same id.
    """
    rows = of_json(path)
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and "data_id" in row and isinstance(row.get("judge_res"), dict)
        for row in rows
    ):
        return None
    models = sorted({model for row in rows for model in row["judge_res"]})
    if len(models) > 1:
        raise DataError(
            f"{path} has verdicts on several models: {', '.join(models)}. Write a file for each "
            "model, with only this model's verdicts in `judge_res`."
        )
    verdicts = {
        str(row["data_id"]): (json.dumps({KEY: value}),)
        for row in rows
        for value in row["judge_res"].values()
    }
    texts = {str(row["data_id"]): row.get("".join(models), "") for row in rows}
    if len(texts) < len(rows):
        raise DataError(
            f"{path} has several rows with the same data_id. Remove all but one of them."
        )
    replies = {name: text if isinstance(text, str) else None for name, text in texts.items()}
    return Published(replies=replies, verdicts={"official": verdicts}) if models else None
