"""Compares Ultimate with OpenSpiel: the same legal cells and the same ends. Skipped where pyspiel is not installed.

The test passed with OpenSpiel 2.0.2. Versions before 2.0 put down the wrong player's mark after a free choice.
"""

import importlib.metadata
import os
import unittest

import numpy as np

from alina_arena import BEGIN, WAIT, Batch

try:
    import pyspiel
except ImportError:
    pyspiel = None


def cell(board, place):
    """The index of a cell, row by row over all 81 cells, from its board (0–8) and its place on that board (0–8)."""
    return (board // 3 * 3 + place // 3) * 9 + board % 3 * 3 + place % 3


class OpenSpielTests(unittest.TestCase):
    @unittest.skipIf(pyspiel is None, "pyspiel is not installed: pip install open_spiel")
    @unittest.skipIf(
        pyspiel and int(importlib.metadata.version("open_spiel").split(".")[0]) < 2,
        "needs open_spiel 2.0 or later: earlier ones play Ultimate by other rules",
    )
    def test_random_games_go_as_open_spiel_says(self):
        game = pyspiel.load_game("ultimate_tic_tac_toe")
        generator = np.random.default_rng(1)
        count = int(os.environ.get("ALINA_OPEN_SPIEL_GAMES", "300"))
        with Batch(1, "ultimate", "random") as batch:
            for _ in range(count):
                batch.step([BEGIN])
                state = game.new_initial_state()
                while not state.is_terminal():
                    boards = self.boards(state)
                    legal = sorted(cell(board, place) for board, places in boards for place in places)
                    self.assertEqual(np.flatnonzero(batch.legal[0]).tolist(), legal)
                    board, places = boards[generator.integers(len(boards))]
                    place = places[generator.integers(len(places))]
                    if self.is_choice(state):
                        state.apply_action(board)
                    state.apply_action(place)
                    batch.step([cell(board, place)])
                returns = state.returns()[0]
                self.assertEqual(batch.result[0], 1 if returns > 0 else 2 if returns < 0 else 3)
                self.assertEqual(batch.legal.sum(), 0)

    def boards(self, state):
        """The playable boards with their free places. In OpenSpiel the free choice of a board is a separate action."""
        if self.is_choice(state):
            chosen = []
            for board in state.legal_actions():
                after = state.clone()
                after.apply_action(board)
                chosen.append((board, after.legal_actions()))
            return chosen
        # The last action is the number of the next board: the player chose it, or the last mark's place on its board determines it.
        return [(state.history()[-1], state.legal_actions())]

    def is_choice(self, state):
        return "Choose" in state.action_to_string(state.current_player(), state.legal_actions()[0])


if __name__ == "__main__":
    unittest.main()
