"""scripts/count.py on small packages, whose figures are counted by hand."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/count.py"
Report = Mapping[str, Any]
Count = Callable[[Mapping[str, str]], Report]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["count_script"] = module
    sys.path.insert(0, str(SCRIPT.parent))  # as when it is run as a script
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return module


@pytest.fixture
def count(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Count:
    """What the script prints as JSON of a checkout with these files."""

    def report(files: Mapping[str, str]) -> Report:
        write(tmp_path, files)
        assert script.main([str(tmp_path), "--json", "--names"]) == 0
        document: Report = json.loads(capsys.readouterr().out)["checkout"]
        return document

    return report


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in {"src/snellen/__init__.py": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def lines_of(report: Report, part: str) -> dict[str, int]:
    kinds = ("code", "data table", "import", "docstring", "comment", "blank")
    return {kind: report["figures"][f"{part}: {kind} lines"] for kind in kinds}


def test_every_line_has_a_single_kind_and_tables_are_code(count: Count) -> None:
    text = '''\
    """A module.

    Of four lines with its quotes.
    """

    import os
    from sys import (
        path,
    )

    # A comment.
    TABLE = {
        # A comment in a table.
        "a": 1,
    }
    SHORT = [1, 2]
    PROMPT = """A text

    with a blank line."""


    class Chart:
        """A class."""

        size: int = 0  # a comment behind code
        """A field."""

        def draw(self) -> None:
            """A method."""
            import json

            print(json, os, path)
    '''
    report = count({"src/snellen/chart.py": text, "src/snellen/benchmarks/a.py": "x = 1\n"})
    assert lines_of(report, "framework") == {
        "code": 3 + 1 + 3 + 1 + 1 + 1 + 1,  # TABLE, SHORT, PROMPT, class, size, def, print
        "data table": 3,
        "import": 1 + 3 + 1,
        "docstring": 4 + 1 + 1 + 1,
        "comment": 2,
        "blank": 7,
    }
    assert lines_of(report, "benchmarks") == {
        "code": 1,
        "data table": 0,
        "import": 0,
        "docstring": 0,
        "comment": 0,
        "blank": 0,
    }


def test_decorators_are_no_lines_of_a_function_and_its_docstring_is(count: Count) -> None:
    body = "    pass\n" * 58
    text = f'@first\n@second\ndef at_the_limit():\n    """Docstring."""\n{body}'
    assert count({"src/snellen/a.py": text})["figures"]["long functions"] == 0
    report = count({"src/snellen/a.py": f"{text}    pass\n"})
    assert report["names"]["long functions"] == ["src/snellen/a.py:3 at_the_limit: 61 lines"]


def test_a_class_and_a_file_are_long_beyond_their_limits(count: Count) -> None:
    at_the_limits = "class Hub:\n" + "    x = 1\n" * 299 + "#\n" * 200
    figures = count({"src/snellen/a.py": at_the_limits})["figures"]
    assert (figures["long classes"], figures["long files"]) == (0, 0)
    names = count({"src/snellen/a.py": at_the_limits.replace(":\n", ":\n    y = 1\n")})["names"]
    assert names["long classes"] == ["src/snellen/a.py:1 Hub: 301 lines"]
    assert names["long files"] == ["src/snellen/a.py: 501 lines"]


def test_parameters_are_counted_without_self_and_without_stars(count: Count) -> None:
    text = """\
    class A:
        def seven(self, a, b, c, /, d, *rest, e, f, g, **others): ...
        def eight(self, a, b, c, d, *, e, f, g, h): ...
    """
    assert count({"src/snellen/a.py": text})["names"]["functions with many parameters"] == [
        "src/snellen/a.py:3 eight: 8 parameters"
    ]


def test_an_import_in_a_nested_function_counts_once(count: Count) -> None:
    text = """\
    import a

    if a:
        import b

    def outer():
        import c, d
        def inner():
            from e import f
    """
    assert count({"src/snellen/a.py": text})["figures"]["imports in functions"] == 2


def test_a_class_name_repeats_where_two_files_define_it_nested_or_not(count: Count) -> None:
    files = {
        "src/snellen/a.py": "class Row:\n    class Cell: ...\n\nclass Twin: ...\nclass Twin: ...\n",
        "src/snellen/b/c.py": "class Cell: ...\n",
    }
    assert count(files)["names"]["repeated class names"] == [
        "Cell: src/snellen/a.py, src/snellen/b/c.py"
    ]


def test_public_fields_of_benchmark_are_counted_wherever_it_is_with_those_of_its_bases(
    count: Count,
) -> None:
    files = {
        "src/snellen/core/base.py": "class Base:\n    a: int\n    b: ClassVar[int] = 0\n",
        "src/snellen/core/deep/benchmark.py": """\
            class Benchmark(base.Base):
                c: int
                d: str = ""
                _private: int = 0
                e = 0
                def f(self): ...
        """,
    }
    assert count(files)["figures"]["fields of Benchmark"] == 3
    assert (
        count({"src/snellen/core/deep/benchmark.py": ""})["figures"]["fields of Benchmark"] is None
    )


def test_top_level_names_are_modules_and_folders_with_modules(count: Count) -> None:
    report = count(
        {
            "src/snellen/a.py": "",
            "src/snellen/b/c.py": "",
            "src/snellen/py.typed": "",
            "src/snellen/rows/a.json": "{}",
        }
    )
    assert report["names"]["top-level names"] == ["__init__.py", "a.py", "b"]


def test_public_names_are_those_of_the_package_alone(count: Count) -> None:
    files = {
        "src/snellen/__init__.py": "__all__ = ['a', 'b']\n",
        "src/snellen/a.py": "__all__ = []",
    }
    assert count(files)["figures"]["public names"] == 2


def test_an_option_counts_its_declarations_in_four_places(count: Count) -> None:
    files = {
        "src/snellen/cli/verbs/run.py": """\
            from snellen.cli._row_options import row_options as rows

            @click.command("run")
            @click.option("-m", "--model", "models", multiple=True)
            @click.option("--limit", type=int)
            @click.option("--no-score", is_flag=True)
            @rows
            def command(models, data, no_score, **options): ...

            @click.command("other")
            @click.option("--elsewhere")
            def other(elsewhere): ...
        """,
        "src/snellen/cli/_row_options.py": """\
            OPTIONS = (click.option("--data"),)

            def row_options(command):
                for option in OPTIONS:
                    command = option(command)
                return command
        """,
        "src/snellen/deep/plan.py": """\
            class Plan:
                models: int
                limit: int
                score: bool
        """,
        "src/snellen/api.py": "def evaluate(model, *, limit): ...\n",
    }
    report = count(files)
    assert report["names"]["options of run"] == [
        "model: click, signature, Plan, evaluate",
        "limit: click, Plan, evaluate",
        "no_score: click, signature, Plan",
        "data: click, signature",
    ]
    assert report["figures"]["declarations of an option (median)"] == 3


def test_an_option_that_a_field_declares_counts_without_a_decorator(count: Count) -> None:
    files = {
        "src/snellen/run/options.py": """\
            class RunOptions(TypedDict):
                limit: Annotated[int, Option(help="First rows.")]
                seed: Annotated[int, Option()]
                internal: int
        """,
        "src/snellen/api.py": "def evaluate(model, **options): ...\n",
    }
    report = count(files)
    assert report["names"]["options of run"] == ["limit: Option", "seed: Option"]
    assert report["figures"]["declarations of an option (median)"] == 1


def test_a_checkout_without_options_has_no_median(count: Count) -> None:
    assert count({})["figures"]["declarations of an option (median)"] is None


def test_banned_words_count_where_names_are_bound_and_not_where_they_are_used(
    count: Count,
) -> None:
    text = """\
    import a as found_file

    class Told:
        asked: int

    def made(each, *, row_given):
        self.spent = each
        for one in each:
            print(one, name=one, done=zone)
        try: ...
        except OSError as said: ...
        match each:
            case [place]: ...
    """
    report = count({"src/snellen/a.py": text, "tests/test_a.py": "named = 1\nnamed_so = 2\n"})
    assert report["figures"]["banned names in src"] == 10
    assert report["figures"]["banned names in tests"] == 2
    assert report["figures"]["banned names in perf"] == 0
    assert report["names"]["files with banned names in tests"] == [
        "tests/test_a.py: named 1, named_so 1"
    ]


def test_fields_of_stored_structs_are_not_counted(count: Count) -> None:
    text = """\
    class Reply(msgspec.Struct, frozen=True):
        asked: int
        spent: float = 0.0
        found = 1

    class Plain:
        asked: int
    """
    report = count({"src/snellen/a.py": dedent(text)})
    assert report["names"]["files with banned names in src"] == [
        "src/snellen/a.py: found 1, asked 1"
    ]


def test_two_checkouts_stand_in_two_columns(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    write(before, {"src/snellen/a.py": "x = 1\n" * 1234})
    write(after, {"src/snellen/a.py": "x = 1\n"})
    command = [sys.executable, str(SCRIPT), str(after), "--against", str(before)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    head, *rows = [line.split() for line in output.splitlines()]
    assert head == [str(before), str(after)]
    assert ["framework:", "code", "lines", "1,234", "1"] in rows
    assert ["long", "files", "1", "0"] in rows


def test_help_defines_every_figure(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        script.main(["--help"])
    defined = capsys.readouterr().out.splitlines()
    assert all(
        any(line.startswith(f"  {name}: ") for line in defined) for name in script.DEFINITIONS
    )


def test_a_folder_that_is_no_checkout_is_an_error(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([str(tmp_path)]) == 2
    message = f"{tmp_path} has no folder src/snellen. Pass the root of a checkout.\n"
    assert capsys.readouterr().err == message


def test_a_file_that_is_no_python_is_an_error_with_its_line(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"src/snellen/a.py": "x = 1\nx = = 2\n"})
    assert script.main([str(tmp_path)]) == 2
    message = f"{tmp_path}/src/snellen/a.py, line 2: invalid syntax.\n"
    assert capsys.readouterr().err == message
