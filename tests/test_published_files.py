"""Every file that a benchmark publishes has a digest, or says that it has none."""

import importlib
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from snellen import registry
from snellen.data.download import expected
from snellen.data.published import File
from snellen.errors import UsageError

BENCHMARKS = [entry.name for entry in registry.entries()]


def variants(name: str) -> Iterator[tuple[File, ...]]:
    """The published files of a benchmark under each of its options."""
    module = importlib.import_module(f"snellen.benchmarks.{name.replace('-', '_')}")
    yield getattr(module, "FILES_PUBLISHED", ())
    publish = getattr(module, "published", None)
    if publish is None:
        return
    hints = get_type_hints(publish)
    options = {
        option: get_args(hints[option]) or (parameter.default,)
        for option, parameter in inspect.signature(publish).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    for values in product(*options.values()):
        with suppress(UsageError):  # options that exclude each other
            yield publish(**dict(zip(options, values, strict=True)))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_published_file_has_a_digest_or_says_that_it_has_none(name: str) -> None:
    for files in variants(name):
        for file in files:
            words = expected(file)
            digest = re.fullmatch(r"SHA-256 [0-9a-f]{64}|MD5 [0-9a-f]{32}", words)
            assert digest or words == "no digest is published", file.name
            assert re.match(r"https?://|hf://datasets/[^@]+@[0-9a-f]{40}/", file.url), file.url
            assert not Path(file.name).is_absolute() and ".." not in Path(file.name).parts


def test_most_files_have_one() -> None:
    files = {(file.url, file) for name in BENCHMARKS for some in variants(name) for file in some}

    assert len(files) > 50
    assert any(file.md5 or file.sha256 for _, file in files)
