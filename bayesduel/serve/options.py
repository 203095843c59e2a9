"""What the pages of a study say and allow: the options of ``bayesduel study serve``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bayesduel.serve.language import Language, read_language
from bayesduel.serve.recruiters import FRAMES, RECRUITERS
from bayesduel.system.arguments import (
    check_flag,
    check_noun,
    check_one_of,
    check_text,
    shown_value,
    whole,
)

__all__ = ["Options", "web_address"]

# An open link can be passed on, and one person can open it in many browsers. 200 is also the most
# judges that are invited by name at once; `--seats` is for larger panels.
SEATS = 200
QUESTION = "Which one is better?"
INSTRUCTIONS = """\
You will see two items at a time. Look at both, then say which one is better.

There are no right or wrong answers. Take the time you need; if you cannot judge a pair, skip it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the pages.

    Raises TypeError or ValueError if an option is not as described.
    """

    title: str = QUESTION  # of the pages, as judges see it
    question: str = QUESTION  # above every pair
    # Markdown, or the path of a file of it, which may show pictures of its folder. Where there is a
    # consent, judges have to agree to it before they begin.
    instructions: str | Path = INSTRUCTIONS
    consent: str | Path | None = None
    language: str | Path = "en"  # of the judge's page: a code, or a file of texts
    noun: str = "arm"  # what an arm is called
    # What judges are given who judged what was asked: a code, a link back (to Prolific, say).
    completion_code: str | None = None
    return_url: str | None = None
    # What the other judges are given at the end: a text, or an address that becomes a link.
    screened_out: str | None = None
    full: str | None = None  # the same for those who come when there is no place: else the above
    # Who sends the judges, "prolific", "mturk" or "sona": how they are given back at the end.
    recruiter: str | None = None
    seats: int = SEATS  # judges of one open link, at most
    quotas: Mapping[str, int] = field(default_factory=dict)  # the same of links, by name
    # Sites whose pages may show the pages in a frame, such as "https://school.example.org".
    frame_ancestors: Sequence[str] = ()
    open_standings: bool = False  # whether judges may see the standings
    # address to which answers, judges who finish and the stop are posted, or None; and whether its
    # name may stand for an address of a private network
    webhook: str | None = None
    webhook_private: bool = False
    # address of the pages as judges reach them, such as "https://judge.example.org"
    public_url: str = "http://127.0.0.1:8000"
    say: Language = field(init=False, repr=False)  # what the judge's page says

    def __post_init__(self) -> None:
        check_text(self.title, "title")
        check_text(self.question, "question")
        for name, page in (("instructions", self.instructions), ("consent", self.consent)):
            if not isinstance(page, Path):
                check_text(page, name, none=name == "consent")
        say = read_language(self.language)
        object.__setattr__(self, "say", say)
        for name in ("title", "question", "instructions"):
            if getattr(self, name) in (QUESTION, INSTRUCTIONS):
                object.__setattr__(self, name, say(getattr(self, name)))
        check_noun(self.noun)
        check_text(self.completion_code, "completion_code", none=True)
        check_text(self.screened_out, "screened_out", none=True)
        check_text(self.full, "full", none=True)
        for most in (self.seats, *self.quotas.values()):
            whole(most, "seats", 1)
        if self.recruiter is not None:
            check_one_of(self.recruiter, "recruiter", tuple(RECRUITERS))
        if self.recruiter == "sona" and "survey_code=XXXX" not in (self.return_url or ""):
            raise ValueError(
                "return_url should be the client-side completion URL from SONA, which has "
                f"survey_code=XXXX in it, got {shown_value(self.return_url)}"
            )
        for site in self.frames:
            web_address(site, "frame_ancestors")
            if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+", site):
                raise ValueError(
                    f"frame_ancestors should be sites such as https://example.org, got "
                    f"{shown_value(site)}"
                )
        check_flag(self.open_standings, "open_standings")
        check_flag(self.webhook_private, "webhook_private")
        for name, given in (("screened_out", self.screened_out), ("full", self.full)):
            if given is not None and given.startswith(("http://", "https://")):
                web_address(given, name)
        for name, address in (("return_url", self.return_url), ("webhook", self.webhook)):
            if address is not None:
                web_address(address, name)
        object.__setattr__(
            self, "public_url", web_address(self.public_url, "public_url").rstrip("/")
        )
        if self.frames and not self.secure and self.host not in ("127.0.0.1", "localhost"):
            raise ValueError(
                "public_url should begin with https:// if another site shows the pages in a frame, "
                f"got {shown_value(self.public_url)}"
            )

    @property
    def frames(self) -> tuple[str, ...]:
        """Sites whose pages may show these pages in a frame, that of the recruiter with them."""
        return (*self.frame_ancestors, *FRAMES.get(self.recruiter or "", ()))

    def most(self, link: str) -> int:
        """Return how many judges an open link may have, by its name."""
        return self.quotas.get(link, self.seats)

    @property
    def secure(self) -> bool:
        """Whether judges reach the pages by HTTPS, so that cookies are sent by HTTPS only."""
        return self.public_url.startswith("https:")

    @property
    def netloc(self) -> str:
        """The host and port of the public address, as a browser names them."""
        usual = ":443" if self.secure else ":80"
        return urlsplit(self.public_url).netloc.lower().removesuffix(usual)

    @property
    def host(self) -> str:
        """The host of the public address."""
        return urlsplit(self.public_url).hostname or ""


def web_address(value: str, name: str) -> str:
    """Return an address that begins with http:// or https:// and names a host.

    Raises ValueError if it does not.
    """
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except (AttributeError, TypeError, ValueError):
        good = False
    if not good or any(c.isspace() for c in value):
        raise ValueError(f"{name} should begin with http:// or https://, got {shown_value(value)}")
    return value
