#!/usr/bin/env python3
"""An engine of some thirty lines: a random legal move of any of the games."""
import random
import sys

LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
SIDES = {"tictactoe": 3, "infinite": 3, "misere": 3, "ultimate": 9}
variant, moves = "tictactoe", []

def place(cell):  # The board of a cell, and its place there.
    row, column = SIDES[variant] - int(cell[1]), ord(cell[0]) - 97
    return row // 3 * 3 + column // 3, row % 3 * 3 + column % 3

def legal():
    side = SIDES[variant]
    marks = [([], []) for _ in range(side * side // 9)]
    for ply, cell in enumerate(moves):
        marks[place(cell)[0]][ply % 2].append(place(cell)[1])
    keep = slice(-3, None) if variant == "infinite" else slice(None)  # Infinite keeps a side's last three marks.
    boards = [(set(x[keep]), set(o[keep])) for x, o in marks]
    live = [not any(line <= x or line <= o for line in LINES) for x, o in boards]
    cells = [chr(97 + i % side) + str(i // side + 1) for i in range(side * side)]
    free = [c for c in cells if live[place(c)[0]] and place(c)[1] not in set.union(*boards[place(c)[0]])]
    target = place(moves[-1])[1] if side == 9 and moves else 0
    return [c for c in free if moves and place(c)[0] == target] or free  # If that board is closed, any may be chosen.

for words in map(str.split, sys.stdin):
    if words[:1] == ["uci"]:
        print("option name UCI_Variant type combo default tictactoe var " + " var ".join(SIDES) + "\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:3] == ["setoption", "name", "UCI_Variant"]:
        variant = words[4]
    elif words[:1] == ["position"]:
        moves = [cell.removeprefix("P@") for cell in words[3:]]
    elif words[:1] == ["go"]:
        print("bestmove " + random.choice(legal()), flush=True)
