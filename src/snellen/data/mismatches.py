"""Recognizes the notes of runs whose rows are not those of the published data set."""

NOT_PUBLISHED = " is not the published "
"""The part of a note which says that a file differs from the published file."""
OTHER_NAME = " has another name than the published files"
"""The part of a note which says that a file could not be compared with the published files."""
FEWER = "The score is about these questions alone"
"""The end of a note which says that the data have fewer questions than the published data set."""
MORE = "The score is not of the published data set"
"""The end of a note which says that the data have more questions than the published data set."""


def is_mismatch(note: str) -> bool:
    """Whether a run's note says that its data are not the published data, or that they could not be
    compared with them."""
    return NOT_PUBLISHED in note or OTHER_NAME in note or note.endswith((FEWER, MORE))
