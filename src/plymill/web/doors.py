"""Coming in: the front door, the page that asks for the token, and the one about the API."""

import time
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from plymill.web.page import ThePage
from plymill.web.security import COOKIE, SESSION_SECONDS, new_session, same

router = APIRouter(include_in_schema=False)

_LONGEST = 4096
_MOST_FIELDS = 8


@router.get("/")
def front(request: Request) -> Response:
    """The runs are what most people come for."""
    del request
    return RedirectResponse("/runs", 303)


@router.get("/login")
def ask(page: ThePage, request: Request, next: str = "/runs") -> Response:
    """Ask for the token."""
    if page.settings.token is None:
        return RedirectResponse(_local(next), 303)
    return page.show(request, "login.html", goal=_local(next), fault="")


@router.post("/login")
async def enter(page: ThePage, request: Request) -> Response:
    """Let in who knows the token."""
    fields = _fields((await request.body())[:_LONGEST])
    goal = _local(fields.get("next", ["/runs"])[0])
    token = page.settings.token
    if token is None:
        return RedirectResponse(goal, 303)
    if not same(fields.get("token", [""])[0].strip(), token):
        return page.show(
            request, "login.html", status=401, goal=goal, fault="This is not the token."
        )
    response = RedirectResponse(goal, 303)
    response.set_cookie(
        COOKIE,
        new_session(token, time.time()),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/logout")
def leave() -> Response:
    """Forget the visitor."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


@router.get("/api")
@router.get("/api/v1/docs")
def about_api(page: ThePage, request: Request) -> HTMLResponse:
    """The API, from its own description."""
    description = request.app.openapi()
    return page.show(request, "api.html", api=description, operations=_operations(description))


def _operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"method": method.upper(), "path": path, **operation}
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]


def _fields(body: bytes) -> dict[str, list[str]]:
    """The fields of a form; none of what is no form of ours."""
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:  # more fields
        return {}


def _local(goal: str) -> str:
    """The address on this page to go to; any other is replaced by the runs."""
    plain = goal.isascii() and goal.isprintable() and "\\" not in goal
    return goal if plain and goal.startswith("/") and not goal.startswith("//") else "/runs"
