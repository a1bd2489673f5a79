"""Seeded games between players that complete a line if they can, else block one, else move at random, as records for alina-score.

In Ultimate they complete and block lines of the small boards. In Misere they move at random among the squares that complete no line
of their own, if there are any.
"""

import math
import random

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def name(square):
    """A square's name; 0 is a1, 8 is c3."""
    return "abc"[square % 3] + str(square // 3 + 1)


def play(rng):
    """Plays a game; returns a list of (square, thinking time in seconds) and the result."""
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


KINDS = ["Classic", "Misere", "Infinite", "Ultimate"]


def has_line(marks):
    return any(set(line) <= set(marks) for line in LINES)


def place(board, square):
    """The name of a square of one of Ultimate's nine boards; 0 is a1 of the board at a1."""
    return "abcdefghi"[board % 3 * 3 + square % 3] + str(board // 3 * 3 + square // 3 + 1)


def play_kind(kind, rng, median=4):
    """Plays a game of the variant `kind`; returns a list of (square, thinking time in seconds) and the result."""
    count = 9 if kind == "Ultimate" else 1
    # `marks`: for each board the marks of X and of O, from the oldest to the newest. `won`: the boards that X and O have won.
    marks, won, moves, seen = [([], []) for _ in range(count)], ([], []), [], []
    sent = None
    for ply in range(100):
        me = ply % 2
        open_ = [b for b in range(count) if b not in won[0] + won[1] and sum(map(len, marks[b])) < 9]
        free = [(b, s) for b in ([sent] if sent in open_ else open_) for s in range(9) if s not in sum(marks[b], [])]
        if not free:
            break

        def finishing(side):
            kept = [m[side][-2:] if kind == "Infinite" else m[side] for m in marks]
            return [(b, s) for b, s in free if has_line(kept[b] + [s]) and not has_line(kept[b])]

        if kind == "Misere":
            choices = [cell for cell in free if cell not in finishing(me)] or free
        else:
            choices = finishing(me) or finishing(1 - me) or free
        board, square = rng.choice(choices)
        marks[board][me].append(square)
        if kind == "Infinite":
            del marks[board][me][:-3]
        think = min(30.0, math.exp(rng.gauss(math.log(median), 0.65)))
        moves.append((place(board, square) if kind == "Ultimate" else square, think))
        sent = square
        if has_line(marks[board][me]):
            won[me].append(board)
            if count == 1 or has_line(won[me]):
                return moves, ("1-0", "0-1")[me if kind != "Misere" else 1 - me]
        seen.append(str(marks))
        if kind == "Infinite" and seen.count(seen[-1]) > 2:
            break
    return moves, "1/2-1/2"


def record(moves, result, seed, kind="Classic"):
    """The game as text, with its thinking times."""
    text = ""
    for i, (square, think) in enumerate(moves):
        where = square if kind == "Ultimate" else name(square)
        text += (f"{i // 2 + 1}. " if i % 2 == 0 else f"{i // 2 + 1}... ") + f"{where} {{[%emt {think:.3f}]}} "
    return f'[Seed "{seed}"]\n[Variant "{kind}"]\n[Result "{result}"]\n\n{text}{result}\n'


def reference(count, seed):
    """`count` games from a seed, each with its moves and its record."""
    rng = random.Random(seed)
    games = [play(rng) for _ in range(count)]
    return [(moves, record(moves, result, seed * 1_000 + i)) for i, (moves, result) in enumerate(games)]
