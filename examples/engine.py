#!/usr/bin/env python3
"""A whole engine for alina-arena in twenty lines: wins if it can, blocks if it must, else takes the first free cell.
Try it:  alina-arena run --x 'cmd:examples/engine.py' --o levels:2 --games 100"""
CELLS = [c + r for r in "321" for c in "abc"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
marks = {"X": set(), "O": set()}
while (words := input().split()) != ["quit"]:
    if words[:1] == ["uci"]:
        print("id name Twenty Lines\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:  # position startpos|fen X1O/1X1/3 o [moves b2 a1 …]
        rows = "3/3/3" if words[1] == "startpos" else words[2]
        board = "".join(" " * int(c) if c.isdigit() else c for c in rows.replace("/", ""))
        marks = {side: {i for i in range(9) if board[i] == side} for side in "XO"}
        for move in words[words.index("moves") + 1 :] if "moves" in words else []:
            marks["X" if len(marks["X"]) == len(marks["O"]) else "O"].add(CELLS.index(move))
    elif words[:1] == ["go"]:
        mine, theirs = (marks[side] for side in ("XO" if len(marks["X"]) == len(marks["O"]) else "OX"))
        free = [c for c in (4, 0, 2, 6, 8, 1, 3, 5, 7) if c not in mine | theirs]
        wish = [c for side in (mine, theirs) for c in free if any(c in l and len(side & set(l)) == 2 for l in LINES)]
        print("bestmove", CELLS[(wish + free)[0]], flush=True)
