"""Recipes from files: what they may say, and what their errors say."""

import re
from pathlib import Path

import pytest

from snellen import recipes, registry
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Image
from snellen.media.drawing import Canvas

HEAD = 'family = "F"\nevidence = "maker-card"\nsource = "o/r@1:eval"\n'
ASKS = '[[asks]]\ndata_sets = ["pope"]\nprompt = "p"\n'


GUIDE = (Path(__file__).parents[2] / "docs/recipes.md").read_text(encoding="utf-8")


def test_the_guides_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(code, "docs/recipes.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.startswith("Question: Which shape is red?\nOptions:\nA. the disc\n")
    assert "'max_new_tokens': 2048" in out


def test_the_guides_recipe_is_read(tmp_path: Path) -> None:
    [text] = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    recipe = recipes.load(write(tmp_path, text))
    assert recipe.ask("docvqa_val").text(sample()) == "<image>Why?\nAnswer in one word."
    assert recipe.ask("mmstar").manner.source == "me/my-vl@0123abc:eval/ask.py#L10-L24"


def write(folder: Path, text: str) -> Path:
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"


def sample(question: str = "Why?", *, choices: tuple[str, ...] = (), n: int = 1) -> Sample:
    picture = Image(Canvas(8, 8).png())
    return Sample(id="1", question=question, choices=choices, media=(picture,) * n)


def test_every_bundled_recipe_is_read_and_says_where_it_is_from() -> None:
    for name in recipes.names():
        recipe = recipes.load(name)
        assert recipe.asks or recipe.figures
        assert all("@" in ask.manner.source for ask in recipe.asks.values())


def test_the_benchmarks_of_data_sets_exist() -> None:
    loaded = map(recipes.load, recipes.names())
    specs = {ask.manner.benchmark for recipe in loaded for ask in recipe.asks.values()}
    for spec in specs - {None}:
        assert spec is not None
        registry.benchmark(spec)


def test_a_strangers_recipe_is_read_from_its_file(tmp_path: Path) -> None:
    prompts = '[prompts]\np = "{{ images | join }}{{ question }} {{ choices | lettered }}"\n'
    recipe = recipes.load(write(tmp_path, HEAD + prompts + ASKS))
    ask = recipe.ask("pope")
    assert ask.text(sample(choices=("a", "b"))) == "<image>Why? A. a\nB. b\n"
    assert ask.manner.benchmark == "pope"
    assert ask.manner.source == "o/r@1:eval"


def test_what_is_special_wins_over_what_is_shared(tmp_path: Path) -> None:
    text = (
        HEAD
        + '[prompts]\np = "{{ question }}{{ end }}"\n'
        + '[defaults]\nsystem = "S"\ngeneration = { top_k = 1, temperature = 0.5 }\n'
        + 'variables = { end = "!" }\n'
        + '[variants.think]\nvariables = { end = "?" }\n'
        + ASKS
        + "generation = { temperature = 1.0 }\nsource = '#L5'\n"
        + '[[asks]]\ndata_sets = ["mme"]\nprompt = "p"\nalone = true\nvariables = { end = "." }\n'
    )
    recipe = recipes.load(write(tmp_path, text))
    assert recipe.ask("pope").settings() == {"top_k": 1, "temperature": 1.0}
    assert recipe.ask("pope").text(sample()) == "Why?!"
    assert recipe.ask("pope", "think").text(sample()) == "Why??"
    assert recipe.ask("pope").manner.source == "o/r@1:eval#L5"
    assert recipe.ask("mme").settings() == {}
    assert recipe.ask("mme").manner.system == ""


def test_the_system_message_comes_first(tmp_path: Path) -> None:
    text = HEAD + '[prompts]\np = "{{ images | join }}Go."\n' + ASKS + 'system = "Be brief."\n'
    ask = recipes.load(write(tmp_path, text)).ask("pope")
    first, second = ask.messages(sample())
    assert (first.role, first.content) == ("system", ("Be brief.",))
    assert second.role == "user"
    assert second.content == (sample().media[0], "Go.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: Object missing required field `family`."),
        ("family = ", "mine.toml: the recipe cannot be read: Invalid value"),
        (HEAD.replace("maker-card", "rumor"), "Invalid enum value 'rumor'"),
        (HEAD + "asks = []\ncolor = 1\n", "unknown field `color`"),
        (HEAD + "[[asks]]\nprompt = 'p'\n", "[[asks]] number 1: Object missing required field"),
        (HEAD + ASKS, "[[asks]] number 1: there is no prompt 'p'."),
        (HEAD + '[prompts]\np = "x"\n' + 2 * ASKS, "[[asks]] number 1 has settings for pope too."),
        (HEAD + ASKS.replace('"pope"', ""), "[[asks]] number 1: `data_sets` is empty."),
        (HEAD + '[prompts]\np = "x"\n' + ASKS + "sistem = 'S'\n", "unknown field `sistem`"),
        (HEAD + '[prompts]\np = "x"\n' + ASKS + "tiles = { most = 'many' }\n", "Expected `int`"),
        (
            HEAD + '[prompts]\np = "x"\n' + ASKS + "variants.cot.system = 'S'\n",
            "[[asks]] number 1: the recipe has no variant cot. It has: none.",
        ),
        (HEAD + '[prompts]\np = "x"\n' + ASKS + "source = 5\n", "Expected `str`, got `int`"),
        ("a = " + "[" * 5000 + "]" * 5000, "the recipe cannot be read: maximum recursion depth"),
    ],
)
def test_what_is_wrong_in_a_file_is_an_error_that_says_where(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UsageError) as error:
        recipes.load(write(tmp_path, text))
    assert message in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_recipe_in_another_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(HEAD.encode("utf-16"))
    with pytest.raises(UsageError, match="the recipe cannot be read"):
        recipes.load(tmp_path / "mine.toml")


def test_a_recipe_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no recipe qwen9\. There are: eagle2.5, "):
        recipes.load("qwen9")
    with pytest.raises(UsageError, match=r"gone\.toml: there is no such file"):
        recipes.load(tmp_path / "gone.toml")


def test_a_data_set_that_is_not_in_a_recipe_is_an_error() -> None:
    with pytest.raises(
        UsageError, match=r"kimi-k2\.5 does not say how mme is asked\. It has: mmmu"
    ):
        recipes.load("kimi-k2.5").ask("mme")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ quesiton }}", "'quesiton' is undefined"),
        ("{{ inside('<image 2>') }}", "it shows <image 2>, but the sample has 1 pictures"),
        ("{% include 'gone' %}", "gone"),
        ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__'"),
        ("{% for", "unexpected|Unexpected"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ question + 1 }}", "can only concatenate str"),
        ("{{ ['a'] | lettered('{text.color}') }}", "has no attribute 'color'"),
        ("{{ ['a'] | lettered('{text') }}", "expected '}' before end of string"),
        ("{{ range(1000000000) }}", "Range too big"),
        ("{% include 'p' %}", "maximum recursion depth"),
    ],
)
def test_a_template_that_does_not_fit_is_an_error(
    tmp_path: Path, template: str, message: str
) -> None:
    text = f'{HEAD}[prompts]\np = "{template}"\n{ASKS}'
    with pytest.raises(UsageError, match=message) as error:
        recipes.load(write(tmp_path, text)).ask("pope").messages(sample())
    assert "'p' cannot be rendered for sample 1" in str(error.value)


def test_a_prompt_that_includes_itself_has_no_text(tmp_path: Path) -> None:
    text = f"{HEAD}[prompts]\np = \"{{% include 'p' %}}\"\n{ASKS}"
    with pytest.raises(UsageError, match="prompt 'p' includes itself"):
        _ = recipes.load(write(tmp_path, text)).ask("pope").template


def test_control_words_that_cannot_be_rendered_are_an_error(tmp_path: Path) -> None:
    text = f"{HEAD}[prompts]\np = 'Why?'\n{ASKS}raw = '<user>{{}}{{{{ turn.color }}}}'\n"
    with pytest.raises(UsageError, match="has no attribute 'color'"):
        recipes.load(write(tmp_path, text)).ask("pope").text(sample())


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    texts = []
    for words in ("Why?", "Why, then?"):
        path = write(tmp_path, f"{HEAD}[prompts]\np = '{words}'\n{ASKS}")
        texts.append(recipes.load(path).ask("pope").text(sample()))
    assert texts == ["Why?", "Why, then?"]


def test_a_question_cannot_insert_a_picture_or_a_template(tmp_path: Path) -> None:
    text = HEAD + '[prompts]\np = "{{ images | join }}{{ question }}"\n' + ASKS
    ask = recipes.load(write(tmp_path, text)).ask("pope")
    hostile = "{{ images }} [0:medium:0:0] {% raw %}"
    assert ask.messages(sample(hostile))[-1].content == (sample().media[0], hostile)


def test_prompts_that_no_back_end_can_send_are_refused() -> None:
    ask = recipes.load("smolvlm2").ask("pope")
    with pytest.raises(UsageError, match=r"control words\. No back end sends such prompts"):
        ask.messages(sample())
    ask = recipes.load("internvl").ask("mvbench")
    with pytest.raises(UsageError, match="shows frames, but sample 1 has no video"):
        ask.messages(sample())


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    text = f'{HEAD}[prompts]\np = "{{{{ question }}}}!"\n{ASKS}'
    before = recipes.load(write(tmp_path, text)).ask("pope")
    assert before.text(sample()) == "Why?!"
    after = recipes.load(write(tmp_path, text.replace("!", ", in a word?"))).ask("pope")
    assert after.text(sample()) == "Why?, in a word?"
    assert before.text(sample()) == "Why?!"  # what was read before stays as it was
