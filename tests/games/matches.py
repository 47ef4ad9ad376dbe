"""Random matches for the tests of the rules."""

from hypothesis import strategies as st

from plymill.games import State, game_names, open_game
from tests.games.reference.table import ODD_BOARDS

NAMES = game_names()
ODD_NAMES = list(ODD_BOARDS)


@st.composite
def matches(draw: st.DrawFn, names: tuple[str, ...] = (*NAMES, *ODD_NAMES)) -> list[State]:
    """The states of the first moves of a match, some or all of them."""
    state = open_game(draw(st.sampled_from(names))).start()
    states = [state]
    for choice in draw(st.lists(st.integers(0, 2**16), max_size=70)):
        if state.status == -1:
            break
        movers = [0, 1] if state.status == 2 else [state.status]
        legal = [state.moves(player) for player in movers]
        state = state.play(*(codes[choice % len(codes)] for codes in legal))
        states.append(state)
    return states
