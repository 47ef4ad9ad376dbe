from plymill.games.game import Game

class BiddingTicTacToe(Game):
    def __init__(self) -> None: ...
