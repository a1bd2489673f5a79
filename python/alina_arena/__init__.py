"""Environments of classic, infinite, misère and ultimate tic-tac-toe, played by `alina-arena engine --batch`.

Where Gymnasium is installed, importing this package registers alina/Classic-v1 and an
environment of that form for each other game.
"""

import importlib.util

from alina_arena.batch import ANSWER, BEGIN, SIDES, WAIT, Batch, EngineError
from alina_arena.state import State

__all__ = ["ANSWER", "BEGIN", "SIDES", "WAIT", "Batch", "EngineError", "State"]

if importlib.util.find_spec("gymnasium"):
    import gymnasium

    for _rules in SIDES:
        gymnasium.register(
            id=f"alina/{_rules.capitalize()}-v1",
            entry_point="alina_arena.gymnasium_env:AlinaEnv",
            vector_entry_point="alina_arena.vector_env:AlinaVectorEnv",
            kwargs={"rules": _rules},
        )
