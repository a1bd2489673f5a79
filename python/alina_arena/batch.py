"""Many games at once as NumPy arrays: the Python side of `alina-arena engine --batch`."""

import os
import shutil
import subprocess
import weakref

import numpy as np

# Cells along an edge of each game's board.
SIDES = {"classic": 3, "infinite": 3, "misere": 3, "ultimate": 9}
# The actions besides cells: leave a game unchanged, start it anew, let the engine's player move.
WAIT, BEGIN, ANSWER = 253, 254, 255


class EngineError(RuntimeError):
    """The engine cannot be started or has ended; the message tells why."""


def find_engine():
    """The program: $ALINA_ARENA, or `alina-arena` on the search path."""
    path = os.environ.get("ALINA_ARENA") or shutil.which("alina-arena")
    if not path:
        raise EngineError("alina-arena is not on the PATH; build it and set ALINA_ARENA to where it is")
    return path


def end_process(process):
    """Ends a program and closes its pipes."""
    try:
        process.stdin.close()
    except BrokenPipeError:
        # The program has ended, so it no longer needs the unsent bytes.
        pass
    process.wait()
    process.stdout.close()
    process.stderr.close()


def read_into(array, process, data):
    """Sends bytes to a program and fills an array with its answer."""
    try:
        process.stdin.write(data)
        process.stdin.flush()
        view = memoryview(array).cast("B")
        have = 0
        while have < len(view):
            got = process.stdout.readinto(view[have:])
            if not got:
                raise BrokenPipeError
            have += got
    except BrokenPipeError:
        process.wait()
        raise EngineError(process.stderr.read().decode(errors="replace").strip()) from None


def board_side(rules):
    """The number of cells in a row of a game's board."""
    if rules not in SIDES:
        raise ValueError(f"unknown rules {rules!r}; allowed: {', '.join(SIDES)}")
    return SIDES[rules]


class Batch:
    """`count` games of one variant in an engine of their own, from the start or from a `position` in the arena's notation.

    After `step` these arrays describe every board. They are views into one array, `block`, which the next step overwrites.

    - `marks` (count, cells): 0 none, 1 X, 2 O, row by row from the top
    - `legal` (count, cells): 1 where the side to move may mark
    - `ages` (count, cells): in Infinite 1 for a side's oldest mark, up to 3 for its newest; else 0
    - `turn` (count,): 1 X, 2 O
    - `result` (count,): 0 none, 1 X won, 2 O won, 3 drawn
    - `last` (count,): the cell marked last, 255 none
    - `illegal` (count,): 1 where the last step was not allowed and changed nothing
    """

    def __init__(self, count, rules="classic", player="levels:2", seed=1, engine=None, position=""):
        self.count, self.rules = count, rules
        self.cells = board_side(rules) ** 2
        command = [engine or find_engine(), "engine", "--batch", "--rules", rules, "--player", player]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._end = weakref.finalize(self, end_process, self._process)
        self.block = np.zeros((count, 3 * self.cells + 4), np.uint8)
        n = self.cells
        self.marks, self.legal, self.ages = (self.block[:, i * n : (i + 1) * n] for i in range(3))
        self.turn, self.result, self.last, self.illegal = (self.block[:, 3 * n + i] for i in range(4))
        self._send(f"games {count} {seed} {position}\n".encode())

    def step(self, actions):
        """Performs one action in every game: a cell, WAIT, BEGIN or ANSWER."""
        actions = np.asarray(actions)
        if actions.shape != (self.count,):
            raise ValueError(f"the actions must have the shape ({self.count},), not {actions.shape}")
        if actions.dtype.kind not in "iu" or (actions < 0).any() or (actions > 255).any():
            raise ValueError("the actions must be whole numbers from 0 to 255")
        self._send(actions.astype(np.uint8).tobytes())

    def close(self):
        """Ends the engine. Without this call the engine ends when the batch is garbage-collected."""
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, data):
        read_into(self.block, self._process, data)


def board_text(batch, game=0):
    """The marks of a game as lines of `.`, `X` and `O`."""
    side = SIDES[batch.rules]
    letters = np.array([".", "X", "O"])[batch.marks[game]].reshape(side, side)
    return "\n".join("".join(row) for row in letters)


def check_render_mode(mode, modes):
    """Raises an error if `mode`, a render mode, is neither `None` nor one of `modes`."""
    if mode is not None and mode not in modes:
        raise ValueError(f"render_mode must be {' or '.join([*map(repr, modes), 'None'])}, not {mode!r}")


def planes(batch, games=slice(None)):
    """The observation of the side to move, (games, 4, side, side) of 0 and 1: its marks, the opponent's, legal cells, oldest marks."""
    side = SIDES[batch.rules]
    turn = batch.turn[games, None]
    marks = batch.marks[games]
    layers = [marks == turn, marks == 3 - turn, batch.legal[games] == 1, batch.ages[games] == 1]
    return np.stack(layers, 1).reshape(-1, 4, side, side).astype(np.int8)
