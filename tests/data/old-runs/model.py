"""Models whose answers are fixed by the words of the question."""

import re

COLORS = ("red", "green", "blue", "black", "white", "yellow")


def _number(messages):
    return int(re.findall(r"square (\d+)", messages[-1].text)[-1])


def answer(messages):
    """Right in two of three questions; the reply to square 8 names no choice."""
    number = _number(messages)
    if number == 8:
        return "I cannot tell."
    right = COLORS[number % len(COLORS)]
    wrong = COLORS[(number + 1) % len(COLORS)]
    color = wrong if number % 3 == 1 else right
    letter = re.search(rf"([A-D])[.):]\s*{color}", messages[-1].text)
    return letter[1] if letter else color


def varying(request):
    """As `answer`, but another color with the seed 1 for even squares; square 5 has no reply to
    the seed 2."""
    number = _number(request.messages)
    if number == 5 and request.seed == 2:
        raise RuntimeError("square 5 could not be read")
    if request.seed == 1 and number % 2 == 0:
        return "A"
    return answer(request.messages)


def yes_or_no(messages):
    """Yes in first turns. In later turns what the turn before was not answered with."""
    replies = [message.text for message in messages if message.role == "assistant"]
    if not replies:
        return "yes"
    return "no" if replies[-1] == "yes" else "Yes."


def words(messages):
    """An answer to each question of the bundled rows of MM-Vet."""
    text = messages[-1].text
    if "first equation" in text:
        return "x is 4."
    if "last equation" in text:
        return "z is 7."
    return "It is a square."


def grade(messages):
    """A judge: half a point, or a full one for an answer with a 4, as its last words."""
    lines = messages[-1].text.strip().splitlines()
    return "1.0" if "4" in lines[-1] else "0.5"


class Watcher:
    """Watches a stream and speaks at fixed times: at some rightly, at some not."""

    def open(self, spec):
        return _Session()


class _Session:
    def __init__(self):
        self.words = {}

    def ask(self, query, must_answer):
        if "How many" in query.text:
            self.words = {3: "1", 10: "2", 16: "7"}
        elif "comes after" in query.text:
            self.words = {2: "K", 6: "O"}
        else:
            self.words = {3: "show the letter R", 7: "show the letter O", 12: "show the letter C"}

    def feed(self, frames):
        for frame in frames:
            if frame.time in self.words:
                return self.words[frame.time]
