"""A model class in VLMEvalKit's shape, with a prompt of its own."""

import re

COLORS = ("red", "green", "blue", "black", "white", "yellow")


class Mine:
    def use_custom_prompt(self, dataset):
        return True

    def build_prompt(self, line, dataset=None):
        choices = "\n".join(f"({letter}) {line[letter]}" for letter in "ABCD")
        return [dict(type="text", value=f"{line['question']} One of:\n{choices}")]

    def generate_inner(self, message, dataset=None):
        """The right choice, but for every third question."""
        text = message[-1]["value"]
        number = int(re.findall(r"square (\d+)", text)[-1])
        color = COLORS[(number + (number % 3 == 1)) % len(COLORS)]
        return f"The answer is ({re.findall(rf'([A-D])[)] {color}', text)[0]})"
