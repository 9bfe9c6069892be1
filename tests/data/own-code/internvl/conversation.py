"""The conversation template of a stand-in for InternVL, which its model imports."""

SYSTEM = "you are a helpful model"


class Conversation:
    roles = ("user: ", "assistant: ")
    sep = "</s>\n"

    def __init__(self):
        self.system_message = SYSTEM
        self.turns = []

    def append_message(self, role, message):
        self.turns.append((role, message))

    def get_prompt(self):
        text = f"system: {self.system_message}{self.sep}"
        for role, message in self.turns:
            text += role if message is None else f"{role}{message}{self.sep}"
        return text


def get_conv_template(name):
    return Conversation()
