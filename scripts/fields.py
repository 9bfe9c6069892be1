"""Check that every field of a public record in `src` has documentation under it.

usage: python scripts/fields.py

A record is a dataclass, a `NamedTuple`, a `TypedDict`, or a `msgspec.Struct`. A field is documented
by a string on the line after it, or by the text of an `Option` in its type. Classes and fields that
start with an underscore are not public. The script lists undocumented fields, and exits with 1 if
there are any.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS = ("dataclass", "NamedTuple", "TypedDict", "Struct")


def is_public_record(node: ast.AST) -> bool:
    """Whether the node defines a public class with fields."""
    if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
        return False
    heads = [ast.unparse(part) for part in (*node.bases, *node.decorator_list)]
    return any(record in head for record in RECORDS for head in heads)


def is_docstring(node: ast.stmt | None) -> bool:
    """Whether the statement is a string of at least one character."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return bool(text.strip())
    return False


def undocumented_fields(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield the line, class, and name of each public field without documentation."""
    for record in filter(is_public_record, ast.walk(tree)):
        assert isinstance(record, ast.ClassDef)
        for statement, after in zip(record.body, [*record.body[1:], None], strict=True):
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    has_text = is_docstring(after) or "Option(" in ast.unparse(annotation)
                    if not has_text and not name.startswith("_"):
                        yield statement.lineno, record.name, name


def main() -> int:
    number = 0
    for file in sorted((ROOT / "src").rglob("*.py")):
        for line, record, name in undocumented_fields(ast.parse(file.read_bytes())):
            number += 1
            print(
                f"{file.relative_to(ROOT)}:{line}: {record}.{name} has no documentation under it."
            )
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
