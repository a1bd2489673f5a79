"""Many games against a player of the arena at once, as a Gymnasium vector environment over a `Batch`."""

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from alina_arena.batch import ANSWER, BEGIN, WAIT, Batch, check_render_mode, planes
from alina_arena.gymnasium_env import spaces


class AlinaVectorEnv(gymnasium.vector.VectorEnv):
    """Copies of `AlinaEnv` that one call moves together. Every second copy plays its first game as O.

    When a copy's game has ended, the next step begins its next game with the sides changed, and ignores the copy's action.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs=64, rules="classic", opponent="levels:2", engine=None, render_mode=None):
        check_render_mode(render_mode, [])
        self.num_envs, self.render_mode = num_envs, None
        self._arguments = (num_envs, rules, opponent)
        self._engine, self._batch = engine, None
        self.single_observation_space, self.single_action_space = spaces(rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None or self._batch is None:
            self.close_extras()
            self._batch = Batch(*self._arguments, int(self.np_random.integers(2**31)), self._engine)
        else:
            self._batch.step(np.full(self.num_envs, BEGIN))
        self._sides = 1 + np.arange(self.num_envs) % 2
        self._over = np.zeros(self.num_envs, bool)
        self._answer()
        return self._observations(), {}

    def step(self, actions):
        batch, begins = self._batch, self._over
        actions = np.asarray(actions)
        is_cell = (actions >= 0) & (actions < batch.cells)
        batch.step(np.where(begins, BEGIN, np.where(is_cell, actions, WAIT)))
        illegal = ~begins & (~is_cell | (batch.illegal == 1))
        self._sides = np.where(begins, 3 - self._sides, self._sides)
        self._answer(illegal)
        result = batch.result
        rewards = np.where(result == self._sides, 1.0, np.where((result == 1) | (result == 2), -1.0, 0.0))
        rewards[illegal] = -1.0
        self._over = illegal | (result != 0)
        return self._observations(), rewards, self._over.copy(), np.zeros(self.num_envs, bool), {"illegal": illegal}

    def close_extras(self, **_):
        if self._batch is not None:
            self._batch.close()

    def _answer(self, waits=False):
        """Makes the opponent's move in each game where it is the opponent's turn."""
        is_asked = (self._batch.result == 0) & (self._batch.turn != self._sides) & ~np.asarray(waits)
        if is_asked.any():
            self._batch.step(np.where(is_asked, ANSWER, WAIT))

    def _observations(self):
        return {"observation": planes(self._batch), "action_mask": self._batch.legal.astype(np.int8)}
