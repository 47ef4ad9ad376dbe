from plymill.games.game import Game

class SheepAndWolf(Game):
    def __init__(self) -> None: ...
