"""Rules of games: what a move does, who won, mirror images and keys. No search, no files."""

from plymill.games.connect4 import HEIGHT, WIDTH, Position

__all__ = ["HEIGHT", "WIDTH", "Position"]
