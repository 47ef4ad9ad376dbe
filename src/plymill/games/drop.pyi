from plymill.games.game import Game

class ConnectFour(Game):
    def __init__(self, width: int = 7, height: int = 6, misere: bool = False) -> None: ...
