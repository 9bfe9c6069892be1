"""Classes in VLMEvalKit's shape: what they are told, and what becomes of what they say."""

import asyncio
import sys
from base64 import b64encode
from pathlib import Path
from threading import Event, Thread

import pytest

from snellen.core.model import Origin, Reply, Request, request_digest
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import MediaError, ModelError, Overloaded, Rejected, UsageError
from snellen.media.content import Frame, Image, Message, Video, assistant, system, user
from snellen.media.drawing import Canvas
from snellen.models.limited import limited
from snellen.models.vlmevalkit import VlmEvalKit, open_model
from snellen.models.vlmevalkit_messages import aside, ours
from tests.servers import closes, serving

PNG = Canvas(8, 8).png()
OTHER = Canvas(9, 9).png()
ORIGIN = Origin(benchmark="MMBench_DEV_EN", sample="7")
SAYS = "repr([{**m, 'value': m['value'][-4:]} if m['type'] == 'image' else m for m in message])"


def mine(
    folder: Path, source: str, profile: Profile | None = None, name: str = "Mine"
) -> VlmEvalKit:
    path = folder / "my_model.py"
    path.write_text(source)
    return open_model(f"{path}:{name}", profile=profile or Profile(), api_key=None)


def reply_to(model: VlmEvalKit, *messages: Message, origin: Origin | None = ORIGIN) -> Reply:
    async def ask() -> Reply:
        try:
            return await model.generate(Request(messages=messages, origin=origin))
        finally:
            await model.close()

    return asyncio.run(ask())


def local(body: str, head: str = "") -> str:
    signature = "def generate_inner(self, message, dataset=None)"
    return f"class Mine:\n {head or 'x = 1'}\n {signature}:\n  {body}\n"


def service(body: str, head: str = "") -> str:
    return (
        f"class Mine:\n is_api = True\n {head or 'x = 1'}\n"
        f" def generate_inner(self, inputs, **kwargs):\n  {body}\n"
    )


# -- what a class is told


def test_text_and_pictures_come_in_their_order_and_the_set_by_its_name(tmp_path: Path) -> None:
    model = mine(tmp_path, local(f"return dataset + {SAYS}"))
    assert reply_to(model, user("first", Image(PNG), "then")).text == (
        "MMBench_DEV_EN[{'type': 'text', 'value': 'first'}, {'type': 'image', 'value': '.png'}, "
        "{'type': 'text', 'value': 'then'}]"
    )


def test_a_picture_is_a_file_with_the_original_bytes(tmp_path: Path) -> None:
    model = mine(
        tmp_path,
        local("import pathlib; return pathlib.Path(message[0]['value']).read_bytes().hex()"),
    )
    assert bytes.fromhex(reply_to(model, user(Image(PNG))).text) == PNG


def test_the_files_of_pictures_go_when_the_model_is_closed(tmp_path: Path) -> None:
    path = Path(
        reply_to(mine(tmp_path, local("return message[0]['value']")), user(Image(PNG))).text
    )
    assert not path.exists() and not path.parent.exists()


def test_equal_pictures_are_one_file(tmp_path: Path) -> None:
    body = "return ' '.join(part['value'] for part in message)"
    first, second, other = reply_to(
        mine(tmp_path, local(body)), user(Image(PNG), Image(PNG), Image(OTHER))
    ).text.split()
    assert first == second != other


def test_rules_of_the_system_are_parts_with_that_role(tmp_path: Path) -> None:
    model = mine(tmp_path, local("return repr(message)"))
    assert reply_to(model, system("be brief"), user("hello")).text == (
        "[{'type': 'text', 'value': 'be brief', 'role': 'system'}, "
        "{'type': 'text', 'value': 'hello', 'role': 'user'}]"
    )


def test_a_class_without_the_inner_method_is_asked_through_the_outer(tmp_path: Path) -> None:
    source = "class Mine:\n def generate(self, message, dataset=None):\n  return dataset\n"
    assert reply_to(mine(tmp_path, source), user("hello")).text == "MMBench_DEV_EN"


def test_one_picture_alone_as_the_base_class_has_it_where_the_class_takes_no_more(
    tmp_path: Path,
) -> None:
    model = mine(tmp_path, local(f"return {SAYS}", head="INTERLEAVE = False"))
    assert model.notes == ("the model takes one picture: of several, the first was shown",)
    text = reply_to(model, user("a", Image(PNG), "b", Image(OTHER))).text
    assert text == "[{'type': 'image', 'value': '.png'}, {'type': 'text', 'value': 'a\\nb'}]"


def test_a_class_that_reduces_messages_itself_gets_all_of_them(tmp_path: Path) -> None:
    head = "INTERLEAVE = False\n def message_to_promptimg(self, message, dataset=None): pass"
    model = mine(tmp_path, local("return str(len(message))", head=head))
    assert reply_to(model, user("a", Image(PNG), "b", Image(OTHER))).text == "4"


def test_turns_go_to_chat_inner_with_their_roles(tmp_path: Path) -> None:
    source = local("return 'wrong'") + (
        " def chat_inner(self, messages, dataset=None):\n"
        "  said = [m['role'] + ':' + m['content'][0]['value'] for m in messages]\n"
        "  return dataset + ' ' + ' '.join(said)\n"
    )
    reply = reply_to(mine(tmp_path, source), user("a"), assistant("b"), user("c"))
    assert reply.text == "MMBench_DEV_EN user:a assistant:b user:c"


def test_several_turns_without_chat_inner_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match=r"3 turns.* no method chat_inner") as error:
        reply_to(mine(tmp_path, local("return 'A'")), user("a"), assistant("b"), user("c"))
    assert error.value.hopeless


def video(folder: Path, policy: str, start: float = 0.0) -> Video:
    path = folder / "clip.mp4"
    path.write_bytes(b"a video")
    frame = Frame(time=0.0, image=Image(PNG))
    return Video(path, policy=policy, frames=(frame, frame), digest="sha256:0", start=start)


def test_frames_are_pictures_to_a_class_that_opens_no_videos(tmp_path: Path) -> None:
    model = mine(tmp_path, local(f"return {SAYS}"))
    assert model.wants_frames
    assert reply_to(model, user(video(tmp_path, "uniform:2"))).text.count("'.png'") == 2


@pytest.mark.parametrize(
    ("head", "policy", "expected"),
    [
        ("nframe = 8", "uniform:2", "video 2"),
        ("nframe = 8; fps = 2.0", "uniform:2", "video 2 None"),
        ("nframe = 8; fps = 2.0", "fps:1", "video None 1.0"),
        ("y = 1", "fps:1", "video"),
    ],
)
def test_a_class_that_opens_videos_gets_the_file_and_the_policy(
    tmp_path: Path, head: str, policy: str, expected: str
) -> None:
    seen = "[str(getattr(self, n)) for n in ('nframe', 'fps') if hasattr(self, n)]"
    body = f"return ' '.join([message[0]['type'], *{seen}])"
    model = mine(tmp_path, local(body, head=f"VIDEO_LLM = True; {head}"))
    assert not model.wants_frames
    assert reply_to(model, user(video(tmp_path, policy))).text == expected


@pytest.mark.parametrize(
    ("policy", "start", "says"),
    [("fps:1", 0.0, "supports nframe"), ("uniform:2", 1.0, "would see all of it")],
)
def test_a_video_that_a_class_would_see_otherwise_than_asked_is_rejected(
    tmp_path: Path, policy: str, start: float, says: str
) -> None:
    model = mine(tmp_path, local("return 'A'", head="VIDEO_LLM = True; nframe = 8"))
    with pytest.raises(Rejected, match=says) as error:
        reply_to(model, user(video(tmp_path, policy, start)))
    assert error.value.hopeless


# -- how it is made


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class Mine:\n def __init__(self, path):\n  self.path = path", "Mine"),
        (
            "import functools\nclass Big:\n def __init__(self, size, path):\n  self.path = path\n",
            "Mine",
        ),
    ],
)
def test_the_profiles_extra_are_the_arguments(tmp_path: Path, source: str, name: str) -> None:
    method = " def generate_inner(self, message, dataset=None):\n  return self.path\n"
    factory = "Mine = functools.partial(Big, size=3)\n" if "Big" in source else ""
    model = mine(tmp_path, f"{source}\n{method}{factory}", Profile(extra={"path": "weights"}), name)
    assert reply_to(model, user("hello")).text == "weights"


def test_an_object_is_taken_as_it_is(tmp_path: Path) -> None:
    model = mine(tmp_path, local("return 'A'") + "mine = Mine()\n", name="mine")
    assert reply_to(model, user("hello")).text == "A"


@pytest.mark.parametrize(
    ("source", "name", "profile", "says"),
    [
        (
            local("pass") + "mine = Mine()",
            "mine",
            Profile(extra={"a": 1}),
            "is an object, not a class, so it cannot accept a",
        ),
        (local("pass"), "Mine", Profile(extra={"a": 1}), "instantiated: TypeError: .*argument"),
        (local("pass"), "Mine", Profile(temperature=0.5), "does not use temperature"),
        (local("pass"), "Mine", Profile(base_url="http://h"), "does not use base_url"),
        (
            local("pass"),
            "Mine",
            Profile(extra={"api_key": "k"}),
            "contains api_key, and it is stored",
        ),
        ("class Mine: pass", "Mine", Profile(), "it has no method generate_inner"),
        ("class Mine: pass", "Other", Profile(), "has no 'Other'; it has Mine"),
        (
            "from vlmeval.vlm.base import BaseModel",
            "Mine",
            Profile(),
            "VLMEvalKit is not installed",
        ),
        ("import nowhere", "Mine", Profile(), "No module named 'nowhere'"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is(
    tmp_path: Path, source: str, name: str, profile: Profile, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        mine(tmp_path, source, profile, name)


def test_a_module_that_is_missing_for_another_reason_is_not_laid_to_vlmevalkit(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError) as error:
        mine(tmp_path, "import nowhere")
    assert "VLMEvalKit" not in str(error.value)


@pytest.mark.parametrize(
    ("source", "threads", "expected"),
    [(local("pass"), 8, 1), (service("pass"), 8, 8), (service("pass"), None, 32)],
)
def test_a_local_class_is_asked_one_at_a_time_and_a_service_as_the_profile_says(
    tmp_path: Path, source: str, threads: int | None, expected: int
) -> None:
    assert mine(tmp_path, source, Profile(concurrency=threads)).concurrency == expected


# -- what it says


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 'B'", ("B", None)),
        ("return ''", ("", None)),
        ("return {'prediction': 'B', 'extra_records': {}}", ("B", None)),
        ("return {'prediction': 'B', 'thinking': 'Hm.'}", ("B", "Hm.")),
        ("return 'Hm.</think>B'", ("Hm.</think>B", None)),
    ],
)
def test_what_a_class_says_is_a_reply(
    tmp_path: Path, body: str, expected: tuple[str, str | None]
) -> None:
    reply = reply_to(mine(tmp_path, local(body)), user("hello"))
    assert (reply.text, reply.reasoning) == expected


@pytest.mark.parametrize("split", ["None, None", "b'B', ''", "'B', ['Hm.']"])
def test_a_split_that_is_no_two_texts_is_no_reply(tmp_path: Path, split: str) -> None:
    source = local("return 'B'") + f" def split_thinking(self, s):\n  return {split}\n"
    with pytest.raises(Rejected, match=r"split_thinking returned .* not two texts"):
        reply_to(mine(tmp_path, source), user("hello"))


def test_a_class_that_splits_off_its_thoughts_does(tmp_path: Path) -> None:
    source = local("return 'Hm.</think>B'") + (
        " def split_thinking(self, s):\n  a, b = s.split('</think>')\n  return b, a\n"
    )
    reply = reply_to(mine(tmp_path, source), user("hello"))
    assert (reply.text, reply.reasoning) == ("B", "Hm.")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return None", "returned None, not text"),
        ("return ['B']", "returned a list, not text"),
        ("raise RuntimeError('CUDA out of memory')", r"CUDA out of memory \(my_model.py, line 4\)"),
        ("raise StopIteration", "StopIteration"),
        ("import sys; sys.exit(0)", r"SystemExit: 0 \(my_model.py, line 4\)"),
        ("return b'B'", "returned a bytes, not text"),
    ],
)
def test_what_is_no_text_of_a_local_class_is_rejected(tmp_path: Path, body: str, says: str) -> None:
    with pytest.raises(Rejected, match=says):
        reply_to(mine(tmp_path, local(body)), user("hello"))


@pytest.mark.parametrize(
    "text",
    [
        "Failed to obtain answer via API.",
        "Failed to obtain answer: RuntimeError",
        "Chat Mode: Failed with all possible conversation turns.",
    ],
)
def test_the_words_that_stand_for_a_failure_are_no_reply(tmp_path: Path, text: str) -> None:
    with pytest.raises(Overloaded, match=text[:20]):
        reply_to(mine(tmp_path, local(f"return {text!r}")), user("hello"))


@pytest.mark.parametrize(
    ("body", "kind", "hopeless"),
    [
        ("return 429, '', 'slow down'", Overloaded, None),
        *((f"return {status}, '', 'busy'", Overloaded, None) for status in (408, 409, 425)),
        ("return 503, self.fail_msg, 'busy'", Overloaded, None),
        ("return -1, 'Lost it.', None", Overloaded, None),
        ("return 0, '', None", Overloaded, None),
        ("return 0, None, None", Overloaded, None),
        ("return 0, 'so: Lost it.', None", Overloaded, None),
        ("return -1, '', type('R', (), {'status_code': 400, 'text': 'long'})", Rejected, False),
        ("return 400, '', 'too long'", Rejected, False),
        ("return 401, '', 'bad key'", Rejected, True),
        ("return 404, '', 'no such model'", Rejected, True),
        ("raise ConnectionError('refused')", Overloaded, None),
        ("raise KeyError('choices')", Rejected, False),
    ],
)
def test_the_codes_of_a_service_are_errors_of_two_kinds(
    tmp_path: Path, body: str, kind: type[ModelError], hopeless: bool | None
) -> None:
    with pytest.raises(kind) as error:
        reply_to(mine(tmp_path, service(body, head="fail_msg = 'Lost it.'")), user("hello"))
    assert getattr(error.value, "hopeless", None) == hopeless
    assert getattr(error.value, "throttled", False) == ("429" in body)


def test_a_real_client_whose_connection_is_cut_is_to_be_asked_again(tmp_path: Path) -> None:
    with serving(closes()) as server:
        body = f"import urllib.request as u; return 0, u.urlopen('{server.url}/x').read(), ''"
        with pytest.raises(Overloaded):
            reply_to(mine(tmp_path, service(body)), user("hello"))


def test_a_services_key_is_in_no_message(tmp_path: Path) -> None:
    source = service("return 401, '', 'the key secret-key is wrong'", head="key = 'secret-key'")
    with pytest.raises(Rejected, match=r"the key \[key\] is wrong"):
        reply_to(mine(tmp_path, source), user("hello"))


@pytest.mark.parametrize("kind", ["OSError", "ValueError"])
def test_a_key_in_the_address_of_a_failed_request_is_in_no_message(
    tmp_path: Path, kind: str
) -> None:
    source = service(
        f"raise {kind}('no way to https://host/v1?key=' + self.api_key)",
        head="def __init__(self):\n  self.api_key = 'secret-key'",
    )
    with pytest.raises(ModelError, match=r"https://host/v1\?key=\[key\]"):
        reply_to(mine(tmp_path, source), user("hello"))


def test_a_service_is_told_its_own_defaults_and_the_set(tmp_path: Path) -> None:
    source = service("return 0, repr(sorted(kwargs.items())), ''", head="default_kwargs = {'n': 1}")
    reply = reply_to(mine(tmp_path, source), user("hello"))
    assert reply.text == "[('dataset', 'MMBench_DEV_EN'), ('n', 1)]"


def test_rules_of_the_system_are_for_their_question_alone(tmp_path: Path) -> None:
    source = service("return 0, self.system_prompt, ''", head="system_prompt = 'Be kind.'")
    model = mine(tmp_path, source)
    first = asyncio.run(model.generate(Request(messages=(system("Be brief."), user("a")))))
    second = reply_to(model, user("a"))
    assert (first.text, second.text) == ("Be kind.\nBe brief.", "Be kind.")


# -- its own words


OWN = (
    "class Mine:\n"
    " def set_dump_image(self, dump): self.dump = dump\n"
    " def use_custom_prompt(self, dataset): return dataset.startswith('MMBench')\n"
    " def build_prompt(self, line, dataset=None):\n"
    "  return {prompt}\n"
    " def generate_inner(self, message, dataset=None): return 'A'\n"
)
LINE = {"index": 7, "question": "Which?", "A": "x", "B": "y", "category": "c"}


def prompted(folder: Path, prompt: str, *content: str | Image) -> Request:
    model = mine(folder, OWN.format(prompt=prompt))
    origin = Origin(benchmark="MMBench_DEV_EN", sample="7", columns=lambda: LINE)

    async def word() -> Request:
        try:
            return await model.prompted(
                Request(messages=(user(*(content or ("Which?",))),), origin=origin)
            )
        finally:
            await model.close()

    return asyncio.run(word())


def test_a_class_says_which_sets_it_asks_in_its_own_words(tmp_path: Path) -> None:
    model = mine(tmp_path, OWN.format(prompt="[]"))
    assert [model.own_prompt(name) for name in ("MMBench_DEV_EN", "MMStar")] == [True, False]
    assert not mine(tmp_path, local("pass")).own_prompt("MMStar")


def test_a_row_is_read_as_a_series_or_a_dictionary_is(tmp_path: Path) -> None:
    prompt = (
        "[line['question'], str('hint' in line), line.get('C', '-'), ','.join(line), "
        "str(dict(line.items())['A']), dataset]"
    )
    (message,) = prompted(tmp_path, prompt).messages
    columns = "index,question,A,B,category"
    assert message.content == ("Which?", "False", "-", columns, "x", "MMBench_DEV_EN")


def test_pictures_of_its_own_prompt_are_the_questions(tmp_path: Path) -> None:
    shown = "[dict(type='image', value=path) for path in self.dump(line)]"
    prompt = f"[dict(type='text', value='Look:'), *{shown}]"
    pictures = Image(PNG, label="one.png"), Image(OTHER, label="two.png")
    (message,) = prompted(tmp_path, prompt, *pictures, "Which?").messages
    assert message.text == "Look:"
    assert [(image.label, image.source) for image in message.images] == [
        ("one.png", PNG),
        ("two.png", OTHER),
    ]


def test_one_picture_is_a_path_and_several_are_a_list(tmp_path: Path) -> None:
    prompt = "type(line['image_path']).__name__"
    first = prompted(tmp_path, prompt, Image(PNG)).messages[0].text
    second = prompted(tmp_path, prompt, Image(PNG), Image(OTHER)).messages[0].text
    assert (first, second) == ("str", "list")


def test_requests_that_differ_in_their_own_words_alone_have_other_digests(tmp_path: Path) -> None:
    first, second = (prompted(tmp_path, f"'Question {n}'") for n in (1, 2))
    assert request_digest(first) != request_digest(second)


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        ("line['answer']", "KeyError: 'answer'"),
        ("[]", "a prompt must be a list"),
        ("[3]", "an int, which is neither text nor a picture"),
        ("[dict(type='audio', value='a')]", "text, image, or video, not 'audio'"),
        ("[dict(type='image', value='nowhere.png')]", "nowhere.png is missing: there is no file"),
        ("[dict(type='text', value='a', role='judge')]", "not 'judge'"),
        (
            "[dict(type='text', value='a', weight=1)]",
            "in addition to value, that Snellen does not support: weight. Remove",
        ),
    ],
)
def test_a_prompt_that_is_none_is_rejected(tmp_path: Path, prompt: str, says: str) -> None:
    with pytest.raises((Rejected, MediaError), match=says):
        prompted(tmp_path, prompt)


def test_limits_of_pictures_leave_a_class_its_own_words(tmp_path: Path) -> None:
    model = limited(mine(tmp_path, OWN.format(prompt="'a'")), ImageLimits(max_side=4))
    assert getattr(model, "own_prompt")("MMBench_DEV_EN")  # noqa: B009


# -- prompts as lists of text


def test_texts_of_a_list_are_files_or_pictures_data_or_text(tmp_path: Path) -> None:
    picture, film, note = (tmp_path / name for name in ("a.png", "a.mp4", "a.txt"))
    for path in (picture, film):
        path.write_bytes(PNG)
    note.write_text("no picture")
    data = f"data:image/png;base64,{b64encode(PNG).decode()}"
    (message,) = ours(
        [str(picture), str(film), data, str(note), "no/such.png", "What?" * 2000],
        lambda path: Image(Path(path)),
    )
    kinds = [type(part) for part in message.content]
    assert kinds == [Image, Video, Image, str, Image, str]


def test_roles_of_parts_are_messages(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "value": "rules", "role": "system"},
        {"type": "text", "value": "a"},
        {"type": "text", "value": "b", "role": "user"},
    ]
    assert ours(parts, lambda path: Image(Path(path))) == (system("rules"), user("a", "b"))


# -- standard output


def test_what_a_class_prints_is_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "print('imported')\n" + local("print('asked'); return 'A'", head="print('defined')")
    reply_to(mine(tmp_path, source), user("hello"))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "imported\ndefined\nasked\n")


def test_a_log_that_keeps_standard_output_writes_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "def __init__(self):\n  import sys\n  self.out = sys.stdout"
    reply_to(mine(tmp_path, local("self.out.write('asked'); return 'A'", head)), user("hello"))
    assert capsys.readouterr() == ("", "asked")


def test_one_that_never_ends_takes_nobody_elses_words(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    inside, leave = Event(), Event()

    def longer() -> None:
        with aside():
            inside.set()
            leave.wait(5)
            print("from inside")

    thread = Thread(target=longer)
    thread.start()
    inside.wait(5)
    with aside():
        print("also inside")
    print("from outside")
    leave.set()
    thread.join()

    assert sys.stdout is before
    assert capsys.readouterr() == ("from outside\n", "also inside\nfrom inside\n")
