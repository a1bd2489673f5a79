"""A small agent: one hidden layer in NumPy that learns by policy gradient from games with a player of the arena.

python3 -m alina_arena.agent FILE.npz    plays it as a UCI engine
"""

import sys
import time

import numpy as np

from alina_arena.batch import ANSWER, BEGIN, SIDES, Batch, planes


class Agent:
    """Computes the probabilities of all moves from an observation of the side to move (see `planes`)."""

    def __init__(self, rules, hidden=128, seed=1):
        generator = np.random.default_rng(seed)
        self.rules, self.cells = rules, SIDES[rules] ** 2
        inputs = 4 * self.cells
        self.weights = {
            "w1": (generator.standard_normal((inputs, hidden)) / np.sqrt(inputs)).astype(np.float32),
            "b1": np.zeros(hidden, np.float32),
            "w2": np.zeros((hidden, self.cells), np.float32),
            "b2": np.zeros(self.cells, np.float32),
        }
        self._moments = {name: [np.zeros_like(w), np.zeros_like(w)] for name, w in self.weights.items()}
        self._steps = 0

    def save(self, path):
        np.savez(path, rules=self.rules, **self.weights)

    @staticmethod
    def load(path):
        with np.load(path) as file:
            agent = Agent(str(file["rules"]), hidden=len(file["b1"]))
            agent.weights = {name: file[name] for name in agent.weights}
        return agent

    def chances(self, seen):
        """The probability of each cell, the hidden layer's values, and the inputs in one row for each game."""
        seen = seen.reshape(len(seen), -1).astype(np.float32)
        hidden = np.maximum(seen @ self.weights["w1"] + self.weights["b1"], 0)
        logits = hidden @ self.weights["w2"] + self.weights["b2"]
        logits[seen[:, 2 * self.cells : 3 * self.cells] == 0] = -1e9
        logits -= logits.max(1, keepdims=True)
        chances = np.exp(logits)
        return chances / chances.sum(1, keepdims=True), hidden, seen

    def learn(self, seen, actions, advantages, rate=2e-3, entropy=0.01):
        """Makes one step of Adam: actions become more probable in proportion to their advantages; a bonus for entropy keeps play varied."""
        p, hidden, flat = self.chances(seen)
        n = len(actions)
        out = -p * advantages[:, None]
        out[np.arange(n), actions] += advantages
        log = np.log(np.maximum(p, 1e-9))
        out -= entropy * p * (log - (p * log).sum(1, keepdims=True))
        out /= n
        back = (out @ self.weights["w2"].T) * (hidden > 0)
        gradients = {"w1": flat.T @ back, "b1": back.sum(0), "w2": hidden.T @ out, "b2": out.sum(0)}
        self._steps += 1
        for name, gradient in gradients.items():
            first, second = self._moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
            self.weights[name] += (rate * scale * first / (np.sqrt(second) + 1e-8)).astype(np.float32)


def train(rules="classic", opponent="levels:2", seconds=60, games=512, seed=1, engine=None, report=print):
    """Plays `games` games at a time for a number of seconds, half of them as X, and learns from each game when it has ended.

    Every second game begins with two random moves, as the arena's `--openings random:2` do.
    """
    agent = Agent(rules, seed=seed)
    generator = np.random.default_rng(seed)
    side = np.where(np.arange(games) % 2 == 0, 1, 2)
    histories = [[] for _ in range(games)]
    opened = np.arange(games) // 2 % 2 == 0
    scores, mean, told = [], 0.0, 0.0
    begun = time.monotonic()
    with Batch(games, rules, opponent, seed, engine) as batch:
        while time.monotonic() - begun < seconds:
            seen, actions, rewards = [], [], []
            while len(actions) < 4096:
                ended = np.flatnonzero(batch.result)
                for game in ended:
                    result = batch.result[game]
                    reward = 0.0 if result == 3 else 1.0 if result == side[game] else -1.0
                    scores.append(reward)
                    for observation, action in histories[game]:
                        seen.append(observation)
                        actions.append(action)
                        rewards.append(reward)
                    histories[game] = []
                step = np.full(games, ANSWER)
                step[ended] = BEGIN
                opening = opened & ((batch.marks != 0).sum(1) < 2)
                lots = (generator.random(batch.legal.shape) * batch.legal).argmax(1)
                step[opening] = lots[opening]
                mine = np.flatnonzero((batch.turn == side) & (batch.result == 0) & ~opening)
                if len(mine):
                    views = planes(batch, mine)
                    p = agent.chances(views)[0]
                    draw = generator.random((len(mine), 1))
                    chosen = np.minimum((p.cumsum(1) < draw).sum(1), agent.cells - 1)
                    chosen = np.where(batch.legal[mine, chosen] == 1, chosen, p.argmax(1))
                    step[mine] = chosen
                    for game, view, action in zip(mine, views, chosen):
                        histories[game].append((view, action))
                batch.step(step)
            rewards = np.array(rewards, np.float32)
            mean += 0.1 * (rewards.mean() - mean)
            agent.learn(np.array(seen), np.array(actions), rewards - mean)
            if time.monotonic() - told > 5:
                told = time.monotonic()
                report(f"{told - begun:4.0f} s, {len(scores)} games, score {np.mean(scores[-2000:]) / 2 + 0.5:.3f}")
    return agent


def serve(path):
    """Serves as a UCI engine that plays the move which the agent prefers."""
    agent = Agent.load(path)
    size = SIDES[agent.rules]
    name = "tictactoe" if agent.rules == "classic" else agent.rules
    start, moves, prefix = "", [], ""
    # One game in the arena, which lists the legal moves of each position.
    batch = Batch(1, agent.rules, "random")
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                print(f"id name agent\noption name UCI_Variant type combo default {name} var {name}\nuciok")
            case ["isready"]:
                print("readyok")
            case ["setoption"] if words[-1] == "tictactoe":
                # A program that names the variant tictactoe writes the move b2 as a dropped pawn, P@b2.
                prefix = "P@"
            case ["position"]:
                end = words.index("moves") if "moves" in words else len(words)
                moves, position = words[end + 1 :], " ".join(words[2:end]) if words[1:2] == ["fen"] else ""
                if position != start:
                    batch.close()
                    start, batch = position, Batch(1, agent.rules, "random", position=position)
            case ["go"]:
                batch.step([BEGIN])
                for move in moves:
                    batch.step([(size - int(move[-1])) * size + ord(move[-2]) - ord("a")])
                cell = int(agent.chances(planes(batch))[0][0].argmax())
                print(f"bestmove {prefix}{chr(ord('a') + cell % size)}{size - cell // size}")
            case ["quit"]:
                break
        sys.stdout.flush()
    batch.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m alina_arena.agent FILE.npz")
    serve(sys.argv[1])
