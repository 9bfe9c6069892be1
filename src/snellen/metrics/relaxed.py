"""Relaxed accuracy: numbers may be off by 5 %; other answers must match exactly."""


def relaxed_accuracy(answer: str, target: str) -> float:
    """1 if the answer is a number within 5 % of the target, or is the same text as the target;
    otherwise 0.

        |a - t| / |t| <= 0.05

    Methani et al. 2020, https://arxiv.org/abs/1909.00997, and Masry et al. 2022,
    https://arxiv.org/abs/2203.10244, section 5.1. The details below follow
    google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:pix2struct/metrics.py#L81-L119.

    - Numbers are parsed by Python's float(), which accepts "1e3", "1_000", and " 5 ", but not
      "1,000" or "$5". A number followed by percent signs is divided by 100: "20%" equals "0.2", not
      "20".
    - If the target is zero, or if the target or the answer is not a number, the two texts must be
      equal except for case. Spaces matter, and "0.0" does not match "0".
    - A year is treated as a number, so the target 2010 matches any year within about 100 years of
      2010.

    >>> relaxed_accuracy("104.9", "100"), relaxed_accuracy("Yes", "yes")
    (1.0, 1.0)
    >>> relaxed_accuracy("0.0", "0")
    0.0

    Raises:
        TypeError: The answer or the target is not a string.
    """
    for name, text in (("answer", answer), ("target", target)):
        if not isinstance(text, str):
            raise TypeError(f"the {name} must be text, not a {type(text).__name__}: {text!r:.80}")
    value, right = _number(answer), _number(target)
    if value is not None and right:
        return float(abs(value - right) / abs(right) <= 0.05)
    return float(answer.lower() == target.lower())


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None
