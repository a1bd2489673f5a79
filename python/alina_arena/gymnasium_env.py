"""One game against a player of the arena, as a Gymnasium environment."""

import gymnasium
import numpy as np

from alina_arena.batch import ANSWER, BEGIN, Batch, board_side, board_text, check_render_mode, planes
from alina_arena.painter import Painter


def spaces(rules):
    """The spaces of the observations and actions of one side."""
    side = board_side(rules)
    observation = gymnasium.spaces.Dict(
        observation=gymnasium.spaces.Box(0, 1, (4, side, side), np.int8),
        action_mask=gymnasium.spaces.Box(0, 1, (side * side,), np.int8),
    )
    return observation, gymnasium.spaces.Discrete(side * side)


class AlinaEnv(gymnasium.Env):
    """The agent plays one side, a player of the arena the other; sides alternate from game to game.

    An observation is a dictionary: `observation` (4, side, side) as `planes` makes it, `action_mask` (cells,). The reward is
    1, 0 or -1 at the end of a game. An illegal action ends the game with -1.

    `render()` returns text for `render_mode="ansi"`, and for `"rgb_array"` a picture of 512 × 512 pixels that looks like the window.

    `reset(seed=…)` repeats the opponent's choices; without a seed each copy of the environment draws its own.
    `reset(options={"side": "x"})` chooses the agent's side.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}

    def __init__(self, rules="classic", opponent="levels:2", engine=None, render_mode=None):
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._rules, self._opponent, self._engine = rules, opponent, engine
        # The agent's side: 1 X, 2 O. The first `reset` sets X.
        self._side = 2
        self._batch = self._painter = None
        # The cells marked in this game, in order.
        self._moves = []
        self.observation_space, self.action_space = spaces(rules)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        chosen = (options or {}).get("side")
        if chosen not in (None, "x", "o"):
            raise ValueError(f"option side must be 'x' or 'o', not {chosen!r}")
        if seed is not None or self._batch is None:
            self.close()
            # If `reset` gets no seed, Gymnasium seeds `np_random` from the system: each copy of the environment draws another number.
            drawn = int(self.np_random.integers(2**31))
            self._batch = Batch(1, self._rules, self._opponent, drawn, self._engine)
            self._side = 1
        else:
            self._side = 3 - self._side
            self._batch.step([BEGIN])
        if chosen:
            self._side = 1 if chosen == "x" else 2
        self._moves = []
        self._answer()
        return self._observation(), {}

    def step(self, action):
        # Numbers that are not cells must not reach the batch, where 253 to 255 mean WAIT, BEGIN and ANSWER.
        is_cell = 0 <= int(action) < self._batch.cells
        if is_cell:
            self._batch.step([int(action)])
        if not is_cell or self._batch.illegal[0]:
            return self._observation(), -1.0, True, False, {"illegal": True}
        self._moves.append(int(action))
        self._answer()
        result = int(self._batch.result[0])
        reward = 0.0 if result in (0, 3) else 1.0 if result == self._side else -1.0
        return self._observation(), reward, result != 0, False, {}

    def action_masks(self):
        """The legal actions, in sb3-contrib's form."""
        return self._batch.legal[0].astype(bool)

    def render(self):
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode: AlinaEnv(render_mode='ansi')")
            return None
        if self.render_mode == "ansi":
            return board_text(self._batch)
        self._painter = self._painter or Painter(self._rules)
        return self._painter.draw(self._moves)

    def close(self):
        for program in (self._batch, self._painter):
            if program is not None:
                program.close()
        self._painter = None

    def _answer(self):
        if self._batch.result[0] == 0 and self._batch.turn[0] != self._side:
            self._batch.step([ANSWER])
            self._moves.append(int(self._batch.last[0]))

    def _observation(self):
        return {"observation": planes(self._batch)[0], "action_mask": self._batch.legal[0].astype(np.int8)}
