"""A game as Python sees it: its states, and its moves in words.

``game.pxd`` tells what every game gives to players: functions on plain structs. This module knows no
game; ``docs/adding-a-game.md`` adds one.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t

from plymill.games.perft cimport perft, sum_goals
from plymill.games.random cimport Stream, random_below, random_stream

import re
from operator import index
from reprlib import repr as shortened

from plymill.errors import GameError, IllegalMoveError

#: A move in words; the brackets are those of the Game Description Language.
_MOVE = r"(?:\([^()]*\)|[^\s()/]+)"
_JOINT = re.compile(rf"\s*({_MOVE}(?:/{_MOVE})*)")
_WORDS = re.compile(r"[()]|[^\s()]+")
#: A sentence lists no more moves than this.
_MOST = 12


cdef void generic_playout(const Rules *rules, GameState *state, random_stream *stream) noexcept nogil:
    """Plays uniformly random moves to the end, one draw a move; where both move, the first draws first."""
    cdef uint8_t moves[MAX_MOVES]
    cdef int chosen[2]
    cdef int player
    cdef int status = rules.status(rules.board, state)
    while status != OVER:
        for player in range(2):
            chosen[player] = NO_MOVE
            if status in (player, BOTH):
                chosen[player] = moves[
                    random_below(stream, rules.moves(rules.board, state, player, moves))
                ]
        status = rules.play(rules.board, state, chosen[0], chosen[1])


cdef class Game:
    """The rules of one game, on a board of one size. Immutable; equal and hashed by its name.

    Classes derived from this one fill in ``rules`` and the attributes, and write moves and
    positions in words: ``write_move``, ``write_gdl`` and ``draw``.

    Attributes:
        name: as :func:`plymill.games.open_game` takes it.
        players: the names of the first and the second player, as in the published rules.
        max_plies: no match has more moves; two at once count as one.
        zero_sum: the goals of both players are always 100 together.
        one_character: whether a match can be written without spaces, one character a move.
        arguments: what the class was called with.
    """

    def start(self):
        """The initial state."""
        cdef State state = State.__new__(State)
        state.game = self
        state.status = self.rules.start(self.rules.board, &state.data)
        return state

    def parse_moves(self, str text not None):
        """Reads the moves of a match, from its start: ``"4453"`` or ``"22 11 33"``.

        Moves are separated by white space, and two moves at once by a stroke, the first player's
        before it: ``"bid1/bid0 22"``. Moves of the Game Description Language, ``( drop 4 )``, are
        taken as well.

        Returns:
            A list with a tuple of one or two codes for each ply.

        Raises:
            IllegalMoveError: a move is not legal; the message and ``place`` tell which.
        """
        moves, state = [], self.start()
        for place, word in enumerate(self._split(text), start=1):
            try:
                joint = state.joint_code(word)
                state = state.play(*joint)
            except IllegalMoveError as error:
                raise IllegalMoveError(f"move {place} of {shortened(text)}: {error}", place) from None
            moves.append(joint)
        return moves

    def format_moves(self, moves):
        """The moves of a match in words, as :meth:`parse_moves` reads them."""
        words, state = [], self.start()
        for joint in moves:
            words.append(state.joint_text(*joint))
            state = state.play(*joint)
        return ("" if self.one_character else " ").join(words)

    def after(self, moves):
        """The state after these moves: as text, or as a list of tuples of codes."""
        state = self.start()
        for joint in self.parse_moves(moves) if isinstance(moves, str) else moves:
            state = state.play(*joint)
        return state

    def _split(self, text):
        if self.one_character and "(" not in text:
            return "".join(text.split())
        words, at, end = [], 0, len(text.rstrip())
        while at < end:
            found = _JOINT.match(text, at)
            if found is None:
                raise IllegalMoveError(
                    f"move {len(words) + 1} of {shortened(text)} cannot be read, expected moves "
                    "with spaces between them", len(words) + 1
                )
            words.append(found[1])
            at = found.end()
        return words

    def write_move(self, State state not None, int player, int code):
        """A legal move in words without spaces; each derived class has its own."""
        return str(code)

    def write_gdl(self, State state not None, int player, int code):
        """A legal move as the published rules write it: ``( drop 4 )``."""
        return f"( move {code} )"

    def draw(self, State state not None):
        """The position as a drawing of one or more lines; each derived class has its own."""
        return str(state.words)

    def __eq__(self, other):
        if not isinstance(other, Game):
            return NotImplemented
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"<Game {self.name}>"

    def __reduce__(self):
        return (type(self), self.arguments)


@cython.final
cdef class State:
    """A position of a game, and who is to move. Immutable; comes from ``Game.start`` and ``play``.

    Attributes:
        game: the game.
        status: 0 or 1: the player who is to move; 2: both are, at once; -1: the game is over.
    """

    def __init__(self):
        raise TypeError("states are made by Game.start() and State.play()")

    @property
    def words(self):
        """The four words that the rules keep; their meaning is the game's own."""
        return tuple(self.data.words[i] for i in range(4))

    def moves(self, player=None):
        """The codes of the legal moves of a player, ascending; none if he is not to move.

        Args:
            player: 0 or 1; can be left out unless both are to move.

        Raises:
            GameError: no such player, or left out where both are to move.
        """
        cdef uint8_t codes[MAX_MOVES]
        cdef int who = _who(self, player)
        if self.status == OVER or self.status not in (who, BOTH):
            return []
        cdef int count = self.game.rules.moves(self.game.rules.board, &self.data, who, codes)
        return [codes[i] for i in range(count)]

    def play(self, *moves):
        """The state after a move of the player to move, or after two where both are.

        Raises:
            IllegalMoveError: a move that is not legal, too many or too few.
        """
        movers = _movers(self)
        if len(moves) != len(movers) or not movers:
            raise IllegalMoveError(_count_sentence(self, len(moves)), 1)
        chosen = [NO_MOVE, NO_MOVE]
        for place, (player, move) in enumerate(zip(movers, moves), start=1):
            legal = self.moves(player)
            chosen[player] = index(move)
            if chosen[player] not in legal:
                raise IllegalMoveError(_refusal(self, f"code {move}", player, legal), place)
        cdef State after = State.__new__(State)
        after.game = self.game
        after.data = self.data
        after.status = self.game.rules.play(
            self.game.rules.board, &after.data, chosen[0], chosen[1]
        )
        return after

    @property
    def goals(self):
        """What both players got, 0 to 100 each.

        Raises:
            GameError: the game is not over.
        """
        cdef int goals[2]
        if self.status != OVER:
            raise GameError(f"this match of {self.game.name} is not over, expected its end for goals")
        self.game.rules.goals(self.game.rules.board, &self.data, goals)
        return (goals[0], goals[1])

    def playout(self, Stream stream not None, *, generic=False):
        """The end of the game after uniformly random moves.

        Args:
            stream: gives one number a move; where both move, the first player's comes first.
            generic: play by the function that serves all games, to check the game's own.
        """
        cdef State end = State.__new__(State)
        end.game = self.game
        end.data = self.data
        if generic:
            generic_playout(&self.game.rules, &end.data, &stream.data)
        else:
            self.game.rules.playout(self.game.rules.board, &end.data, &stream.data)
        end.status = self.game.rules.status(self.game.rules.board, &end.data)
        return end

    def mean_goals(self, Stream stream not None, int playouts, *, generic=False):
        """The mean goals of both players over so many random playouts; arguments as of ``playout``.

        Raises:
            GameError: fewer than one playout.
        """
        if playouts < 1:
            raise GameError(f"{playouts} playouts have no mean, expected 1 or more")
        cdef bint all_the_same = generic
        cdef long long sums[2]
        with nogil:
            sum_goals(&self.game.rules, &self.data, &stream.data, playouts, all_the_same, sums)
        return (sums[0] / <double>playouts, sums[1] / <double>playouts)

    def perft(self, int depth):
        """How many ways there are to play ``depth`` plies from here; a game that is over has none."""
        cdef uint64_t ways
        with nogil:
            ways = perft(&self.game.rules, &self.data, self.status, max(depth, 0))
        return ways

    def move_text(self, code, player=None):
        """A legal move in words: ``"4"``.

        Raises:
            IllegalMoveError: not a legal move here.
            GameError: the player is left out where both are to move.
        """
        return _written(self, self.game.write_move, code, player)

    def move_gdl(self, code, player=None):
        """A legal move as the published rules write it: ``"( drop 4 )"``; raises as ``move_text``."""
        return _written(self, self.game.write_gdl, code, player)

    def move_code(self, str text not None, player=None):
        """The code of a legal move given in words, or as the published rules write it.

        Raises:
            IllegalMoveError: not a legal move here.
            GameError: the player is left out where both are to move.
        """
        cdef int who = _who(self, player)
        legal, wanted = self.moves(player), _WORDS.findall(text.lower())
        for code in legal:
            for write in (self.game.write_move, self.game.write_gdl):
                if _WORDS.findall(write(self, who, code).lower()) == wanted:
                    return code
        texts = [self.game.write_move(self, who, code) for code in legal]
        raise IllegalMoveError(_refusal(self, shortened(text), who, texts), 1)

    def joint_code(self, str text not None):
        """The codes of a ply in words, ``"4"`` or ``"bid1/bid0"``: a tuple of one or two.

        Raises:
            IllegalMoveError: not legal here.
        """
        words = text.split("/")
        movers = _movers(self)
        if len(words) != len(movers):
            raise IllegalMoveError(_count_sentence(self, len(words)), 1)
        return tuple(self.move_code(word, player) for player, word in zip(movers, words))

    def joint_text(self, *codes):
        """A ply in words; the other way round of :meth:`joint_code`."""
        movers = _movers(self)
        if len(codes) != len(movers):
            raise IllegalMoveError(_count_sentence(self, len(codes)), 1)
        return "/".join(self.move_text(code, player) for player, code in zip(movers, codes))

    def __str__(self):
        return self.game.draw(self)

    def __repr__(self):
        return f"<State of {self.game.name}: {self.words}>"

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        return self.game == other.game and self.words == other.words

    def __hash__(self):
        return hash((self.game.name, self.words))

    def __reduce__(self):
        return (_rebuild, (self.game, self.words))


cdef int _who(State state, object player) except -2:
    """The player asked for; without one the player to move, -1 after the end."""
    if player is None and state.status == BOTH:
        raise GameError("both players are to move here, expected player 0 or 1 to be named")
    if player is None:
        return state.status
    if index(player) not in (0, 1):
        raise GameError(f"there is no player {player}, expected 0 or 1")
    return index(player)


cdef tuple _movers(State state):
    """Who is to move, in the order in which moves are given."""
    if state.status == OVER:
        return ()
    if state.status == BOTH:
        return (0, 1)
    return (state.status,)


cdef str _written(State state, object write, object code, object player):
    cdef int who = _who(state, player)
    legal = state.moves(player)
    if index(code) not in legal:
        raise IllegalMoveError(_refusal(state, f"code {code}", who, legal), 1)
    return write(state, who, code)


cdef str _count_sentence(State state, int given):
    if state.status == OVER:
        return "the game is over, expected no more moves"
    if state.status == BOTH:
        return f"both players move at once, expected two moves instead of {given}"
    return f"{state.game.players[state.status]} is to move, expected one move instead of {given}"


cdef str _refusal(State state, str what, int player, list legal):
    if state.status == OVER:
        return f"{what} comes after the end of the game, expected no more moves"
    name = state.game.players[player]
    if not legal:
        return f"{what} cannot be played, as {name} is not to move"
    listed = ", ".join(str(word) for word in legal[:_MOST])
    if len(legal) > _MOST:
        listed += f", ... ({len(legal)} in all)"
    return f"{what} is no legal move of {name}, expected one of {listed}"


def _rebuild(Game game, words):
    cdef State state = State.__new__(State)
    state.game = game
    for i in range(4):
        state.data.words[i] = words[i]
    state.status = game.rules.status(game.rules.board, &state.data)
    return state
