"""What all routes of the page share: the store's readers, and how HTML is made."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from plymill._version import __version__
from plymill.web.played import PlayedRuns
from plymill.web.reading import StoreReader
from plymill.web.security import INSIDE
from plymill.web.settings import Settings
from plymill.web.shelves import Library
from plymill.web.sound import time_of
from plymill.words import duration, plural, printable, rate, size, time_range

STATIC = Path(__file__).parent / "static"
_DIGITS = 10


@dataclass(frozen=True)
class Page:
    """Everything that routes need.

    Attributes:
        settings: how the page is served.
        reader: the store.
        library: its books.
        played: its matches.
        templates: its HTML.
    """

    settings: Settings
    reader: StoreReader
    library: Library
    played: PlayedRuns
    templates: Environment

    @classmethod
    def of(cls, settings: Settings) -> "Page":
        """The page of a store.

        Raises:
            StoreError: the store cannot be opened.
        """
        reader = StoreReader(settings.store)
        return cls(settings, reader, Library(reader), PlayedRuns(reader), _environment())

    @cached_property
    def _common(self) -> dict[str, Any]:
        return {"assets": _assets_digest(), "guarded": self.settings.token is not None}

    @cached_property
    def _about(self) -> dict[str, str]:
        """What is told to nobody but those who have been let in."""
        return {"version": __version__, "store": self.reader.files.url}

    def render(self, template: str, **values: Any) -> str:
        """A template as HTML."""
        return self.templates.get_template(template).render({**self._common, **values})

    def show(
        self, request: Request, template: str, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A whole page; the part in its middle alone if htmx asks for that."""
        part = wants_part(request)
        about = self._about if request.scope[INSIDE] else None
        html = self.render(template, request=request, part=part, about=about, **values)
        return HTMLResponse(html, status, headers={"vary": "HX-Request"})

    def live(self, template: str, seen: str, **values: Any) -> Response:
        """A part that is asked for again and again: nothing if it is as it was seen last."""
        body = self.live_part(template, **values)
        if body["digest"] == seen:
            return Response(status_code=204)
        return HTMLResponse(self.render("live.html", **body))

    def live_part(self, template: str, *, url: str, again: bool, **values: Any) -> dict[str, Any]:
        """What ``live.html`` needs of such a part.

        Args:
            template: the part.
            url: where to ask for it again.
            again: whether to ask again.
            values: for the template.
        """
        html = self.render(template, again=again, **values)
        digest = hashlib.sha256(html.encode()).hexdigest()[:_DIGITS]
        return {"body": Markup(html), "digest": digest, "url": url, "again": again}


async def page_of(request: Request) -> Page:
    """The page that a request is for; a coroutine, as a function would be sent to a thread."""
    page: Page = request.app.state.page
    return page


ThePage = Annotated[Page, Depends(page_of)]


def wants_part(request: Request) -> bool:
    """Whether htmx asks, and not for the sake of going back in the history."""
    headers: Mapping[str, str] = request.headers
    return "hx-request" in headers and "hx-history-restore-request" not in headers


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("plymill.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "duration": duration,
        "rate": rate,
        "size": size,
        "time_range": time_range,
        "when": _when,
        "mirrored": mirrored,
        "plain": _plain,
    }
    environment.globals |= {"plural": plural}
    return environment


def sentence(error: Exception) -> str:
    """What an error says, begun and closed like a sentence, with what cannot be shown escaped."""
    text = printable(" ".join(str(error).split()))
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def mirrored(moves: str) -> str:
    """The same moves on the board seen from behind."""
    return "".join(str(8 - int(column)) for column in moves)


def _plain(value: object) -> object:
    """A value of a spec or an event as people write it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _when(seconds: object) -> Markup:
    """A point in time, which the browser shows in the time of its place; nothing if it is none."""
    time = time_of(seconds)
    if time is None:
        return Markup("")
    moment = datetime.fromtimestamp(time, UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(
        f"{moment:%Y-%m-%dT%H:%M:%SZ}", f"{moment:%Y-%m-%d %H:%M:%S}"
    )


def _assets_digest() -> str:
    """Changes with any file that browsers keep."""
    sha = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        if path.is_file():
            sha.update(path.read_bytes())
    return sha.hexdigest()[:_DIGITS]
