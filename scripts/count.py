"""Prints figures that describe the size and structure of the code.

usage: python scripts/count.py [CHECKOUT] [--against CHECKOUT] [--json] [--names]

Reads the Python files of a checkout and imports none of them, so that it works for any commit:

    git worktree add /tmp/before 56a9bc9
    python scripts/count.py --against /tmp/before

`--help` defines each figure in one line.
"""

import argparse
import ast
import io
import json
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from names import BANNED, banned_names

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/snellen")
FOLDERS = ("src", "tests", "perf", "scripts")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_CLASS_LINES = 300
MAX_PARAMETERS = 7
LINE_KINDS = {
    "code": "lines with a token outside comments, docstrings, and imports (data tables included)",
    "data table": "code lines that are module-level dicts, lists, sets, or tuples of 2+ lines",
    "import": "lines of import statements",
    "docstring": "lines of statements that are only a string, including those under fields",
    "comment": "lines with only a comment",
    "blank": "lines without a token, outside strings",
}
PARTS = {"framework": "src/snellen without benchmarks/", "benchmarks": "src/snellen/benchmarks"}
DEFINITIONS = {
    **{
        f"{part}: {kind} lines": f"{definition}; {files}"
        for part, files in PARTS.items()
        for kind, definition in LINE_KINDS.items()
    },
    "long files": f"files of src with more than {MAX_FILE_LINES} lines of any kind",
    "long functions": f"functions of src with more than {MAX_FUNCTION_LINES} lines, "
    "including the docstring but not decorators",
    "long classes": f"classes of src with more than {MAX_CLASS_LINES} lines, "
    "including the docstring but not decorators",
    "functions with many parameters": f"functions of src with more than {MAX_PARAMETERS} "
    "parameters, including keyword-only ones but not self, cls, *args, and **kwargs",
    "fields of Benchmark": "annotated fields of the class Benchmark, in any file, and its "
    "bases, without those that begin with an underscore, which authors do not set",
    "repeated class names": "names of classes that more than one file of src defines",
    "top-level names": "modules and folders with modules directly in src/snellen",
    "imports in functions": "import statements of src inside a function, at any depth",
    "public names": "names in __all__ of src/snellen/__init__.py",
    "options of run": "options of `snellen run`: its click decorators, including those behind a "
    "name under cli/, and class fields with an Option(...)",
    "declarations of an option (median)": "the number of places that declare an option: click "
    "decorator, signature of the command, field of Plan, parameter of evaluate, other field with "
    "an Option(...)",
    **{
        f"banned names in {folder}": "bindings of variables, parameters, attributes, functions, "
        "and classes whose name is a banned word, or contains one between underscores"
        for folder in FOLDERS
    },
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Figures = dict[str, float | None]
Names = dict[str, list[str]]


@dataclass(frozen=True)
class Source:
    """A Python file of a checkout."""

    path: Path
    """The path, relative to the checkout."""
    text: str
    tree: ast.Module

    @cached_property
    def length(self) -> int:
        """The number of lines of any kind."""
        # Not splitlines(), which also splits at form feeds and the like inside strings.
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, stored because walking the tree for each figure is slow."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.nodes if isinstance(node, ast.ClassDef)]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    roots = {"checkout": options.checkout}
    if options.against is not None:
        roots = {"against": options.against, "checkout": options.checkout}
    try:
        counts = {role: count(root) for role, root in roots.items()}
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        document = {
            role: {"figures": figures, **({"names": names} if options.names else {})}
            for role, (figures, names) in counts.items()
        }
        print(json.dumps(document, indent=2))
        return 0
    columns = {str(roots[role]): figures for role, (figures, _) in counts.items()}
    print("\n".join(table(columns)))
    if options.names:
        for heading, lines in counts["checkout"][1].items():
            print(f"\n{heading} ({len(lines)})")
            print("\n".join(f"  {line}" for line in lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    definitions = [f"  {name}: {definition}" for name, definition in DEFINITIONS.items()]
    words = f"Banned words: {', '.join(sorted(BANNED))}."
    parser = argparse.ArgumentParser(
        description="Print figures that describe the size and structure of the code.",
        epilog="\n".join(["figures:", *definitions, "", words]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "checkout",
        type=Path,
        nargs="?",
        default=ROOT,
        help="root of a checkout (default: the checkout of this script)",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="another checkout, in a column of its own",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument(
        "--names",
        action="store_true",
        help="also list the repeated class names, the long functions, classes, and files, "
        "each option's declarations, and the banned names by file",
    )
    return parser


def table(columns: Mapping[str, Figures]) -> list[str]:
    """A line for each figure, with a column for each checkout."""
    rows = [["", *columns]]
    for name in DEFINITIONS:
        rows.append([name, *(_number(figures[name]) for figures in columns.values())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *padded]))
    return lines


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def count(root: Path) -> tuple[Figures, Names]:
    """Compute the figures of a checkout, and the names of what they count.

    Raises:
        ValueError: the folder is not a checkout, or a file is not valid Python.
    """
    if not (root / PACKAGE).is_dir():
        raise ValueError(f"{root} has no folder {PACKAGE}. Pass the root of a checkout.")
    folders = {folder: read_sources(root, folder) for folder in FOLDERS}
    sources = folders["src"]
    figures: Figures = {}
    for part in PARTS:
        kinds = Counter[str]()
        for source in sources:
            if _part(source) == part:
                kinds += count_lines(source)
        figures |= {f"{part}: {kind} lines": kinds[kind] for kind in LINE_KINDS}
    options = option_declarations(sources)
    banned = {folder: list(banned_bindings(files)) for folder, files in folders.items()}
    names: Names = {
        "long files": [
            f"{source.path}: {source.length} lines"
            for source in sources
            if source.length > MAX_FILE_LINES
        ],
        "long functions": [
            text
            for source in sources
            for text in long_definitions(source, source.functions, MAX_FUNCTION_LINES)
        ],
        "long classes": [
            text
            for source in sources
            for text in long_definitions(source, source.classes, MAX_CLASS_LINES)
        ],
        "functions with many parameters": [
            f"{source.path}:{node.lineno} {node.name}: {len(parameters(node))} parameters"
            for source in sources
            for node in source.functions
            if len(parameters(node)) > MAX_PARAMETERS
        ],
        "repeated class names": list(repeated_class_names(sources)),
        "options of run": [f"{name}: {', '.join(kinds)}" for name, kinds in options.items()],
        "top-level names": sorted(
            {
                source.path.relative_to(PACKAGE).parts[0]
                for source in sources
                if source.path.is_relative_to(PACKAGE)
            }
        ),
    }
    figures |= {heading: len(lines) for heading, lines in names.items()}
    figures |= {
        "fields of Benchmark": benchmark_fields(sources),
        "imports in functions": sum(map(function_imports, sources)),
        "public names": public_names(sources),
        "declarations of an option (median)": _median(map(len, options.values())),
        **{f"banned names in {folder}": len(bindings) for folder, bindings in banned.items()},
    }
    for folder, bindings in banned.items():
        names[f"files with banned names in {folder}"] = _by_file(bindings)
    return figures, names


def _median(values: Iterable[int]) -> float | None:
    numbers = list(values)
    return float(median(numbers)) if numbers else None


def read_sources(root: Path, folder: str) -> list[Source]:
    """The Python files under a folder of a checkout, in the order of their paths."""
    sources = []
    for path in sorted((root / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise ValueError(f"{path}, line {error.lineno}: {error.msg}.") from error
        sources.append(Source(path.relative_to(root), text, tree))
    return sources


def _part(source: Source) -> str | None:
    """The key of `PARTS` that a file belongs to."""
    if not source.path.is_relative_to(PACKAGE):
        return None
    return "benchmarks" if source.path.is_relative_to(PACKAGE / "benchmarks") else "framework"


# Lines


def count_lines(source: Source) -> Counter[str]:
    """The number of lines of each of `LINE_KINDS` in a file."""
    tokens, comments = _token_lines(source.text)
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in source.nodes:
        if isinstance(node, ast.Expr) and _is_string(node.value):
            docstrings |= _lines_of(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports |= _lines_of(node)
    tables: set[int] = set()
    for statement in source.tree.body:
        if _is_table(statement):
            tables |= _lines_of(statement)
    imports -= docstrings
    code = tokens - docstrings - imports
    comments -= tokens | docstrings | imports
    blank = source.length - len(code | imports | docstrings | comments)
    return Counter(
        {
            "code": len(code),
            "data table": len(code & tables),
            "import": len(imports),
            "docstring": len(docstrings),
            "comment": len(comments),
            "blank": blank,
        }
    )


def _token_lines(text: str) -> tuple[set[int], set[int]]:
    """The numbers of lines with a token, and of lines with a comment."""
    layout = {
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    tokens: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in layout:
            tokens.update(range(token.start[0], token.end[0] + 1))
    return tokens, comments


def _lines_of(statement: ast.stmt) -> set[int]:
    return set(range(statement.lineno, _end(statement) + 1))


def _end(statement: ast.stmt) -> int:
    assert statement.end_lineno is not None  # the parser always sets it
    return statement.end_lineno


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_table(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign | ast.AnnAssign)
        and isinstance(statement.value, ast.Dict | ast.List | ast.Set | ast.Tuple)
        and statement.lineno < _end(statement)
    )


# Functions, classes, imports


def long_definitions(
    source: Source, definitions: Iterable[Function | ast.ClassDef], max_lines: int
) -> Iterator[str]:
    """The functions or classes with more than `max_lines` lines, from `def` or `class` on."""
    for node in definitions:
        length = _end(node) - node.lineno + 1
        if length > max_lines:
            yield f"{source.path}:{node.lineno} {node.name}: {length} lines"


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, without self, cls, *args, and **kwargs."""
    arguments = function.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if positional and positional[0] in ("self", "cls"):
        del positional[0]
    return [*positional, *(argument.arg for argument in arguments.kwonlyargs)]


def repeated_class_names(sources: Iterable[Source]) -> Iterator[str]:
    """Names of classes that more than one file defines, with the files."""
    paths: dict[str, list[Path]] = {}
    for source in sources:
        for name in {node.name for node in source.classes}:
            paths.setdefault(name, []).append(source.path)
    for name in sorted(paths):
        if len(paths[name]) > 1:
            yield f"{name}: {', '.join(map(str, paths[name]))}"


def benchmark_fields(sources: Iterable[Source]) -> int | None:
    """The number of public fields of the largest class `Benchmark`; None without such a class."""
    classes: dict[str, list[ast.ClassDef]] = {}
    for source in sources:
        for node in source.classes:
            classes.setdefault(node.name, []).append(node)

    def names(node: ast.ClassDef, derived: frozenset[str]) -> set[str]:
        bases = {name for base in node.bases if (name := _last_name(base))} - derived
        inherited = [
            names(parent, derived | {node.name})
            for base in bases
            for parent in classes.get(base, [])
        ]
        public = {field.name for field in fields(node) if not field.name.startswith("_")}
        return public.union(*inherited)

    return max(
        (len(names(node, frozenset({"Benchmark"}))) for node in classes.get("Benchmark", [])),
        default=None,
    )


@dataclass(frozen=True)
class Field:
    """An annotated name in the body of a class."""

    name: str
    has_option: bool
    """Whether the annotation or the default calls `Option`."""


def fields(node: ast.ClassDef) -> list[Field]:
    """The fields that the body of a class declares, without class variables."""
    declared = []
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        has_option = any(
            isinstance(part, ast.Call) and _last_name(part.func) == "Option"
            for part in ast.walk(statement)
        )
        declared.append(Field(statement.target.id, has_option))
    return declared


def function_imports(source: Source) -> int:
    """The number of import statements inside functions."""
    statements = {
        node
        for function in source.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(statements)


def public_names(sources: Iterable[Source]) -> int | None:
    """The length of the package's `__all__`; None if it is not a literal list."""
    for source in sources:
        if source.path != PACKAGE / "__init__.py":
            continue
        for statement in source.tree.body:
            if "__all__" not in _defined_names(statement):
                continue
            value = getattr(statement, "value", None)
            if isinstance(value, ast.List | ast.Tuple):
                return len(value.elts)
    return None


def _last_name(node: ast.expr) -> str | None:
    """`c` of `a.b.c`, `c`, `c(...)`, and `c[...]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last_name(inner)
    return None


# Options of `snellen run`


def option_declarations(sources: Sequence[Source]) -> dict[str, list[str]]:
    """The kinds of declaration of each option of `snellen run`, keyed by the option's name."""
    spellings: dict[str, set[str]] = {}
    decorated: set[str] = set()
    in_signature: set[str] = set()
    for source, command in _run_commands(sources):
        in_signature.update(parameters(command))
        for call in _click_options(source, command, sources):
            name, forms = _option_names(call)
            decorated.add(name)
            spellings.setdefault(name, set()).update(forms)
    in_plan: set[str] = set()
    in_fields: set[str] = set()
    in_evaluate: set[str] = set()
    for source in sources:
        for node in source.classes:
            for field in fields(node):
                if field.has_option:
                    spellings.setdefault(field.name, {field.name})
                if node.name == "Plan":
                    in_plan.add(field.name)
                elif field.has_option:
                    in_fields.add(field.name)
        for function in source.functions:
            if function.name == "evaluate":
                in_evaluate.update(parameters(function))
    kinds = {
        "click": decorated,
        "signature": in_signature,
        "Plan": in_plan,
        "evaluate": in_evaluate,
        "Option": in_fields,
    }
    return {
        name: [kind for kind, names in kinds.items() if names & forms]
        for name, forms in spellings.items()
    }


def _run_commands(sources: Iterable[Source]) -> Iterator[tuple[Source, Function]]:
    """The functions under cli/ that define the command `run`."""
    for source in sources:
        if "cli" not in source.path.parts:
            continue
        for function in source.functions:
            for decorator in function.decorator_list:
                name = _command_name(decorator) or function.name
                if _last_name(decorator) == "command" and name == "run":
                    yield source, function


def _command_name(decorator: ast.expr) -> str | None:
    """The name that a decorator `command` gives its function, if any."""
    if isinstance(decorator, ast.Call):
        values = [keyword.value for keyword in decorator.keywords if keyword.arg == "name"]
        for value in (*decorator.args[:1], *values):
            if isinstance(value, ast.Constant):
                return str(value.value)
    return None


def _click_options(
    source: Source, command: Function, sources: Sequence[Source]
) -> Iterator[ast.Call]:
    """The calls of `click.option` that decorate a command, directly or through another name."""
    for decorator in command.decorator_list:
        if isinstance(decorator, ast.Call) and _is_option(decorator):
            yield decorator
        elif name := _last_name(decorator):
            yield from _options_behind(name, source, sources, set())


def _is_option(call: ast.Call) -> bool:
    """Whether a call is `click.option("--flag", ...)`, and not another decorator that is named
    `option`."""
    return _last_name(call.func) == "option" and any(map(_is_string, call.args))


def _options_behind(
    name: str, source: Source, sources: Sequence[Source], visited: set[tuple[Path, str]]
) -> Iterator[ast.Call]:
    """The calls of `click.option` in the definition of a name in a file, and in the definitions of
    the names that this definition uses."""
    if "cli" not in source.path.parts or (source.path, name) in visited:
        return
    visited.add((source.path, name))
    for statement in source.tree.body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    for other in _imported_files(statement, sources):
                        yield from _options_behind(alias.name, other, sources, visited)
        elif name in _defined_names(statement):
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and _is_option(node):
                    yield node
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    yield from _options_behind(node.id, source, sources, visited)


def _imported_files(statement: ast.ImportFrom, sources: Iterable[Source]) -> list[Source]:
    """The files that `from a.b import ...` may refer to: b.py and b/__init__.py."""
    module = (statement.module or "").rpartition(".")[2]
    return [source for source in sources if module in (source.path.stem, source.path.parent.name)]


def _defined_names(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _option_names(call: ast.Call) -> tuple[str, set[str]]:
    """An option's name, and the possible names of a parameter or field for it. For
    `option("-m", "--model", "models")`, these are `model` and `models`."""
    texts = [str(value.value) for value in call.args if isinstance(value, ast.Constant)]
    flags = [text.split("/")[0] for text in texts if text.startswith("-")]
    parameter = [text for text in texts if not text.startswith("-")]
    name = max(flags, key=len, default="").lstrip("-").replace("-", "_")
    forms = {name, f"{name}s", name.removeprefix("no_"), *parameter}
    return name, forms


# Banned names


def banned_bindings(sources: Iterable[Source]) -> Iterator[tuple[Path, str]]:
    """Yield each binding of a name that is or contains a banned word, with its file."""
    for source in sources:
        for _, name in banned_names(source.tree):
            yield source.path, name


def _by_file(bindings: Iterable[tuple[Path, str]]) -> list[str]:
    names: dict[Path, Counter[str]] = {}
    for path, name in bindings:
        names.setdefault(path, Counter())[name] += 1
    return [
        f"{path}: {', '.join(f'{name} {number}' for name, number in counter.most_common())}"
        for path, counter in names.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
