"""Parses specs: the arguments of `-b`, which name benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from snellen.registry import options
from snellen.registry.names import OWN_DATA, sheet_in_lmu_data
from snellen.store import is_address


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A benchmark's name with options, a file of rows, or a benchmark in a file or module."""

    kind: Literal["name", "rows", "file", "module"]
    """What `name` is."""
    name: str
    """A benchmark's name, the path or URL of a file of rows, the path of a `.py` file, or a
    module."""
    attribute: str | None = None
    """The name of the benchmark in the file or module; None if the spec does not name it."""
    options: Mapping[str, str]
    """The options that follow the name."""

    @property
    def base(self) -> str:
        """The spec without options."""
        return self.name if self.attribute is None else f"{self.name}:{self.attribute}"


def parse(text: str) -> Spec:
    """Parse `NAME`, `NAME:option=value`, `rows.jsonl`, `FILE.py[:NAME][:option=value]`, or
    `module:NAME`.

    A name that no benchmark has may be the name of a file of rows in VLMEvalKit's data folder.

    Raises:
        UsageError: an option has no value.
    """
    if is_address(text):
        return Spec(kind="rows", name=text, options={})
    file = re.match(r"(.+?\.py)(?::|$)", text, re.DOTALL)
    name, _, rest = (file[1], ":", text[file.end() :]) if file else text.partition(":")
    if not file and (name.endswith(OWN_DATA) or "/" in name):
        return Spec(kind="rows", name=name, options=options.parsed(rest, text))
    if not file and (sheet := sheet_in_lmu_data(name)):
        return Spec(kind="rows", name=f"{sheet}", options=options.parsed(rest, text))
    head, _, tail = rest.partition(":")
    # The benchmark's own name is allowed too, and it may contain dashes: my-bench.
    attribute = head if re.sub("[.-]", "_", head).isidentifier() else None
    if attribute is not None:
        rest = tail
    kind: Literal["file", "module", "name"]
    kind = "file" if file else "name" if attribute is None else "module"
    return Spec(kind=kind, name=name, attribute=attribute, options=options.parsed(rest, text))
