"""One game with undo: the rules as a shared library, `libalina_rules.so`, called in the same process."""

import ctypes
import hashlib
import os
from pathlib import Path

import numpy as np

from alina_arena.batch import SIDES, EngineError, find_engine

_library = None
# Holds the longest message or position that the library returns.
_TEXT = ctypes.create_string_buffer(512)
_CELLS = (ctypes.c_uint8 * 81)()


def find_library():
    """The library: $ALINA_RULES, or `libalina_rules.so` beside the program `alina-arena`."""
    path = os.environ.get("ALINA_RULES") or str(Path(find_engine()).resolve().parent / "libalina_rules.so")
    if not os.path.exists(path):
        raise EngineError(f"{path} is missing; build it with swift build -c release --product alina_rules, or set ALINA_RULES to its path")
    return path


def _load():
    global _library
    if _library is None:
        # `PyDLL` keeps Python's global lock during a call: the calls are too short for other threads to need it.
        library = ctypes.PyDLL(find_library())
        pointer, number, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p
        for name, result, arguments in [
            ("new", pointer, [text, text, text, number]), ("free", None, [pointer]), ("copy", pointer, [pointer]),
            ("play", number, [pointer, number]), ("undo", number, [pointer]), ("result", number, [pointer]),
            ("legal", number, [pointer, pointer]), ("block", None, [pointer, pointer]),
            ("text", number, [pointer, text, number]),
        ]:
            function = getattr(library, f"alina_{name}")
            function.restype, function.argtypes = result, arguments
        _library = library
    return _library


class State:
    """A game of `rules` from its start, or from a position in the arena's notation. Not thread-safe.

    Cells are numbers, row by row from the top. States with equal texts are equal and have equal hashes; the text of
    Infinite does not contain how often each position has occurred.
    """

    __slots__ = ("rules", "cells", "_handle", "_lib", "_play")

    def __init__(self, rules="classic", text="", _handle=None):
        lib = _load()
        handle = _handle or lib.alina_new(rules.encode(), text.encode(), _TEXT, len(_TEXT))
        if not handle:
            raise ValueError(_TEXT.value.decode())
        self.rules, self.cells, self._handle, self._lib = rules, SIDES[rules] ** 2, handle, lib
        self._play = lib.alina_play

    def __del__(self):
        # `__init__` may have raised an exception before it set `_handle`.
        handle = getattr(self, "_handle", None)
        if handle:
            self._lib.alina_free(handle)

    def legal(self):
        """The cells that may be marked; none once the game is over."""
        return _CELLS[: self._lib.alina_legal(self._handle, _CELLS)]

    def play(self, cell):
        """Marks a cell. Returns 0 while the game goes on, 1 if X has won, 2 if O has, 3 for a draw."""
        result = self._play(self._handle, cell)
        if result < 0:
            raise ValueError(f"cell {cell} may not be marked in {self.text()}")
        return result

    def undo(self):
        """Takes the last move back."""
        if not self._lib.alina_undo(self._handle):
            raise ValueError("there is no move to take back")

    def clone(self):
        """A copy of the game, including the moves that can be undone."""
        return State(self.rules, _handle=self._lib.alina_copy(self._handle))

    @property
    def outcome(self):
        """`None` while the game goes on, then 1 if X has won, -1 if O has, 0 for a draw."""
        return (None, 1, -1, 0)[self._lib.alina_result(self._handle)]

    @property
    def turn(self):
        """The side to move, or in a finished game the side whose turn it would be: 1 X, 2 O."""
        return int(self.block[3 * self.cells])

    @property
    def block(self):
        """The bytes of a game as in a `Batch`, without the byte for illegal steps: marks, legal cells, ages; turn, result, last cell."""
        block = np.empty(3 * self.cells + 3, np.uint8)
        self._lib.alina_block(self._handle, block.ctypes.data)
        return block

    def text(self):
        """The position in the arena's notation, which `State(rules, text)` reads."""
        self._lib.alina_text(self._handle, _TEXT, len(_TEXT))
        return _TEXT.value.decode()

    def __hash__(self):
        return int.from_bytes(hashlib.blake2b(self.text().encode(), digest_size=8).digest(), "big") >> 3

    def __eq__(self, other):
        return isinstance(other, State) and (self.rules, self.text()) == (other.rules, other.text())

    def __repr__(self):
        return f"State({self.rules!r}, {self.text()!r})"
