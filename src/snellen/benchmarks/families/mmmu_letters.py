"""A variant of MMMU's rule for letters, which lmms-eval uses for NExT-QA and Video-Holmes."""

from __future__ import annotations

from snellen.benchmarks.families.draws import undecided
from snellen.benchmarks.families.video_letters import (
    last_content,
    letters_of,
    mentioned,
    positioned,
    reading,
    stripped,
)
from snellen.core import Reading, Reply, Sample


def last_mention(reply: Reply, sample: Sample) -> Reading:
    """Parse "(A)", or else "A " even at the end of a word, or else "A.", or else the text of a
    choice. Of several letters the one whose last mention comes last wins. In the second and the
    third form, only " A " counts as a mention. A reply without a letter gets a drawn letter."""
    text = stripped(reply.text)
    for form in ("({})", "{} ", "{}."):
        letters = [letter for letter in letters_of(sample) if form.format(letter) in text]
        if letters:
            mentions = [(form if form == "({})" else " {} ").format(name) for name in letters]
            letter = positioned(mentions, text.rfind, max).strip("() ")
            return reading(letter, form.format("letter").strip())
    letters = mentioned(text, sample)
    if not letters:
        return undecided(sample)
    return reading(
        positioned(letters, lambda name: last_content(text, name, sample), max), "content"
    )
