"""The token of the cluster. Imports nothing, as Ray reads its environment when it is imported."""

import os
import secrets


def prepare() -> None:
    """Give this process, and all that it starts, a token. Call it before anything else."""
    os.environ.pop("RAY_ADDRESS", None)
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
