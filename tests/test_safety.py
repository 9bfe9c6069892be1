"""No data or reply is ever executed, and no failure swallowed: tests that read the source."""

import ast
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "snellen"

# Modules that run what they read.
MODULES = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
# Functions that run a text, ask a shell, or draw without a seed; by the end of a dotted name.
CALLS = {
    *("os.popen", "os.system", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("yaml.full_load", "yaml.load", "yaml.unsafe_load", "random.choice"),
}
BUILT_IN = {"__import__", "compile", "eval", "exec"}
ARGUMENTS = {("shell", True), ("ssl", False), ("verify", False), ("allow_pickle", True)}
CATCH_ALL = {"BaseException", "Exception"}
ALLOWED: Mapping[tuple[str, str], str] = {
    (
        "models/executors/replica.py",
        "except Exception",
    ): "what a model raises goes to another process",
    ("models/executors/cluster.py", "except Exception"): "Ray raises anything where it cannot join",
    ("models/user_code.py", "except BaseException"): "a user's own code may raise anything",
    ("registry/options.py", "except Exception"): "a stranger's annotations may raise anything",
    ("models/threads.py", "except BaseException"): "what a thread raises goes to its caller",
    ("core/benchmark.py", "except Exception"): "a benchmark's functions may raise anything",
    ("scoring/resolution.py", "except Exception"): "a benchmark's functions may raise anything",
    ("scoring/scorer.py", "except Exception"): "a benchmark's functions may raise anything",
    ("scoring/tally.py", "except Exception"): "a user's own metrics may raise anything",
    ("core/output_fields.py", "except Exception"): "a user's own fields may raise anything",
    ("errors.py", "except Exception"): "a user's own __str__ may raise anything",
    ("store/remote.py", "except Exception"): "each store's package has errors of its own",
    (
        "run/observer.py",
        "except Exception",
    ): "a caller's on_sample and a benchmark's functions may raise anything",
    (
        "benchmarks/families/latex_worker.py",
        "except Exception",
    ): "sympy raises anything for texts that are no formulas, and the authors catch all of it",
    ("run/sessions.py", "except BaseException"): "closes the video, and raises it again",
    ("tools/toolbox.py", "except Exception"): "a user's tool fails its question, not the run",
}
"""Which file may do what others may not, and why: (its place, what is found) -> reason."""

MOST_BYTES = 1 << 20
# In two pieces, so that this file does not hold what it looks for.
FORBIDDEN = ("/wor" + "k/", "pypi" + ".org", "pythonhosted" + ".org", "anaconda" + ".org")


def dangers(text: str) -> list[str]:
    """What a program's text does that ours may not."""
    return list(dict.fromkeys(_dangers(ast.parse(text))))


def _dangers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (a.name for a in node.names if a.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module)):
                names = [f"{module}.{alias.name}" for alias in node.names]
                yield from (name for name in names if name in CALLS)
                if module.partition(".")[0] in MODULES:
                    yield module
            case ast.Call():
                yield from _call(node)
            case ast.ExceptHandler(type=None):
                yield "except"
            case ast.ExceptHandler(type=ast.expr() as caught):
                classes = caught.elts if isinstance(caught, ast.Tuple) else [caught]
                yield from (f"except {c}" for c in map(_dotted, classes) if c in CATCH_ALL)


def _call(call: ast.Call) -> Iterator[str]:
    name = _dotted(call.func)
    if name in BUILT_IN:
        yield name
    yield from (known for known in CALLS if name == known or name.endswith(f".{known}"))
    if name.rpartition(".")[2] == "suppress":
        yield from (f"suppress {a}" for a in map(_dotted, call.args) if a in CATCH_ALL)
    for argument in call.keywords:
        if isinstance(argument.value, ast.Constant):
            pair = (argument.arg, argument.value.value)
            yield from (f"{name}={value}" for name, value in ARGUMENTS if pair == (name, value))


def _dotted(node: ast.expr) -> str:
    """`a.b.c`; what is no such name, a call for instance, is left empty."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return f"{_dotted(node.value)}.{node.attr}"
    return ""


def test_the_source_does_nothing_dangerous() -> None:
    uses = {
        (path.relative_to(SOURCE).as_posix(), danger)
        for path in SOURCE.rglob("*.py")
        for danger in dangers(path.read_text())
    }
    assert uses == set(ALLOWED)


@pytest.mark.parametrize(
    ("text", "danger"),
    [
        ("eval(reply)", "eval"),
        ("exec(reply)", "exec"),
        ("compile(reply, 'reply', 'eval')", "compile"),
        ("__import__(name)", "__import__"),
        ("import pickle", "pickle"),
        ("from pickle import loads", "pickle"),
        ("def f():\n    import marshal", "marshal"),
        ("import shelve", "shelve"),
        ("np.load(path, allow_pickle=True)", "allow_pickle=True"),
        ("yaml.load(text, yaml.Loader)", "yaml.load"),
        ("from yaml import unsafe_load", "yaml.unsafe_load"),
        ("subprocess.run(line, shell=True)", "shell=True"),
        ("os.system(line)", "os.system"),
        ("session.get(url, ssl=False)", "ssl=False"),
        ("Client(verify=False)", "verify=False"),
        ("try:\n    f()\nexcept Exception:\n    pass", "except Exception"),
        ("try:\n    f()\nexcept (OSError, Exception):\n    pass", "except Exception"),
        ("try:\n    f()\nexcept BaseException:\n    pass", "except BaseException"),
        ("try:\n    f()\nexcept:\n    pass", "except"),
        ("with contextlib.suppress(Exception):\n    f()", "suppress Exception"),
        ("random.choice(choices)", "random.choice"),
        ("np.random.choice(choices)", "random.choice"),
        ("from random import choice", "random.choice"),
    ],
)
def test_a_planted_danger_is_found(text: str, danger: str) -> None:
    assert dangers(text) == [danger]


@pytest.mark.parametrize(
    "text",
    [
        "re.compile(pattern)",
        "model.eval()",
        "ast.literal_eval(text)",
        "yaml.safe_load(text)",
        "subprocess.run(words, shell=False)",
        "session.get(url, ssl=True)",
        "random.Random(seed).choice(choices)",
        "try:\n    f()\nexcept (OSError, ValueError):\n    pass",
    ],
)
def test_what_is_harmless_is_let_through(text: str) -> None:
    assert dangers(text) == []


def tracked() -> list[Path]:
    """The files that git has or would take; skips the test where the sources are not a checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip(f"{ROOT} is not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in names.split("\0") if (path := ROOT / name).is_file()]


def test_no_file_names_a_machines_folder_or_a_package_registry() -> None:
    for path in tracked():
        text = path.read_bytes()
        names = [name for name in FORBIDDEN if name.encode() in text]
        assert not names, f"{path.relative_to(ROOT)} names {names[0]}"


def test_no_file_is_over_a_mebibyte() -> None:
    for path in tracked():
        size = path.stat().st_size
        assert size <= MOST_BYTES, f"{path.relative_to(ROOT)} has {size:,} bytes"
