"""Parts for judging news summaries: a student, an acceptance rule and an objective.

Everything comes from the front door; nothing here knows how Heldout is built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heldout.types import (
    Budget,
    DesignContext,
    Frame,
    Judgement,
    MinibatchComparison,
    Note,
    Outcome,
    Rank,
    ScoreTable,
    Stage,
)

FRAME = Frame(
    "coverage",
    "Article:\n{{transcript}}\n\nSummary:\n{{note}}\n\n{{block}}\n\n"
    "Answer with one line, «coverage: N», N from 0 to 100.",
)
ANSWER = re.compile(r"coverage:\s*(\d{1,3})\b")


@dataclass(frozen=True)
class CoverageJudge:
    """Asks how much of an article its summary keeps, in per cent."""

    context: DesignContext
    design: str = "news_coverage"
    frame: Frame = FRAME
    score_range: tuple[float, float] = (0.0, 100.0)
    calls_per_judgement: int = 1

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge one summary."""
        prompt = FRAME.render({"transcript": note.transcript, "note": note.text, "block": block})
        requests = self.context.requests(self.context.roles.judge)
        spec = requests.spec(Stage.JUDGE, note, prompt, budget, sample)
        completion = await self.context.caller.call(spec)
        found = ANSWER.search(completion.reply.text)
        keys, sha = (completion.key,), FRAME.sha256
        if found is None or int(found[1]) > 100:
            said = "there is no «coverage: N»"
            return Judgement(None, Outcome.CONTRACT_VIOLATION, keys, said, frame_sha256=sha)
        return Judgement(float(found[1]), Outcome.OK, keys, frame_sha256=sha)


@dataclass(frozen=True)
class ClearlyBetter:
    """A rewrite enters when its minibatch reward is better by a clear step."""

    step: float = 0.02

    def accepts(self, comparison: MinibatchComparison) -> bool:
        """On the minibatch."""
        return comparison.child_reward > comparison.parent_reward + self.step

    def admits(self, child: Rank, parent: Rank) -> bool:
        """On accept: whatever passed the minibatch."""
        del child, parent
        return True


@dataclass(frozen=True)
class PairsThenSpread:
    """Pairs in the right order first, then how far the scores lie apart."""

    def rank(self, table: ScoreTable) -> Rank:
        """Two shares in [0, 1], higher is better."""
        by_id = {label.id: score for label, score in zip(table.labels, table.scores, strict=True)}
        gaps = []
        for label in table.labels:
            score, twin = by_id[label.id], by_id[label.twin]
            if not label.is_clean:
                gaps.append(0.0 if score is None or twin is None else (twin - score) / 100)
        ordered = sum(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0 for gap in gaps)
        return (ordered / len(gaps), sum(gaps) / len(gaps)) if gaps else (0.0, 0.0)
