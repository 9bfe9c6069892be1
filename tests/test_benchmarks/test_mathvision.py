"""MathVision: prompts as the authors' scripts build them, and each rule of their scoring.

Expected answers and verdicts are those of the authors' evaluate.py and utils.py at the commit that
the benchmark names, run with latex2sympy2 1.9.1, antlr4 4.7.2 and sympy 1.14.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import mathvision as file
from snellen.benchmarks.mathvision import Preset, mathvision
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mathvision"
FIVE = ("$1$", "$2$", "$3$", "$4$", "$5$")
ONLY_LETTERS = ("A", "B", "C", "D", "E")


def question(target: str, *choices: str) -> Sample:
    return Sample(id="1", question="How many?", choices=choices, target=target)


def read(scoring: str, reply: str, sample: Sample) -> tuple[Reading, float | None]:
    actual = mathvision(data=BUNDLED).scorings[scoring]
    reading = actual.parse(Reply(text=reply), sample)
    return reading, total_score(actual.score(reading, sample))


def official(reply: str, sample: Sample) -> tuple[object, float | None]:
    reading, score = read("official", reply, sample)
    return reading.answer, score


def bundled(prompt: Preset = "direct") -> tuple[Benchmark, dict[str, Sample]]:
    benchmark = mathvision(prompt=prompt, data=BUNDLED)
    samples = (benchmark.sample(row.position, row) for row in benchmark.data)
    return benchmark, {sample.id: sample for sample in samples}


# -- data


def test_the_bundled_rows_are_of_both_kinds_of_every_level_and_subject() -> None:
    _, samples = bundled()
    kinds = {len(sample.choices) for sample in samples.values()}
    assert kinds == {0, 5}
    assert any(sample.choices == ONLY_LETTERS for sample in samples.values())
    levels = {sample.tags["level"] for sample in samples.values()}
    assert levels == {f"level{level}" for level in range(1, 6)}
    assert len({sample.tags["subject"] for sample in samples.values()}) == 16


def test_a_sample_is_tagged_as_the_authors_break_down() -> None:
    _, samples = bundled()
    assert samples["2"].tags == {
        "level": "level3",
        "subject": "algebra",
        "subject_level": "algebra_level3",
    }


def test_each_bundled_picture_opens() -> None:
    _, samples = bundled()
    for sample in samples.values():
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 160


def test_testmini_is_a_part_of_test() -> None:
    benchmark = mathvision(split="testmini", data=BUNDLED)
    _, samples = bundled()
    small = [benchmark.sample(row.position, row) for row in benchmark.data]
    assert len(small) == 8
    assert all(samples[sample.id] == sample for sample in small)


@pytest.mark.parametrize("name", ["test.jsonl", "annotations.jsonl", "data/test.jsonl"])
def test_the_authors_folder_is_found_in_its_layouts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((BUNDLED / "test.jsonl").read_bytes())
    benchmark = mathvision(data=tmp_path)
    (row, *_) = benchmark.data
    (picture,) = benchmark.sample(0, row).media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / "images" / "1.png"


def test_nothing_is_opened_before_the_first_row(tmp_path: Path) -> None:
    benchmark = mathvision(data=tmp_path / "absent")
    with pytest.raises(DataError, match=r"test\.jsonl"):
        next(iter(benchmark.data))


# -- prompts

TEXT = "The beam is level. What is $x$?\n<image1>\n"
CHOICES = "(A) 2\n(B) 8\n(C) 19\n(D) 9\n(E) 7\n"
ARROWS = "Which arrow is the one above turned upside down?\n<image1>\n"
COT = (
    'Please solve the problem step by step and put your answer in one "\\boxed{}". If it is a '
    'multiple choice question, only one letter is allowed in the "\\boxed{}".\n'
)
GEMINI = (
    "Please first solve the problem step by step, then put your final answer or a single letter "
    '(if it is a multiple choice question) in one "\\boxed{}". \n'
)
SHORT = "\nAnswer the question using a single word or phrase."


@pytest.mark.parametrize(
    ("preset", "sample", "content"),
    [
        ("direct", "2", [TEXT + SHORT, "images/2.png"]),
        ("direct", "18", [TEXT + CHOICES + SHORT, "images/18.png"]),
        ("direct", "30", [ARROWS + SHORT, "images/30.png"]),
        ("cot", "2", ["images/2.png", COT + TEXT]),
        ("cot", "18", ["images/18.png", COT + TEXT + CHOICES]),
        ("cot", "30", ["images/30.png", COT + ARROWS]),
        ("gemini", "18", [GEMINI + TEXT + CHOICES, "images/18.png"]),
        (
            "gemini",
            "30",
            [GEMINI + ARROWS + "(A) A\n(B) B\n(C) C\n(D) D\n(E) E\n", "images/30.png"],
        ),
    ],
)
def test_a_prompt_is_the_authors_text_with_the_picture_where_they_put_it(
    preset: Preset, sample: str, content: list[str]
) -> None:
    benchmark, samples = bundled(preset)
    (message,) = benchmark.prompt(samples[sample], ())
    assert message.role == "user"
    parts = [part if isinstance(part, str) else part.label for part in message.content]
    assert parts == content


# -- scoring, official


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("(B)", "b"),
        ("So the correct option is B.", "b"),
        ("It must be (B).", "b"),
        ("B\nbecause of the angle", "b"),
        ("\nB\nbecause of the angle", "b"),
        ("(B)\nbecause of the angle", "b"),
        ("(B) B\nbecause of the angle", "b"),
        ("b", "b"),
        (r"\boxed{A} no \boxed{B}", "b"),
        (r"\boxed{(B)}", "b"),
        (r"\boxed{{B}}", "b"),
        ("{(B)}", "b"),
        ("The answer is B", "b"),
        ("the correct answer is B. No", "b"),
        ("the answer should be B\nor not", "b"),
    ],
)
def test_official_reads_a_letter(reply: str, answer: str) -> None:
    assert official(reply, question("B", *FIVE)) == (answer, 1.0)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: B", "answer:b"),
        ("**B**", "**b**"),
        ("B. 2", "b.2"),
        ("The answer is B because. No", "bbecause"),
        ("It is B. Thus", "itisb.thus"),
        ("B because", "bbecause"),
        ("KAB.", "kab"),
        ("It must be F.", "itmustbef"),
        ("({B})", "(b)"),
    ],
)
def test_official_does_not_read_a_letter_in_these_words(reply: str, answer: str) -> None:
    assert official(reply, question("B", *FIVE)) == (answer, 0.0)


@pytest.mark.parametrize(
    ("rule", "reply", "answer"),
    [
        ("small letters", "KAO", "kao"),
        ("a number behind the last 'is '", "This is what it is 12.5.", "12.5"),
        ("in a word too", "This 12.5", "12.5"),
        ("or all of it, which loses its full stop", "0.5.", r"\frac{1}{2}"),
        ("a number as Python reads it", "it is 1_000", "1_000"),
        ("the next line behind a flag", "the answer is\nx", "x"),
        ("the first flag's sentence", "the answer is x. the correct answer is y", "x"),
        ("a small flag before a capital one", "The answer is x. the answer is y", "y"),
        ("cut at a full stop and a blank, behind a flag only", "The answer is 12.5. So", "12.5"),
        ("the later flag on what the earlier left", "the answer is The answer is 4", "4"),
        ("from the first box to the last brace", r"\boxed{\frac{4}{5}} {6}", r"\frac{4}{5}}{6"),
        (
            "no flag where JSON has taken a box's b for a backspace",
            "\x08oxed{4}. The answer is x",
            "4",
        ),
        ("the last box of several", r"\boxed{4}, \boxed{5}", "5"),
        ("a box that stays open", r"\boxed{4", r"\boxed{4"),
        ("empty braces go", r"\boxed{4{}}", "4"),
        ("cut at a brace that was not opened", "4} cm", "4"),
        ("before one that is", "4} or {5}", "4"),
        ("behind the last equals sign", "x=y=5", "5"),
        ("behind the last approximation", r"\pi\approx3.14", "3.14"),
        ("of several", r"\pi\approx3\approx4", "4"),
        ("behind one that deleting has made", r"1\ap\,prox2", "2"),
        ("but not behind two", r"1\ap\,prox2\ap\,prox3", r"1\approx2\approx3"),
        ("blanks and words of text", r"5 \text{cm}", "5{cm}"),
        ("kilometres go", "5 km", "5"),
        ("centimetres stay", "5 cm", "5cm"),
        ("units go", "5 units", "5"),
        ("cubic metres go", "5m^3", "5"),
        ("degrees go", r"90^{\circ}", "90"),
        ("dollar signs go", "$5$", "5"),
        ("an escaped percent sign goes", r"50\%", "50"),
        ("a bare percent sign stays", "50%", "50%"),
        ("infinity has one name", "+∞", r"\infty"),
        ("a point gets its zero", ".25", "0.25"),
        ("a half is a fraction", "0.5", r"\frac{1}{2}"),
        ("a quotient is a fraction", "3/4", r"\frac{3}{4}"),
        ("but not with a full stop behind it", "3/4.", "3/4"),
        ("nor with a leading zero", "03/4", "03/4"),
        ("nor one of letters", "a/b", "a/b"),
        ("a root gets its braces", r"\sqrt3", r"\sqrt{3}"),
        ("which breaks a cube root", r"\sqrt[3]{8}", r"\sqrt{[}3]{8}"),
        ("a root of a root too", r"\sqrt\sqrt3", r"\sqrt\sqrt{3}"),
        ("a fraction with one pair gets the other", r"\frac1{2}\sqrt3", r"\frac{1}{2}\sqrt{3}"),
        ("an open brace is not cut short", r"\sqrt3\frac12\frac{", r"\sqrt{3}\frac{1}{2}\frac{"),
        ("a fraction gets its braces beside a root", r"\frac12\sqrt3", r"\frac{1}{2}\sqrt{3}"),
        ("and else not", r"\frac12", r"\frac12"),
        ("one fraction cut short, none mended", r"\frac12\sqrt3\frac1", r"\frac12\sqrt{3}\frac1"),
        ("other fractions are fractions", r"\dfrac{1}{3}", r"\frac{1}{3}"),
        ("a colon in front goes", ": 5", "5"),
        ("one behind stays", "5:", "5:"),
        ("small spaces go", r"1\,000", "1000"),
        ("and negative ones", r"5\!0", "50"),
        ("lines are joined", "1\n2", "12"),
        ("four backslashes become one", r"\\\\pi", r"\pi"),
        ("boxes of words go", r"5\mbox{m}", "5{m}"),
        ("matrices have round brackets", r"\begin{bmatrix}", r"\begin{pmatrix}"),
        ("large brackets go before units", r"5{k\leftm}", "5"),
        ("on both sides", r"5{k\rightm}", "5"),
        ("degrees go before units", r"5k^{\circ}m", "5"),
        ("with braces or without", r"5k^\circm", "5"),
        ("and again behind negative spaces", r"\le\!ft(5\ri\!ght)", "(5)"),
        ("degrees too", r"5^{\ci\!rc}6^\ci\!rc", "56"),
        ("cubic metres in braces", "5{m}^3", "5"),
        ("units in braces", "5{units}", "5"),
        ("kilometres in braces", "5{km}", "5"),
        ("small fractions", r"\tfrac{1}{3}", r"\frac{1}{3}"),
        ("escaped dollar signs", r"\$5", "5"),
        ("a point in braces gets its zero", "{.5}", "{0.5}"),
        ("full stops behind go", "5...", "5"),
    ],
)
def test_official_takes_decoration_off(rule: str, reply: str, answer: str) -> None:
    assert official(reply, question("0"))[0] == answer


@pytest.mark.parametrize(
    ("reply", "target", "score"),
    [
        ("1.333", r"\frac{4}{3}", 1.0),
        ("1.34", r"\frac{4}{3}", 0.0),
        ("0.5", "1/2", 1.0),
        ("x=5", "5", 1.0),
        ("5 km", "5", 1.0),
        ("5 cm", "5", 0.0),
        ("50%", "50", 0.0),
        (r"The final answer is 50\%.", "50", 1.0),
        ("1,000", "1000", 1.0),
        ("4 triangles", "4", 1.0),
        ("4 cubes", "4", 0.0),
        ("2:4", "1:2", 1.0),
        ("0", r"\frac{1}{6561}", 1.0),
        (r"\frac{36}{13}", "\x0crac{36}{13}", 0.0),
        ("(3, -4)", "(3,-4)", 1.0),
        ("(6/2, -4)", "(3,-4)", 0.0),
        ("(6/2, -4)", "(12/4,-4)", 1.0),
        (r"(2.0, \infty)", r"(2,\infty)", 1.0),
        ("(4/2, a)", "(6/3,a)", 1.0),
        ("(4/2, b)", "(6/3,b)", 0.0),
        ("(4/2, -a)", "(6/3,-a)", 1.0),
        ("(6/2, 4]", "(12/4,4]", 0.0),
        ("(10^{20}/3)", "10^{20}/3", 1.0),
        ("kao", " KAO ", 1.0),
        ("", "5", 0.0),
        ("[1.0, 2]", "[1,2]", 1.0),
        ("C", "C", 1.0),
    ],
)
def test_official_compares_values(reply: str, target: str, score: float) -> None:
    assert official(reply, question(target))[1] == score


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (r"2\times3", 6),
        (r"6\div4", 1.5),
        (r"3\le3", 1),
        (r"3\leq3", 1),
        (r"3\ge3", 1),
        (r"3\geq3", 1),
        (r"\lbrace5\rbrace", 5),
        (r"\llcorner2.5\lrcorner", 2),
        (r"\mleft(2\mright)", 2),
        (r"\tbinom{5}{2}", 10),
        (r"\dbinom{5}{2}", 10),
        (r"{5\choose2}", 10),
        (r"\arcsin(0.5)", 0.52),
        (r"\sinh(1)", 1.18),
        (r"\cos^{-1}(0.5)", 1.05),
        (r"\sin^2(5)", 0.92),
        ("5svd", 5),
        ("5gcd", 5),
        ("1,000.5", 1000.5),
        ("1,000,000", 1000000),
        (r"\displaystyle5", 5),
        ("--5", 5),
        ("5'2", 10),
        (r"5^{\top}2", 10),
        ("2^3_4+1", 9),
        (r"2^\pi", 8.82),
        ("e^0", 1),
        ("-3/-2.675", 1.12),
        (r"-\frac{2^2}{2\pi}", -6.28),
        (r"\frac{1}{4^{-0.5}}", 0.5),
        (r"\frac{1}{\sqrt[-2]{4}}", 0.5),
    ],
)
def test_official_reads_a_number_as_latex2sympy_does(text: str, number: float) -> None:
    """To the type too, since a tuple's parts are compared as Python writes them."""
    assert repr(file.rounded_value(text)) == repr(number)


def test_official_takes_a_choice_by_its_value() -> None:
    assert official("2", question("B", *FIVE)) == ("2", 1.0)
    assert official("2.004", question("B", *FIVE)) == ("2.004", 1.0)
    assert official("3", question("B", *FIVE)) == ("3", 0.0)


@pytest.mark.parametrize("reply", ["", " \n ", "$$", "x =", "The answer is", r"\boxed{{}}"])
def test_official_is_unparsed_where_nothing_is_left(reply: str) -> None:
    assert official(reply, question("B", *FIVE)) == (None, 0.0)


def test_official_names_the_rule_that_fired() -> None:
    for reply, rule in {
        "B\nsince": "letter at an end",
        "it is 5": "number at the end",
        "The answer is x": "the answer is",
        r"\boxed{5}": "boxed",
        "5": "whole reply",
    }.items():
        assert read("official", reply, question("5"))[0].rule == rule


@pytest.mark.parametrize("reply", ["9^{9^9}", "10000000!", "__import__('os')", "(" * 5_000])
def test_official_does_not_evaluate_what_a_model_says(reply: str) -> None:
    assert official(reply, question("1"))[1] == 0.0


def test_official_leaves_a_tuple_with_a_number_too_long_to_write_as_it_is() -> None:
    assert official("(2^{20000}, 1)", question("(1,1)")) == ("(2^{20000},1)", 0.0)


# -- scoring, robust


@pytest.mark.parametrize(
    "reply",
    [
        "B",
        "(B)",
        "**B**",
        "Answer: B",
        "B. 2",
        "The answer is B because of the angle.",
        r"\boxed{B}",
        r"\boxed{\text{(B) } 2}",
        r"Triangle A and circle C give \boxed{2}.",
        "2",
        "$2$ cm",
    ],
)
def test_robust_reads_the_choice_that_a_reply_settles_on(reply: str) -> None:
    reading, score = read("robust", reply, question("B", *FIVE))
    assert (reading.answer, score) == ("B", 1.0)


@pytest.mark.parametrize(
    "reply",
    ["", "A B C D E", "A or B", r"\boxed{A} or \boxed{B}", r"\boxed{17}", "Maybe", "CABBAGE"],
)
def test_robust_is_unparsed_where_a_reply_hedges_or_names_no_choice(reply: str) -> None:
    reading, score = read("robust", reply, question("B", *FIVE))
    assert (reading.answer, score) == (None, 0.0)


@pytest.mark.parametrize(
    ("reply", "score"), [("12", 1.0), (r"\boxed{12 cm}", 1.0), ("So 12 it is.", 1.0), ("13", 0.0)]
)
def test_robust_reads_a_value_where_there_are_no_choices(reply: str, score: float) -> None:
    assert read("robust", reply, question("12"))[1] == score


# -- check


@pytest.mark.parametrize("preset", ["direct", "cot", "gemini"])
def test_the_oracle_is_right_and_the_wrong_model_wrong_under_every_prompt(preset: Preset) -> None:
    benchmark, samples = bundled(preset)
    check = benchmark.check
    assert check is not None
    for sample in samples.values():
        for scoring in benchmark.scorings.values():
            for answer, score in ((sample.target or "", 1.0), (check.wrong(sample), 0.0)):
                reading = scoring.parse(Reply(text=check.says(sample, answer)), sample)
                assert scoring.score(reading, sample) == score, (sample.id, answer)


# -- published outputs


def lines_of_replies(folder: Path, *replies: tuple[str, object]) -> Path:
    path = folder / "outputs.jsonl"
    rows = (json.dumps({"id": name, "response": text}) for name, text in replies)
    path.write_text("\n".join(rows))
    return path


def test_each_line_of_a_question_that_repeats_is_scored(tmp_path: Path) -> None:
    benchmark, samples = bundled()
    names = list(samples)[:2]
    right = [str(samples[name].target) for name in names]
    path = lines_of_replies(
        tmp_path, (names[0], right[0]), (names[1], right[1]), (names[0], "-98765"), (names[1], None)
    )
    report = snellen.score(path, benchmark).report
    accuracy = report.scorings["official"].metrics["accuracy"]
    assert accuracy.value == pytest.approx(2 / 3)
    assert accuracy.n == 3
    assert any("2 questions are on more than one line" in note for note in report.notes)


def test_the_same_line_twice_counts_twice(tmp_path: Path) -> None:
    benchmark, samples = bundled()
    names = list(samples)[:2]
    line = (names[0], str(samples[names[0]].target))
    path = lines_of_replies(tmp_path, line, line, (names[1], "-98765"))
    accuracy = snellen.score(path, benchmark).report.scorings["official"].metrics["accuracy"]
    assert accuracy.value == pytest.approx(2 / 3)
    assert accuracy.n == 3


def test_a_file_without_repeated_questions_is_read_as_any_other(tmp_path: Path) -> None:
    assert file.repeated_lines(lines_of_replies(tmp_path, ("1", "A"), ("2", "B"))) is None
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "reply": "A"}\n{"id": 1, "reply": "B"}\n')
    assert file.repeated_lines(tmp_path / "rows.jsonl") is None
