"""Draw a small database in WordNet's format, and write what NExT-OE's code gives with it.

usage: python scripts/draw_wups.py NEXT_OE PYWSD

The arguments are checkouts of doc-doc/NExT-OE@a83f8f5 and alvations/pywsd@591d388, whose
lemmatize_sentence the authors call. Needs nltk and pandas. The database, a tagger, and the data of
a sentence splitter are written to tests/data/nltk_data, and the lemmas and scores of generated
answers to tests/parity/wups.json.gz. The words and their places in the database are our own.
"""

import contextlib
import gzip
import importlib
import io
import json
import os
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests/data/nltk_data"
OUT = ROOT / "tests/parity/wups.json.gz"
NOUNS = {
    "entity": "", "physical_thing": "entity", "living_thing": "physical_thing",
    "animal": "living_thing", "dog": "animal", "cat": "animal", "bird": "animal",
    "person": "living_thing", "man": "person", "woman": "person", "child baby": "person",
    "place": "physical_thing", "home house": "place", "park": "place", "eiffel_park": "@i park",
    "artifact": "physical_thing", "toy": "artifact", "ball": "toy", "camera": "artifact",
    "hand": "physical_thing", "idea": "entity", "number": "idea", "two": "number",
    "color": "idea", "red": "color", "act": "idea", "play": "act", "dance": "act", "walk": "act",
}  # fmt: skip
"""Nouns and their hypernyms. The words of a set of synonyms are separated by blanks, and the first
is its name."""
VERBS = {
    "move": "", "walk": "move", "run": "move", "dance": "move", "turn": "move", "throw": "turn",
    "hold": "", "carry": "hold", "look watch": "", "smile": "look", "play": "move",
}  # fmt: skip
OTHERS = {"adj": ("happy", "red", "big", "small"), "adv": ("slowly", "fast", "home")}
EXCEPTIONS = {
    "noun": "children child\nmen man\nwomen woman\n", "verb": "held hold\nran run\nthrew throw\n",
    "adj": "bigger big\n", "adv": "",
}  # fmt: skip
LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
TAGS = {
    "dog": "NN", "dogs": "NNS", "man": "NN", "children": "NNS", "ran": "VBD", "running": "VBG",
    "walks": "VBZ", "playing": "VBG", "held": "VBD", "big": "JJ", "happy": "JJ", "slowly": "RB",
    "the": "DT", "a": "DT", "at": "IN", "with": "IN", "red": "JJ", "two": "CD", "yes": "UH",
    "no": "DT", "is": "VBZ", ".": ".", ",": ",", "to": "TO", "looks": "VBZ", "home": "NN",
}  # fmt: skip
WEIGHTS = {
    "i suffix ing": {"VBG": 2.0}, "i suffix ed": {"VBD": 2.0}, "bias": {"NN": 0.5},
    "i-1 tag TO": {"VB": 1.5}, "i suffix ly": {"RB": 2.0}, "i pref1 t": {"DT": 0.25},
}  # fmt: skip
SUBJECTS = ("the man", "two dogs", "a child", "The women", "babies", "bird", "it", '"a dog"')
ACTIONS = (
    "runs", "is walking", "ran home", "played", "holding the ball", "throws balls", "watch",
    "dancing slowly", "don't look", "to carry it", "smiling", "zzz",
)  # fmt: skip
ENDS = ("", " in the park", " with a bigger toy.", ", then turned. He ran", " (red)", " at camera?")
ANSWERS = (
    "two", "2", "yes", "no", "home", "dog", "the man", "play with toy", "ran", "walk", "to hold it",
    "it is", "park", "red", "happy", "children", "xyzzy", "look at camera", "carry baby", "",
)  # fmt: skip
KINDS = ("CW", "CH", "TN", "TP", "TC", "DL", "DB", "DC", "DO")


def draw() -> None:
    """Write the database, the tagger, and the data of the sentence splitter."""
    wordnet = DATA / "corpora/wordnet"
    wordnet.mkdir(parents=True, exist_ok=True)
    lexnames = [f"{number:02d}\t{part}.all\t{number + 1}\n" for number, part in enumerate(LETTERS)]
    write(wordnet / "lexnames", "".join(lexnames))
    for name in ("index.sense", "cntlist.rev"):
        write(wordnet / name, "")
    for number, part in enumerate(LETTERS):
        sets: dict[str, str] = {"noun": NOUNS, "verb": VERBS}.get(part) or dict.fromkeys(
            OTHERS[part], ""
        )
        write_part(wordnet, number, part, sets)
        write(wordnet / f"{part}.exc", EXCEPTIONS[part])
    tagger = DATA / "taggers/averaged_perceptron_tagger_eng"
    tagger.mkdir(parents=True, exist_ok=True)
    classes = sorted({*TAGS.values(), "VB", "NNS", "VBG", "VBD", "RB", "NN"})
    for name, content in (("weights", WEIGHTS), ("tagdict", TAGS), ("classes", classes)):
        path = tagger / f"averaged_perceptron_tagger_eng.{name}.json"
        write(path, json.dumps(content, indent=1) + "\n")
    splitter = DATA / "tokenizers/punkt_tab/english"
    splitter.mkdir(parents=True, exist_ok=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        write(splitter / name, "")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def write_part(folder: Path, number: int, part: str, sets: dict[str, str]) -> None:
    """Write the data and the index of a part of speech. The offset of a set is that of its line."""
    letter = LETTERS[part]
    head = "  1 A small database in the format of WordNet, for tests.\n"

    def lines(offsets: dict[str, int]) -> Iterator[tuple[str, str]]:
        for words, above in sets.items():
            *kind, parent = above.split() or [""]
            pointers = f"001 {kind[0] if kind else '@'} {offsets.get(parent, 0):08d} {letter} 0000"
            names = words.split()
            frames = " 00" if part == "verb" else ""
            listed = " ".join(f"{name} 0" for name in names)
            yield (
                names[0],
                (
                    f"{offsets[names[0]]:08d} {number:02d} {letter} {len(names):02x} {listed} "
                    f"{pointers if parent else '000'}{frames} | {names[0]}\n"
                ),
            )

    offsets = dict.fromkeys((words.split()[0] for words in sets), 0)
    position = len(head)
    for name, line in lines(offsets):
        offsets[name] = position
        position += len(line)
    write(folder / f"data.{part}", head + "".join(line for _, line in lines(offsets)))
    index = sorted((name, words.split()[0]) for words in sets for name in words.split())
    rows = [f"{name} {letter} 1 0 1 0 {offsets[first]:08d}\n" for name, first in index]
    write(folder / f"index.{part}", head + "".join(rows))


def authors(next_oe: Path, pywsd: Path) -> tuple[Any, Any]:
    """The authors' two modules, with pywsd's utils, whose WordNet is nltk's."""
    package = types.ModuleType("pywsd")
    package.__path__ = [str(pywsd / "pywsd")]
    sys.modules["pywsd"] = package
    from nltk.corpus import wordnet

    lemmas = importlib.import_module("pywsd.utils")
    lemmas.__dict__["wn"] = wordnet
    sys.path.insert(0, str(next_oe))
    with contextlib.chdir(next_oe):
        return importlib.import_module("eval_oe"), importlib.import_module("metrics")


def rows(evaluation: Any, metrics: Any) -> Iterator[dict[str, Any]]:
    random = Random(27)
    for number in range(720):
        reply = "".join(random.choice(part) for part in (SUBJECTS, (" ",), ACTIONS, ENDS))
        reply = random.choice((reply, reply, random.choice(ANSWERS)))
        answer, also = random.choice(ANSWERS[:-1]), random.choice((None, *ANSWERS[:-1]))
        kind = KINDS[number % len(KINDS)]
        lemmas = evaluation.remove_stop(reply)
        right = [evaluation.remove_stop(text) for text in (answer, also) if text is not None]
        if kind in ("DB", "DC"):
            score = float(lemmas in right)
        else:
            score = max(metrics.get_wups(lemmas, text, 0) for text in right)
        yield {
            "reply": reply, "answer": answer, "also": also, "type": kind, "lemmas": lemmas,
            "score": score,
        }  # fmt: skip


def printed(evaluation: Any, drawn: list[dict[str, Any]]) -> dict[str, float]:
    """The figures that the authors' script prints. A video has one question, so that questions
    without a second answer are questions of videos without second answers."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        paths = [Path(folder, name) for name in ("replies.json", "questions.csv", "also.json")]
        names = [f"v{number}" for number in range(len(drawn))]
        pairs = [*zip(names, drawn, strict=True)]
        paths[0].write_text(json.dumps({name: {"0": row["reply"]} for name, row in pairs}))
        table = [
            {"video": name, "qid": 0, "question": "q", "answer": row["answer"], "type": row["type"]}
            for name, row in pairs
        ]
        pd.DataFrame(table).to_csv(paths[1], index=False)
        also = {name: {"0": row["also"]} for name, row in pairs if row["also"] is not None}
        paths[2].write_text(json.dumps(also))
        evaluation.evaluate(*map(str, paths))
    heads, values = out.getvalue().splitlines()[-2:]
    return dict(zip(heads.split(), map(float, values.split()), strict=True))


def main() -> None:
    draw()
    os.environ["NLTK_DATA"] = str(DATA)
    evaluation, metrics = authors(*map(Path, sys.argv[1:3]))
    drawn = [*rows(evaluation, metrics)]
    content = {"rows": drawn, "printed": printed(evaluation, drawn)}
    text = json.dumps(content, ensure_ascii=False)
    OUT.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
