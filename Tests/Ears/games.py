"""Seeded games between players that win if they can, else block, else move at random, as records for alina-score."""

import math
import random

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def name(square):
    """A square's name; 0 is a1, 8 is c3."""
    return "abc"[square % 3] + str(square // 3 + 1)


def play(rng):
    """One game: a list of (square, thinking in seconds) and its result."""
    board, moves = [""] * 9, []
    for ply in range(9):
        me, other = "xo"[ply % 2], "ox"[ply % 2]
        empty = [s for s in range(9) if not board[s]]

        def finishing(who):
            return [s for s in empty if any(
                s in line and all(board[t] == who for t in line if t != s) for line in LINES)]

        square = rng.choice(finishing(me) or finishing(other) or empty)
        # Log-normal with median 4 s, at most 30 s.
        think = min(30.0, math.exp(rng.gauss(math.log(4), 0.6)))
        board[square] = me
        moves.append((square, think))
        if any(all(board[t] == me for t in line) for line in LINES):
            return moves, "1-0" if me == "x" else "0-1"
    return moves, "1/2-1/2"


def record(moves, result, seed):
    """The game as text, with its thinking times."""
    text = ""
    for i, (square, think) in enumerate(moves):
        text += (f"{i // 2 + 1}. " if i % 2 == 0 else f"{i // 2 + 1}... ") + f"{name(square)} {{[%emt {think:.3f}]}} "
    return f'[Seed "{seed}"]\n[Result "{result}"]\n\n{text}{result}\n'


def reference(count, seed):
    """`count` seeded games: moves, and the record."""
    rng = random.Random(seed)
    games = [play(rng) for _ in range(count)]
    return [(moves, record(moves, result, seed * 1_000 + i)) for i, (moves, result) in enumerate(games)]
