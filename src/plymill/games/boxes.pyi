from plymill.games.game import Game

class Boxes(Game):
    def __init__(self, width: int = 5, height: int = 5, misere: bool = False) -> None: ...
