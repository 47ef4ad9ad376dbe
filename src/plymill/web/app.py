"""The application: routes, what is said when something is at fault, and the gate round it all."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from plymill._version import __version__
from plymill.books import BookContentError, BookFormatError
from plymill.cluster import CorruptFileError, RunNotFoundError, SpecError, StoreError
from plymill.errors import IllegalMoveError, PlymillError
from plymill.matches import MatchError
from plymill.web import api, book_pages, doors, match_pages, run_pages
from plymill.web.page import STATIC, Page, sentence
from plymill.web.security import Gate
from plymill.web.settings import Settings
from plymill.words import printable

_ABOUT = (
    "Runs, books and matches of one store, read only. Times are seconds since 1970. What is at "
    'fault is told as `{"error": "a sentence"}`.'
)
_STATUS: Mapping[type[PlymillError], int] = {
    RunNotFoundError: 404,
    MatchError: 404,
    SpecError: 404,
    IllegalMoveError: 422,
    CorruptFileError: 502,
    BookFormatError: 502,
    BookContentError: 502,
    StoreError: 503,  # and too many questions at once
    api.TooMuchError: 422,
}
_DAY = 86_400


class _Static(StaticFiles):
    """Files whose address holds their digest: browsers may keep them."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = f"public, max-age={30 * _DAY}"
        return response


def make_app(settings: Settings) -> Gate:
    """The whole application.

    Raises:
        StoreError: the store cannot be opened.
    """
    app = FastAPI(
        title="plymill",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    app.state.page = Page.of(settings)
    for routes in (api, doors, run_pages, book_pages, match_pages):  # the busiest first
        app.include_router(routes.router)
    app.mount("/static", _Static(directory=STATIC))
    app.add_exception_handler(PlymillError, _at_fault)
    app.add_exception_handler(HTTPException, _http_fault)
    app.add_exception_handler(RequestValidationError, _not_valid)
    return Gate(app, settings)


def _at_fault(request: Request, error: Exception) -> Response:
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    headers = {"retry-after": "2"} if status == 503 else {}
    files = request.app.state.page.reader.files
    return _say(request, status, files.without_place(sentence(error)), headers)


def _http_fault(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is nothing at this address.", 405: "This address only answers to GET."}
    return _say(
        request, error.status_code, words.get(error.status_code, str(error.detail)), error.headers
    )


def _not_valid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"] if part not in ("body", "query", "path"))
    return _say(request, 422, printable(f"{place or 'The request'}: {fault['msg']}."), {})


def _say(request: Request, status: int, said: str, headers: Mapping[str, str] | None) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": said}, status, headers=headers)
    page: Page = request.app.state.page
    title = HTTPStatus(status).phrase
    shown = page.show(request, "error.html", status=status, title=title, sentence=said)
    shown.headers.update(headers or {})
    return shown
