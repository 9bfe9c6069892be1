"""Draw the rows that are bundled with benchmarks of videos: `python scripts/draw_video_sets.py`.

Each benchmark has a video of letters that appear and disappear, and questions about it in the
format of the benchmark's authors. The names of the functions below are those of the folders.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from snellen.media.drawing import Script, clip_script, write_clip

ROWS = Path(__file__).parents[1] / "src/snellen/benchmarks/rows"
FPS = 10
CLIP = clip_script("flash", "1")
LETTERS = [appearance.letter for appearance in CLIP.shown]
OTHERS = [letter for letter in "HKNORSVZ" if letter not in (LETTERS[0], LETTERS[-1])]


class Question(NamedTuple):
    """A question about the video, with its right answer among choices."""

    text: str
    choices: tuple[str, ...]
    position: int
    """The position of the right choice."""

    @property
    def right(self) -> str:
        return self.choices[self.position]

    @property
    def letter(self) -> str:
        return "ABCDE"[self.position]

    def lettered(self, form: str = "{letter}. {choice}") -> list[str]:
        pairs = zip("ABCDE", self.choices, strict=False)
        return [form.format(letter=letter, choice=choice) for letter, choice in pairs]


def questions(n_choices: int = 4) -> Iterator[Question]:
    """Eight questions, whose right answers are A, B, C, D, A, ..."""
    facts = [
        ("What is shown in this video?", "Letters", ("Dogs", "Houses", "Clouds", "Boats")),
        ("Which letter comes first?", f"The letter {LETTERS[0]}", letters()),
        ("Which letter comes last?", f"The letter {LETTERS[-1]}", letters()),
        ("What color are the letters?", "Black", ("Red", "Blue", "White", "Green")),
        ("What does a letter do?", "It goes away", ("It turns", "It grows", "It falls", "It hums")),
        ("How many letters come in all?", f"{len(LETTERS)} letters",
         tuple(f"{len(LETTERS) + n} letters" for n in (1, 2, 3, 4))),
        ("What is the purpose of this video?", "To test eyes",
         ("To sell shoes", "To teach a dance", "To show a town", "To tell a joke")),
        ("What follows a letter?", "An empty screen",
         ("A song", "A picture of a hat", "A map", "A short film")),
    ]  # fmt: skip
    for number, (text, right, wrong) in enumerate(facts):
        position = number % 4 % n_choices
        others = wrong[: n_choices - 1]
        yield Question(text, (*others[:position], right, *others[position:]), position)


def letters() -> tuple[str, ...]:
    return tuple(f"The letter {letter}" for letter in OTHERS[:4])


def write(folder: str, name: str, content: object) -> None:
    path = ROWS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_lines(folder: str, name: str, rows: list[dict[str, Any]]) -> None:
    path = ROWS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def video(folder: str, name: str, script: Script = CLIP) -> None:
    path = ROWS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_clip(script, path)


def tempcompass() -> None:
    first, last = f"The letter {LETTERS[0]}", f"The letter {LETTERS[-1]}"
    order = [
        {"question": "\n".join([item.text, *item.lettered()]),
         "answer": f"{item.letter}. {item.right}"}
        for item in (*questions(),)[1:3]
    ]  # fmt: skip
    speed = [
        {"question": "How do the letters come?\nA. slowly\nB. quickly\nC. not at all",
         "answer": "B. quickly"},
        {"question": "How do the letters go?\nA. quickly\nB. slowly", "answer": "A. quickly"},
    ]  # fmt: skip
    yes_no = [
        {"question": f"Does {first} come first?", "answer": "yes"},
        {"question": f"Does {last} come first?", "answer": "no"},
    ]
    right = f"{first} comes before {last}."
    wrong = f"{last} comes before {first}."
    matching = [
        {"question": f"Which description is a more suitable match for the video?\n"
                     f"Option 1: {wrong}\nOption 2: {right}", "answer": f"Option 2: {right}"},
        {"question": f"Which caption matches the video better?\n"
                     f"Caption A: {right}\nCaption B: {wrong}", "answer": f"Caption A: {right}"},
    ]  # fmt: skip
    caption = {
        aspect: [
            {"question": f"Describe the {aspect} in the video with the right information.\n"
                         f"Information A: {right}\nInformation B: {wrong}\nGenerated Caption:",
             "answer": "A. first"},
        ]
        for aspect in ("order", "speed")
    }  # fmt: skip
    for task, aspects in {
        "multi-choice": {"order": order, "speed": speed},
        "yes_no": {"order": yes_no},
        "caption_matching": {"order": matching},
        "captioning": caption,
    }.items():
        write("tempcompass", f"questions/{task}.json", {"1": aspects})
    kinds = {"order": {}, "speed": {"type": "absolute speed"}}
    write("tempcompass", "meta_info.json", {"1": {"eval_dim": kinds, "content": ["artificial"]}})
    video("tempcompass", "videos/1.mp4")


def vsi_bench() -> None:
    kinds = (
        *("object_rel_direction_easy", "object_rel_direction_medium", "object_rel_direction_hard"),
        *("object_rel_distance", "route_planning", "obj_appearance_order"),
    )
    rows: list[dict[str, Any]] = [
        {"question_type": kind, "question": item.text, "ground_truth": item.letter,
         "options": item.lettered()}
        for kind, item in zip(kinds, questions(), strict=False)
    ]  # fmt: skip
    rows += [
        {"question_type": kind, "question": text, "ground_truth": target, "options": None}
        for kind, text, target in (
            ("object_counting", "How many letters and empty screens are there?",
             str(2 * len(LETTERS))),
            ("object_abs_distance", "How wide is the video in tens of pixels?", "32.0"),
            ("object_size_estimation", "How many seconds are in two minutes?", "120"),
            ("room_size_estimation", "How high is the video in tens of pixels?", "24.0"),
        )
    ]  # fmt: skip
    video("vsi_bench", "scannet/letters.mp4")
    write_lines("vsi_bench", "test.jsonl", [
        {"id": number, "dataset": "scannet", "scene_name": "letters", **row}
        for number, row in enumerate(rows)
    ])  # fmt: skip


def charades_sta() -> None:
    """The lines of the authors' file: when a letter is on the screen."""
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    shown = [*zip(ordinals, CLIP.shown, strict=False)]
    rows = [
        f"LTRS1 {letter.first / FPS:.1f} {letter.end / FPS:.1f}##the {ordinal} letter is there.\n"
        for ordinal, letter in shown
    ] + [
        f"LTRS1 {last.end / FPS:.1f} {letter.first / FPS:.1f}##the screen waits for the {ordinal} "
        "letter.\n"
        for (_, last), (ordinal, letter) in pairwise(shown)
    ]
    video("charades_sta", "Charades_v1_480/LTRS1.mp4")
    path = ROWS / "charades_sta" / "charades_sta_test.txt"
    path.write_text("".join(rows), encoding="utf-8")


def cg_bench() -> None:
    kinds = ("Entity Perception", "Event Perception", "Time Perception", "Text Perception")
    spans = [[letter.first / FPS, letter.end / FPS] for letter in CLIP.shown]
    rows = [
        {"qid": number, "video_uid": "letters", "question": item.text, "answer": item.right,
         "choices": item.choices, "right_answer": item.letter,
         "clue_intervals": spans[number % 4 : number % 4 + 1 + number % 2],
         "domain": "Special Scenes", "sub_category": kinds[number % 4], "duration": 30}
        for number, item in enumerate(questions())
    ]  # fmt: skip
    write("cg_bench", "cgbench_mini.json", rows)
    video("cg_bench", "cg_videos_720p/letters.mp4")


def in_mvbench_form(folder: str, tasks: dict[str, str], json_folder: str, clips: str) -> None:
    """Rows as in MVBench: a file for each task, which maps to the folder of its videos."""
    items = [*questions()]
    for number, (task, video_folder) in enumerate(tasks.items()):
        rows = [
            {"video": "1.mp4", "question": item.text, "candidates": item.choices,
             "answer": item.right}
            for item in items[4 * number : 4 * number + 4]
        ]  # fmt: skip
        write(folder, f"{json_folder}{task}.json", rows)
        video(folder, f"{clips}/{video_folder}/1.mp4")


def mvbench() -> None:
    folders = {"action_sequence": "star/Charades_v1_480", "character_order": "perception/videos"}
    in_mvbench_form("mvbench", folders, "json/", "video")


def tvbench() -> None:
    tasks = {"action_count": "action_count", "scene_transition": "scene_transition"}
    in_mvbench_form("tvbench", tasks, "json/", "video")


def mlvu() -> None:
    in_mvbench_form("mlvu", {"4_count": "4_count", "5_order": "5_order"}, "json/", "video")
    first, last = LETTERS[0], LETTERS[-1]
    scenes = [
        (f"Please describe what the letter {first} does.", "It comes first, and goes away.",
         ["The letter comes first", "The letter goes away"]),
        (f"Please describe what follows the letter {last}.", "An empty screen.", ["It is empty"]),
    ]  # fmt: skip
    write("mlvu", "json/8_sub_scene.json", [
        {"video": "1.mp4", "question": question, "answer": answer, "question_type": "subPlot",
         "scoring_points": points}
        for question, answer, points in scenes
    ])  # fmt: skip
    summary = {"video": "1.mp4", "question": "Please summarize this video.",
               "answer": "Letters come and go.", "question_type": "summary"}  # fmt: skip
    write("mlvu", "json/9_summary.json", [summary])
    for name in ("8_sub_scene", "9_summary"):
        video("mlvu", f"video/{name}/1.mp4")


def lvbench() -> None:
    kinds = ("entity recognition", "event understanding", "temporal grounding", "summarization")
    entries = [
        {"uid": str(number), "answer": item.letter, "question_type": [kinds[number % 4]],
         "question": "\n".join([item.text, *item.lettered("({letter}) {choice}")]),
         "time_reference": "00:00-00:30"}
        for number, item in enumerate(questions())
    ]  # fmt: skip
    row = {"key": "letters", "type": "cartoon", "qa": entries}
    write_lines("lvbench", "data/video_info.meta.jsonl", [row])
    video("lvbench", "videos/letters.mp4")


def motionbench() -> None:
    kinds = ("Action Order", "Motion Recognition", "Camera Motion", "Repetition Count")
    rows = [
        {"key": str(number), "video_path": "letters.mp4", "video_type": "artificial",
         "question_type": kinds[number % 4],
         "qa": [{"uid": f"m{number}", "question": "\n".join([item.text, *item.lettered()]),
                 "answer": item.letter}]}
        for number, item in enumerate(questions())
    ]  # fmt: skip
    write_lines("motionbench", "video_info.meta.jsonl", rows)
    video("motionbench", "videos/letters.mp4")


def longvideobench() -> None:
    rows = [
        {"id": f"letters_{number}", "video_path": "letters.mp4", "question": item.text,
         "candidates": item.choices, "correct_choice": item.position, "duration_group": 60,
         "question_category": ("S2E", "E3E", "T2A", "SOS")[number % 4],
         "level": ("L1-Perception", "L2-Relation")[number % 2]}
        for number, item in enumerate(questions())
    ]  # fmt: skip
    write("longvideobench", "lvb_val.json", rows)
    video("longvideobench", "videos/letters.mp4")


def egoschema() -> None:
    items = [*questions(5)]
    rows = [
        {"q_uid": f"letters-{number}", "question": item.text,
         **{f"option {index}": choice for index, choice in enumerate(item.choices)}}
        for number, item in enumerate(items)
    ]  # fmt: skip
    write("egoschema", "questions.json", rows)
    answers = {f"letters-{number}": item.position for number, item in enumerate(items)}
    write("egoschema", "subset_answers.json", answers)
    short = clip_script("flash", "1")
    for number in range(len(items)):
        video("egoschema", f"videos/letters-{number}.mp4", short)


def tomato() -> None:
    items = [*questions()]
    for task, part in (("count", items[:4]), ("direction", items[4:])):
        rows = {
            str(number): {"question": item.text, "options": item.choices, "answer": item.position,
                          "key": "letters", "demonstration_type": "simulated"}
            for number, item in enumerate(part)
        }  # fmt: skip
        write("tomato", f"data/{task}.json", rows)
    video("tomato", "videos/simulated/letters.mp4")


def video_mmmu() -> None:
    rows = [
        {"id": f"validation_Math_{number}", "question": item.text, "options": item.lettered(),
         "answer": item.letter, "question_type": "multiple-choice"}
        for number, item in enumerate(questions())
    ]  # fmt: skip
    write_lines("video_mmmu", "Perception.jsonl", rows)
    open_question = {"id": "validation_Math_0", "question": "How many letters come in all?",
                     "options": [], "answer": str(len(LETTERS)),
                     "question_type": "open"}  # fmt: skip
    write_lines("video_mmmu", "Adaptation.jsonl", [open_question])
    for number in range(len(rows)):
        video("video_mmmu", f"Science/validation_Math_{number}.mp4")


def mmvu() -> None:
    rows: list[dict[str, Any]] = [
        {"question_type": "multiple-choice", "question": item.text, "answer": item.letter,
         "choices": dict(zip("ABCDE", item.choices, strict=True))}
        for item in questions(5)
    ]  # fmt: skip
    common = {"video": "videos/Biology/0.mp4", "metadata": {"subject": "Biology"}}
    write("mmvu", "validation.json", [
        {"id": f"validation_{number}", **row, **common} for number, row in enumerate(rows)
    ])  # fmt: skip
    video("mmvu", "videos/Biology/0.mp4")


def perceptiontest() -> None:
    areas = ("memory", "abstraction", "physics", "semantics")
    entries = [
        {"id": number, "question": item.text, "options": item.choices, "answer_id": item.position,
         "area": areas[number % 4], "reasoning": "descriptive", "tag": ["counting"]}
        for number, item in enumerate(questions(3))
    ]  # fmt: skip
    both = {
        name: {"metadata": {"video_id": name, "frame_rate": float(FPS)}, "mc_question": part}
        for name, part in (("video_1", entries[:4]), ("video_2", entries[4:]))
    }
    write("perceptiontest", "mc_question_valid.json", both)
    last = CLIP.shown[-1].end + 1
    write("perceptiontest", "cut_frame_mapping_valid.json", {"video_1": last, "video_2": -1})
    for name in both:
        video("perceptiontest", f"videos/{name}.mp4")


def next_qa() -> None:
    kinds = ("CW", "TP", "DO", "DO", "CH", "DC", "CW", "TN")
    header = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4"
    lines = [
        f"1,300,320,240,{item.text},{item.position},{number},{kind},{','.join(item.choices)}"
        for number, (kind, item) in enumerate(zip(kinds, questions(5), strict=True))
    ]
    path = ROWS / "next_qa" / "test.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    write("next_qa", "map_vid_vidorID.json", {"1": "0101/1"})
    video("next_qa", "NExTVideo/0101/1.mp4")
    open_questions()


def open_questions() -> None:
    """NExT-QA's open questions, and second answers to three of them."""
    rows = (
        ("what is shown in this video", "letters", "DO"),
        ("why do the letters appear", "to test eyes", "CW"),
        ("how do the letters leave", "fade away", "CH"),
        ("what happens after a letter", "empty screen", "TN"),
        ("what happens before a letter", "empty screen", "TP"),
        ("what does the screen do while a letter is away", "stay white", "TC"),
        ("how many letters come in all", "five", "DC"),
        ("are the letters black", "yes", "DB"),
        ("where are the letters", "on a screen", "DL"),
    )
    lines = [
        f"1,300,320,240,{question},{answer},{number},{kind}"
        for number, (question, answer, kind) in enumerate(rows)
    ]
    path = ROWS / "next_qa" / "open" / "test.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "video,frame_count,width,height,question,answer,qid,type"
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    second = {"0": "characters", "1": "check the sight", "7": "yes they are"}
    write("next_qa", "open/add_reference_answer_test.json", {"1": second})


def video_holmes() -> None:
    kinds = ("SR", "IMC", "TCI", "TA", "MHR", "PAR", "CTI", "TA")
    rows = [
        {"video ID": "letters", "Question ID": f"letters_{number}", "Question Type": kind,
         "Question": item.text, "Options": dict(zip("ABCDE", item.choices, strict=True)),
         "Answer": item.letter, "Explanation": "The letters show it."}
        for number, (kind, item) in enumerate(zip(kinds, questions(5), strict=True))
    ]  # fmt: skip
    write("video_holmes", "test_Video-Holmes.json", rows)
    video("video_holmes", "videos/letters.mp4")


def activitynet_qa() -> None:
    first, last = LETTERS[0], LETTERS[-1]
    facts = [
        ("what appears on the screen", "letters", 0), ("where are the letters", "screen", 6),
        (f"does the letter {first} come first", "yes", 3), (f"is {last} the first", "no", 3),
        ("what color are the letters", "black", 4), ("how many letters come", str(len(LETTERS)), 7),
        ("what is before the first letter", "an empty screen", 2), ("what is it for", "eyes", 8),
    ]  # fmt: skip
    names = [f"v_letters_{number}" for number in range(len(facts))]
    rows = [
        {"video_name": "letters", "question": question, "question_id": name}
        for name, (question, _, _) in zip(names, facts, strict=True)
    ]
    answers = [
        {"answer": answer, "type": kind, "question_id": name}
        for name, (_, answer, kind) in zip(names, facts, strict=True)
    ]
    write("activitynet_qa", "test_q.json", rows)
    write("activitynet_qa", "test_a.json", answers)
    video("activitynet_qa", "videos/v_letters.mp4")


def mmbench_video() -> None:
    facts = [
        ("What is the video about?", "Letters that come and go.", ["Video Topic"]),
        (f"Is there a letter {LETTERS[0]}?", "Yes, it comes first.", ["OCR", "Hallucination"]),
        ("What color are the letters?", "Black.", ["Attribute Recognition"]),
        ("How many letters come?", f"{len(LETTERS)} letters.", ["Counting"]),
        ("Where are the letters?", "In the middle.", ["Spatial Relationship"]),
        ("Why do the letters go?", "The next one comes.", ["Causal Reasoning"]),
        ("What would come next?", "Nothing.", ["Future Prediction", "Common Sense Reasoning"]),
        ("What is it for?", "To test eyes.", ["Function Reasoning"]),
    ]  # fmt: skip
    header = "index\tvideo\tvideo_type\tquestion\tanswer\tdimensions\tvideo_path"
    lines = [
        f"{number}\tletters\tScience\t{question}\t{answer}\t{kinds}\t./video/letters.mp4"
        for number, (question, answer, kinds) in enumerate(facts)
    ]
    path = ROWS / "mmbench_video" / "MMBench-Video.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    video("mmbench_video", "video/letters.mp4")


def main() -> None:
    perceptiontest()
    next_qa()
    video_holmes()
    activitynet_qa()
    mmbench_video()
    tempcompass()
    vsi_bench()
    charades_sta()
    cg_bench()
    mvbench()
    tvbench()
    mlvu()
    lvbench()
    motionbench()
    longvideobench()
    egoschema()
    tomato()
    video_mmmu()
    mmvu()


if __name__ == "__main__":
    main()
