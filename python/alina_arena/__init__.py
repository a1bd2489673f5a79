"""Environments of classic, infinite and ultimate tic-tac-toe, played by `alina-arena engine --batch`."""

from alina_arena.batch import ANSWER, BEGIN, SIDES, WAIT, Batch, EngineError

__all__ = ["ANSWER", "BEGIN", "SIDES", "WAIT", "Batch", "EngineError"]
