"""Pictures of boards, drawn by `alina-score boards` as Alina's window draws them."""

import os
import shutil
import subprocess
import weakref
from pathlib import Path

import numpy as np

from alina_arena.batch import EngineError, board_side, end_process, find_engine, read_into


def find_painter():
    """The program: $ALINA_SCORE, or `alina-score` beside `alina-arena` or on the search path."""
    path = os.environ.get("ALINA_SCORE")
    if not path:
        beside = Path(find_engine()).resolve().parent / "alina-score"
        path = str(beside) if beside.exists() else shutil.which("alina-score")
    if not path:
        raise EngineError("alina-score, which draws the boards, is missing; build it and set ALINA_SCORE to its path")
    return path


def cell_name(rules, cell):
    """The name of a cell, such as `b2`: the column's letter, and the row from the bottom."""
    side = board_side(rules)
    return "abcdefghi"[cell % side] + str(side - cell // side)


class Painter:
    """Draws the boards of one game as arrays (side, side, 3) of red, green and blue."""

    def __init__(self, rules="classic", side=512, program=None):
        self.rules, self.side = rules, side
        self._process = subprocess.Popen(
            [program or find_painter(), "boards", "--rules", rules, "--side", str(side)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        self._end = weakref.finalize(self, end_process, self._process)

    def draw(self, cells):
        """The picture of the board after these moves from the start of a game."""
        picture = np.empty((self.side, self.side, 3), np.uint8)
        line = " ".join(cell_name(self.rules, cell) for cell in cells) + "\n"
        read_into(picture, self._process, line.encode())
        return picture

    def close(self):
        """Ends the program. Without this call the program ends when the painter is garbage-collected."""
        self._end()
