"""Who was invited to the pages of a study, and by which open link a judge came.

They are tables of their own: a study that was made before there were invitations has none.
"""

import sqlalchemy as sa

from bayesduel.study.store import Store

__all__ = ["arrivals", "invitations", "links_of", "metadata", "seats"]

metadata = sa.MetaData()
invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("judge", sa.String, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
    sa.Column("revoked", sa.Float),
    sa.Column("opened", sa.Float),
    sa.Column("consented", sa.Float),
)
# Whose invitation came by an open link.
seats = sa.Table(
    "seats",
    metadata,
    sa.Column("invitation", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("link", sa.Integer, nullable=False),  # number of the open invitation
    sa.Column("participant", sa.String(64)),  # as the address says, None where it says nothing
    sa.UniqueConstraint("link", "participant"),
)
# What the link of a recruiter said of who came by it.
arrivals = sa.Table(
    "arrivals",
    metadata,
    sa.Column("invitation", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("fields", sa.String, nullable=False),  # JSON, by name
)
link = invitations.alias("link")
LINKS = (  # judges, and the names of the links by which they came
    sa.select(invitations.c.judge, link.c.judge)
    .join(seats, seats.c.invitation == invitations.c.number)
    .join(link, link.c.number == seats.c.link)
    .where(seats.c.study == sa.bindparam("own"))
)


def links_of(store: Store) -> dict[str, str]:
    """Return the name of the open link by which each judge came who came by one."""
    if seats.name not in store.tables():
        return {}
    return dict(tuple(row) for row in store.found(LINKS))
