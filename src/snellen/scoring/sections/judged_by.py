"""Reports which judges scored the replies, and whether these judges are qualified."""

from __future__ import annotations

from snellen.scoring.draft import Draft, Part
from snellen.scoring.sections._base import Base


class JudgedBySection(Base):
    """Reports the judges of each scoring, and adds a note on whether these judges are qualified."""

    def summarize(self, draft: Draft) -> Part:
        judges_by_scoring = {
            name: judges
            for name, judges in draft.source.judged_by.items()
            if name in draft.reported
        }
        return {"judged_by": judges_by_scoring}, [
            *filter(None, (of.note(name) for name, of in judges_by_scoring.items()))
        ]
