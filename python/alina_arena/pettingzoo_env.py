"""Both sides of a game, as a PettingZoo environment in which agents take turns."""

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from alina_arena.batch import BEGIN, Batch, board_text, check_render_mode, planes
from alina_arena.gymnasium_env import spaces
from alina_arena.painter import Painter


def env(rules="classic", render_mode=None, engine=None):
    """The environment with PettingZoo's usual checks: an illegal action loses the game."""
    raw = raw_env(rules=rules, render_mode=render_mode, engine=engine)
    checked = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))


class raw_env(AECEnv):
    """Agents `x` and `o`; observations and rewards are those of `AlinaEnv`."""

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1, "name": "alina_v1", "is_parallelizable": False}

    def __init__(self, rules="classic", render_mode=None, engine=None):
        super().__init__()
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._rules = rules
        # Both sides are agents, so the engine's player, here "random", is never asked for a move.
        self._batch = Batch(1, rules, "random", 1, engine)
        self._painter, self._moves = None, []
        self.possible_agents = ["x", "o"]
        self.observation_spaces, self.action_spaces = (
            dict(zip(self.possible_agents, pair)) for pair in zip(spaces(rules), spaces(rules))
        )

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self._batch.step([BEGIN])
        self._moves = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = "x"

    def observe(self, agent):
        seen = planes(self._batch)[0].copy()
        is_mover = agent == self.agent_selection and self._batch.result[0] == 0
        is_turn = (agent == "x") == (self._batch.turn[0] == 1)
        if not is_turn:
            seen[[0, 1]] = seen[[1, 0]]
        mask = self._batch.legal[0].astype(np.int8)
        if not is_mover:
            mask[:] = 0
            seen[2] = 0
        return {"observation": seen, "action_mask": mask}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert 0 <= int(action) < self._batch.cells, f"{agent}: there is no cell {action}"
        self._batch.step([int(action)])
        assert not self._batch.illegal[0], f"{agent} may not mark cell {action}"
        self._moves.append(int(action))
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        result = int(self._batch.result[0])
        if result:
            if result != 3:
                winner = "x" if result == 1 else "o"
                self.rewards = {a: 1 if a == winner else -1 for a in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = "o" if agent == "x" else "x"
        self._accumulate_rewards()

    def render(self):
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode: env(render_mode='ansi')")
            return None
        if self.render_mode == "ansi":
            return board_text(self._batch)
        self._painter = self._painter or Painter(self._rules)
        return self._painter.draw(self._moves)

    def close(self):
        self._batch.close()
        if self._painter is not None:
            self._painter.close()
