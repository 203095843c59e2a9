"""Live studies: ask for the next pair, tell the outcome, stop when there is enough.

=================  =================================================================================
the study          ``Study``, ``studies`` (those of a database), ``plan`` (how many votes it takes)
what it is for     ``FindBest``, ``FullRanking``, ``MinimizeRegret``, ``TopK``
when it stops      ``AllOf``, ``AnyOf``, ``Budget``, ``ConfidenceSequences``, ``ExpectedLoss``,
                   ``PosteriorThreshold``, ``WithinRope``, ``Confirmed`` (by direct duels)
what judges see    ``Asking`` (the question), ``Judging`` (who judges, and how often)
what it raises     ``StudyError``, ``StudyStopped``, ``NoQuestion``
=================  =================================================================================
"""

from bayesduel.system.names import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "asking": "Asking",
        "confirmed": "Confirmed",
        "questions": "NoQuestion",
        "goal": "FindBest FullRanking MinimizeRegret TopK",
        "judging": "Judging",
        "planning": "plan",
        "stopping": """
            AllOf AnyOf Budget ConfidenceSequences ExpectedLoss PosteriorThreshold WithinRope
        """,
        "store": "StudyError",
        "study": "studies Study StudyStopped",
    },
    {},
)
