#!/usr/bin/env python3
"""Lets a program written for CodinGame's Ultimate Tic-Tac-Toe play in a UCI arena.

codingame.py COMMAND…     as an engine: alina-arena run --rules ultimate --x 'cmd:tools/codingame.py ./bot' --o levels:6

CodinGame starts the program anew for each game and sends it only the opponent's moves. So an opening (--openings) is impossible: the
program has not chosen its own side's moves in it. Needs NumPy, and alina_rules beside alina-arena (python/README.md). If neither
side has won three boards in a line, CodinGame counts the won boards: alina-arena run --ending boards.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "python"))

from alina_arena import State  # noqa: E402
from alina_arena.painter import cell_name  # noqa: E402

SIDE = 9


def number(text):
    return "abcdefghi".index(text[0]) + SIDE * (SIDE - int(text[1]))


class Bot:
    """The program in one game: its process, and the moves that it has been sent or has chosen."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._known = []

    def answer(self, moves):
        """The program's move after `moves`. Raises an exception with the reason if it cannot move."""
        if moves[: len(self._known)] != self._known or len(moves) - len(self._known) > 1:
            raise ValueError("the program has not chosen a move of its own side: play without --openings")
        state = State("ultimate")
        for cell in moves:
            state.play(cell)
        row, column = divmod(moves[-1], SIDE) if len(moves) > len(self._known) else (-1, -1)
        cells = state.legal()
        lines = [f"{row} {column}", str(len(cells))] + [f"{cell // SIDE} {cell % SIDE}" for cell in cells]
        self._process.stdin.write("\n".join(lines) + "\n")
        self._process.stdin.flush()
        # CodinGame allows a message after row and column.
        row, column = (int(word) for word in self._process.stdout.readline().split()[:2])
        self._known = moves + [SIDE * row + column]
        return self._known[-1]

    def end(self):
        self._process.kill()
        self._process.wait()


def main(command):
    bot, moves = None, []
    for line in sys.stdin:
        words = line.split()
        word = words[0] if words else ""
        if word == "uci":
            print(f"id name {os.path.basename(command[0])} (CodinGame)")
            print("option name UCI_Variant type combo default ultimate var ultimate\nuciok", flush=True)
        elif word == "isready":
            print("readyok", flush=True)
        elif word == "ucinewgame":
            if bot:
                bot.end()
            bot = None
        elif word == "position":
            is_start = words[1:2] == ["startpos"]
            moves = [number(text) for text in words[3:]] if is_start else None
        elif word == "go":
            try:
                if moves is None:
                    raise ValueError("CodinGame's games begin at the start")
                bot = bot or Bot(command)
                print("bestmove", cell_name("ultimate", bot.answer(moves)), flush=True)
            except (ValueError, OSError) as error:
                print(f"info string {error}\nbestmove (none)", flush=True)
        elif word == "quit":
            break
    if bot:
        bot.end()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
