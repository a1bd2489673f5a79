"""python3 -m unittest discover python/tests, with ALINA_ARENA set to the program."""

import gc
import json
import random
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np

from alina_arena import ANSWER, BEGIN, SIDES, WAIT, Batch, EngineError, State
from alina_arena.agent import Agent
from alina_arena.batch import find_engine


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
                with self.assertRaisesRegex(ValueError, "whole numbers from 0 to 255"):
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

    def test_games_begin_from_a_position_in_either_notation(self):
        positions = [
            ("classic", "X1O/1X1/3 o"), ("classic", "P1p/1P1/3[PPPppp] b - - 0 2"),
        ]
        for rules, position in positions:
            with Batch(2, rules, "random", position=position) as batch:
                for _ in range(2):
                    self.assertEqual(batch.marks[1].tolist(), [1, 0, 2, 0, 1, 0, 0, 0, 0])
                    self.assertEqual(batch.turn.tolist(), [2, 2])
                    batch.step([3, 3])
                    batch.step([BEGIN, BEGIN])
        with self.assertRaisesRegex(EngineError, "the position of the first line, column"):
            Batch(1, "ultimate", "random", position="nonsense")

    def test_what_is_wrong_is_told(self):
        with self.assertRaisesRegex(EngineError, "levels are 1–6"):
            Batch(1, "classic", "levels:7")
        with self.assertRaisesRegex(EngineError, "batch of infinite"):
            Batch(1, "infinite", "mcts:10")
        with self.assertRaisesRegex(ValueError, "rules 'chess'"):
            Batch(1, "chess")


class StateTests(unittest.TestCase):
    def test_games_go_as_those_of_a_batch_and_every_move_can_be_taken_back(self):
        generator = random.Random(1)
        for rules, side in SIDES.items():
            for _ in range(20):
                with Batch(1, rules, "random") as batch:
                    state, seen = State(rules), []
                    while state.outcome is None:
                        self.assertEqual(sorted(state.legal()), np.flatnonzero(batch.legal[0]).tolist())
                        self.assertEqual(state.block.tolist(), batch.block[0, :-1].tolist())
                        seen.append((state.text(), state.block.tolist(), hash(state)))
                        cell = generator.choice(state.legal())
                        self.assertIsNone(state.clone().outcome)
                        result = state.play(cell)
                        batch.step([cell])
                        self.assertEqual(result, batch.result[0])
                    self.assertEqual(state.outcome, {1: 1, 2: -1, 3: 0}[result])
                    self.assertEqual(state.legal(), [])
                    copy = state.clone()
                    for text, block, number in reversed(seen):
                        state.undo()
                        self.assertEqual((state.text(), state.block.tolist(), hash(state)), (text, block, number))
                        self.assertEqual(State(rules, text), state)
                    self.assertEqual(copy.outcome, {1: 1, 2: -1, 3: 0}[result])
                    self.assertEqual(state, State(rules))

    def test_what_is_wrong_is_told(self):
        state = State("ultimate")
        state.play(40)
        for cell in (40, 0, -1, 81, 1000):
            with self.assertRaisesRegex(ValueError, f"cell {cell} may not be marked in 9/9"):
                state.play(cell)
        state.undo()
        with self.assertRaisesRegex(ValueError, "there is no move to take back"):
            state.undo()
        with self.assertRaisesRegex(ValueError, "rules 'chess': classic"):
            State("chess")
        with self.assertRaisesRegex(ValueError, "the position, column"):
            State("infinite", "nonsense")


class AgentTests(unittest.TestCase):
    def test_the_agent_plays_on_from_a_position_and_writes_moves_as_they_are_written_to_it(self):
        lines = "setoption name UCI_Variant value tictactoe\nposition fen PPp/ppP/P1p[P] w - - 0 5\ngo\nquit\n"
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/agent.npz"
            Agent("classic").save(path)
            command = [sys.executable, "-m", "alina_arena.agent", path]
            answer = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
        # In this position only b1 is free.
        self.assertEqual(answer, "bestmove P@b1\n")


class CodinGameTests(unittest.TestCase):
    BOT = """
import random
generator = random.Random(1)
while True:
    input()
    cells = [input() for _ in range(int(input()))]
    print(generator.choice(cells), "a message", flush=True)
"""

    def play(self, *options):
        tool = Path(__file__).resolve().parents[2] / "tools" / "codingame.py"
        with tempfile.TemporaryDirectory() as folder:
            bot = Path(folder) / "bot.py"
            bot.write_text(self.BOT)
            command = f"cmd:{sys.executable} {tool} {sys.executable} {bot}"
            run = [find_engine(), "run", "--rules", "ultimate", "--x", command, "--o", "random", "--games", "4", "--json"]
            return json.loads(subprocess.run(run + list(options), capture_output=True, check=True).stdout)

    def test_a_program_for_codingame_plays_whole_games(self):
        report = self.play("--ending", "boards")
        self.assertEqual((report["games"], report["forfeits"]), (4, []))

    def test_a_program_that_has_not_chosen_its_own_moves_loses_the_game(self):
        self.assertEqual(self.play("--openings", "random:2")["forfeits"][0]["count"], 4)


class EnvironmentTests(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("error")
        # PettingZoo's own games with an action mask cause the first two warnings, too. The third one recommends names of agents other than
        # `x` and `o`.
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "We recommend agents to be named in the format")

    def test_unseeded_copies_differ_and_seeded_ones_repeat(self):
        import gymnasium

        from alina_arena.gymnasium_env import AlinaEnv

        def play(environments, **options):
            observations, _ = environments.reset(**options)
            seen = []
            for _ in range(40):
                observations, *_ = environments.step(observations["action_mask"].argmax(1))
                seen.append(observations["observation"].copy())
            return np.array(seen)

        environments = gymnasium.vector.SyncVectorEnv([lambda: AlinaEnv(opponent="random")] * 4)
        games = play(environments)
        for copy in range(1, 4):
            self.assertFalse((games[:, 0] == games[:, copy]).all())
        self.assertTrue((play(environments, seed=42) == play(environments, seed=42)).all())
        environments.close()

    def test_environments_are_made_by_name(self):
        import gymnasium

        for rules in SIDES:
            environment = gymnasium.make(f"alina/{rules.capitalize()}-v1", render_mode="ansi")
            environment.reset(seed=1, options={"side": "o"})
            self.assertEqual(environment.render().count("X"), 1)
            environment.close()

    def test_a_picture_changes_with_each_move_and_is_that_of_the_same_moves(self):
        import gymnasium

        from alina_arena.painter import Painter

        for rules in SIDES:
            environment = gymnasium.make(f"alina/{rules.capitalize()}-v1", opponent="random", render_mode="rgb_array")
            observation, _ = environment.reset(seed=1, options={"side": "x"})
            empty = environment.render()
            self.assertEqual((empty.shape, empty.dtype), ((512, 512, 3), np.uint8))
            environment.step(observation["action_mask"].argmax())
            batch = environment.unwrapped._batch
            cells = [int(np.flatnonzero(batch.marks[0] == side)[0]) for side in (1, 2)]
            painter = Painter(rules)
            self.assertTrue((painter.draw(cells) == environment.render()).all())
            self.assertTrue((painter.draw([]) == empty).all())
            self.assertFalse((painter.draw(cells[:1]) == painter.draw(cells)).all())
            with self.assertRaisesRegex(EngineError, "line 5: .* may not be marked there"):
                painter.draw([cells[0], cells[0]])
            painter.close()
            environment.close()

    def test_a_wrong_mode_or_side_is_refused_and_no_mode_draws_nothing(self):
        from alina_arena.gymnasium_env import AlinaEnv
        from alina_arena.pettingzoo_env import env

        for make in (AlinaEnv, env):
            with self.assertRaisesRegex(ValueError, "render_mode must be 'ansi' or 'rgb_array' or None, not 'human'"):
                make(render_mode="human")
        environment = AlinaEnv()
        with self.assertRaisesRegex(ValueError, "option side must be .x. or .o., not .z."):
            environment.reset(options={"side": "z"})
        environment.reset()
        with self.assertWarnsRegex(UserWarning, "without a render_mode"):
            self.assertIsNone(environment.render())
        environment.close()

    def test_many_copies_play_on_and_change_sides(self):
        import gymnasium

        for rules in SIDES:
            copies = gymnasium.make_vec(f"alina/{rules.capitalize()}-v1", num_envs=6, opponent="random")
            generator = np.random.default_rng(1)
            observations, _ = copies.reset(seed=1)
            ended = np.zeros(6, int)
            over = np.zeros(6, bool)
            for _ in range(200):
                self.assertIn(observations["observation"][0], copies.single_observation_space["observation"])
                mask = observations["action_mask"]
                self.assertTrue((mask.any(1) | over).all())
                actions = np.where(over, 0, (generator.random(mask.shape) * mask).argmax(1))
                observations, rewards, over, truncated, infos = copies.step(actions)
                self.assertFalse(infos["illegal"].any() or truncated.any())
                self.assertTrue((over | (rewards == 0)).all())
                ended += over
            self.assertTrue((ended > 1).all())
            _, rewards, over, *_ = copies.step(np.full(6, 99))
            self.assertTrue(over.any() and (rewards[over] == -1).all())
            copies.step(np.zeros(6, int))
            copies.close()

    def test_pettingzoo_accepts_the_environment(self):
        from pettingzoo.test import api_test, seed_test

        from alina_arena.pettingzoo_env import env

        for rules in SIDES:
            api_test(env(rules=rules), num_cycles=300)
            seed_test(lambda: env(rules=rules), num_cycles=50)
        # These environments were not closed: collecting them must end their engines without a warning about an open pipe.
        gc.collect()

    def test_gymnasium_accepts_the_environment(self):
        from gymnasium.utils.env_checker import check_env

        import gymnasium

        for rules in SIDES:
            environment = gymnasium.make(f"alina/{rules.capitalize()}-v1", render_mode="rgb_array").unwrapped
            check_env(environment)
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
