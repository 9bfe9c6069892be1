"""Writes checks in JUnit's XML format, which CI services show as test results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from snellen.errors import plain


class CheckResult(NamedTuple):
    """A check of a run or of a comparison."""

    suite: str
    """The benchmark."""
    name: str
    """What is checked, such as `b against a: accuracy`."""
    text: str
    """The result as readable text."""
    is_failed: bool
    """Whether the check failed."""


def junit(checks: Sequence[CheckResult]) -> str:
    """The checks as one XML document. The document has a `testsuite` for each benchmark and a
    `testcase` for each check. Failed checks have a `failure`.

    >>> print(junit([CheckResult("pope", "accuracy >= 0.5", "accuracy is 0.4", True)]))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites tests="1" failures="1">
      <testsuite name="pope" tests="1" failures="1">
        <testcase classname="pope" name="accuracy &gt;= 0.5">
          <failure message="accuracy is 0.4" />
        </testcase>
      </testsuite>
    </testsuites>
    """
    root = ElementTree.Element("testsuites", _counts(checks))
    for suite in dict.fromkeys(check.suite for check in checks):
        own = [check for check in checks if check.suite == suite]
        element = ElementTree.SubElement(root, "testsuite", {"name": plain(suite), **_counts(own)})
        for check in own:
            case = ElementTree.SubElement(
                element, "testcase", {"classname": plain(suite), "name": plain(check.name)}
            )
            if check.is_failed:
                ElementTree.SubElement(case, "failure", {"message": plain(check.text)})
            else:
                ElementTree.SubElement(case, "system-out").text = plain(check.text)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode()


def _counts(checks: Sequence[CheckResult]) -> dict[str, str]:
    failures = sum(check.is_failed for check in checks)
    return {"tests": str(len(checks)), "failures": str(failures)}
