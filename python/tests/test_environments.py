"""python3 -m unittest discover python/tests, with ALINA_ARENA set to the program."""

import unittest

import numpy as np

from alina_arena import ANSWER, BEGIN, SIDES, WAIT, Batch, EngineError


class BatchTests(unittest.TestCase):
    def test_thousands_of_random_games_end_as_the_rules_say(self):
        generator = np.random.default_rng(1)
        for rules, side in SIDES.items():
            with Batch(1000, rules, "random") as batch:
                self.assertEqual(batch.legal.sum(), 1000 * side * side)
                for _ in range(101):
                    live = batch.result == 0
                    if not live.any():
                        break
                    draw = generator.random(batch.legal.shape) * batch.legal
                    actions = np.where(live, draw.argmax(1), WAIT)
                    before = batch.marks.copy()
                    batch.step(actions)
                    self.assertFalse(batch.illegal.any())
                    rows = np.flatnonzero(live)
                    self.assertTrue((before[rows, actions[rows]] == 0).all())
                    self.assertTrue((batch.marks[rows, actions[rows]] != 0).all())
                self.assertTrue((batch.result != 0).all())
                self.assertEqual(set(np.unique(batch.result)) - {3}, {1, 2})
                batch.step(np.full(1000, BEGIN))
                self.assertEqual(batch.marks.sum(), 0)

    def test_an_illegal_cell_changes_nothing_and_is_told(self):
        with Batch(2, "classic", "random") as batch:
            batch.step([4, WAIT])
            batch.step([4, 9])
            self.assertEqual(batch.illegal.tolist(), [1, 1])
            self.assertEqual(batch.marks.sum(1).tolist(), [1, 0])

    def test_what_is_no_action_is_refused(self):
        with Batch(2, "classic", "random") as batch:
            for actions in [[-1, 0], [256, 0], [0.5, 0]]:
                with self.assertRaisesRegex(ValueError, "whole numbers 0 to 255"):
                    batch.step(np.array(actions))
            self.assertEqual(batch.marks.sum(), 0)

    def test_the_same_seed_gives_the_same_answers(self):
        boards = []
        for _ in range(2):
            with Batch(50, "ultimate", "levels:1", seed=7) as batch:
                for _ in range(20):
                    batch.step(np.full(50, ANSWER))
                boards.append(batch.marks.copy())
        self.assertTrue((boards[0] == boards[1]).all())

    def test_what_is_wrong_is_told(self):
        with self.assertRaisesRegex(EngineError, "levels are 1–6"):
            Batch(1, "classic", "levels:7")
        with self.assertRaisesRegex(EngineError, "batch of infinite"):
            Batch(1, "infinite", "mcts:10")
        with self.assertRaisesRegex(ValueError, "rules 'chess'"):
            Batch(1, "chess")


class EnvironmentTests(unittest.TestCase):
    def test_pettingzoo_accepts_the_environment(self):
        from pettingzoo.test import api_test

        from alina_arena.pettingzoo_env import env

        for rules in SIDES:
            api_test(env(rules=rules), num_cycles=300)

    def test_gymnasium_accepts_the_environment(self):
        from gymnasium.utils.env_checker import check_env

        from alina_arena.gymnasium_env import AlinaEnv

        for rules in SIDES:
            environment = AlinaEnv(rules=rules)
            check_env(environment, skip_render_check=True)
            observation, _ = environment.reset()
            ended = False
            while not ended:
                action = observation["action_mask"].argmax()
                observation, reward, ended, _, info = environment.step(action)
                self.assertNotIn("illegal", info)
            self.assertIn(reward, (-1.0, 0.0, 1.0))
            environment.close()


if __name__ == "__main__":
    unittest.main()
