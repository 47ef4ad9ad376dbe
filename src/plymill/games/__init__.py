"""Rules of games: what a move does, who won, mirror images and keys. No search, no files."""

from plymill.games.connect4 import HEIGHT, WIDTH, Position
from plymill.games.game import Game, State
from plymill.games.random import Stream
from plymill.games.registry import game_names, open_game

__all__ = ["HEIGHT", "WIDTH", "Game", "Position", "State", "Stream", "game_names", "open_game"]
