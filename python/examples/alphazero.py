#!/usr/bin/env python3
"""Learns a game only by playing against itself, as AlphaZero does, and then plays against a level of the arena.

    ALINA_ARENA=.build/release/alina-arena PYTHONPATH=python python3 python/examples/alphazero.py [RULES [MINUTES [LEVEL]]]

A network predicts a probability for each move and the score of a position. A tree search with the network finds better
probabilities; the network learns them and the games' results. Source: D. Silver and others, "A general reinforcement learning
algorithm that masters chess, shogi and Go through self-play", Science 362, 2018.
"""

import math
import sys
import time

import numpy as np

from alina_arena import ANSWER, SIDES, WAIT, Batch, State

GAMES, SIMULATIONS, MEMORY, MINIBATCH = 64, 40, 40_000, 512


def features(blocks, cells):
    """The network's inputs for each `State.block`: for the side to move, then for the other side, its marks by age (0, 1, 2, 3)."""
    marks, ages, turn = blocks[:, :cells], blocks[:, 2 * cells : 3 * cells], blocks[:, 3 * cells, None]
    layers = [(marks == side) & (ages == age) for side in (turn, 3 - turn) for age in range(4)]
    return np.concatenate(layers, 1).astype(np.float32)


class Network:
    """A network of two hidden layers, with a logit for every cell and a score from -1 to 1, trained by Adam."""

    def __init__(self, cells, hidden=128, seed=1):
        generator = np.random.default_rng(seed)
        sizes = [8 * cells, hidden, hidden, cells + 1]
        self.weights = [
            w for a, b in zip(sizes, sizes[1:])
            for w in ((generator.standard_normal((a, b)) * math.sqrt(2 / a)).astype(np.float32), np.zeros(b, np.float32))
        ]
        self.weights[4] *= 0.01
        self.moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self.steps = 0

    def forward(self, x):
        w = self.weights
        first = np.maximum(x @ w[0] + w[1], 0)
        second = np.maximum(first @ w[2] + w[3], 0)
        out = second @ w[4] + w[5]
        return first, second, out[:, :-1], np.tanh(out[:, -1])

    def learn(self, x, chances, scores, rate=1e-3):
        first, second, logits, value = self.forward(x)
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        back = np.concatenate([p - chances, ((value - scores) * (1 - value**2))[:, None]], 1) / len(x)
        back2 = (back @ self.weights[4].T) * (second > 0)
        back1 = (back2 @ self.weights[2].T) * (first > 0)
        gradients = [x.T @ back1, back1.sum(0), first.T @ back2, back2.sum(0), second.T @ back, back.sum(0)]
        self.steps += 1
        for w, g, (m, v) in zip(self.weights, gradients, self.moments):
            g = g + 1e-4 * w
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= rate * (m / (1 - 0.9**self.steps)) / (np.sqrt(v / (1 - 0.999**self.steps)) + 1e-8)


class Node:
    """A position in a tree: its moves with their probabilities, visits and summed scores for the side to move."""

    __slots__ = ("state", "moves", "chances", "visits", "scores", "children", "result")

    def __init__(self, state):
        self.state, self.moves, self.result = state, None, state.outcome
        # `outcome` is 1 if X has won. A node's result and scores are positive if they are good for the side to move.
        if self.result is not None and state.turn == 2:
            self.result = -self.result

    def open(self, logits):
        self.moves = self.state.legal()
        chances = [math.exp(min(logits[cell], 30)) for cell in self.moves]
        total = sum(chances)
        self.chances = [c / total for c in chances]
        self.visits, self.scores = [0] * len(self.moves), [0.0] * len(self.moves)
        self.children = [None] * len(self.moves)

    def best(self):
        """The index of the move with the highest upper confidence bound."""
        root = 1.5 * math.sqrt(1 + sum(self.visits))
        bounds = [(s / n if n else 0) + root * c / (1 + n) for s, n, c in zip(self.scores, self.visits, self.chances)]
        return bounds.index(max(bounds))


def evaluate(network, nodes):
    """Expands nodes with the network's probabilities; returns the network's score of each node for its side to move."""
    if not nodes:
        return []
    blocks = np.stack([node.state.block for node in nodes])
    _, _, logits, values = network.forward(features(blocks, nodes[0].state.cells))
    for node, row in zip(nodes, logits.tolist()):
        node.open(row)
    return values.tolist()


def search(network, roots, noise=None):
    """Adds simulations to many trees at once, so that each call of the network evaluates a leaf of every tree."""
    evaluate(network, [root for root in roots if root.moves is None])
    for root in roots if noise else []:
        drawn = noise.dirichlet([0.8] * len(root.moves)).tolist()
        root.chances = [0.75 * c + 0.25 * d for c, d in zip(root.chances, drawn)]
    for _ in range(SIMULATIONS):
        leaves, paths = [], []
        for root in roots:
            node, path = root, []
            while node.result is None and node.moves is not None:
                move = node.best()
                path.append((node, move))
                if node.children[move] is None:
                    state = node.state.clone()
                    state.play(node.moves[move])
                    node.children[move] = Node(state)
                node = node.children[move]
            leaves.append(node)
            paths.append(path)
        values = iter(evaluate(network, [node for node in leaves if node.result is None]))
        for node, path in zip(leaves, paths):
            score = next(values) if node.result is None else node.result
            for parent, move in reversed(path):
                score = -score
                parent.visits[move] += 1
                parent.scores[move] += score


def opening(rules, generator):
    """Starts a game with up to four random plies, so that the network also learns positions that good players avoid."""
    state = State(rules)
    for _ in range(generator.integers(5)):
        state.play(int(generator.choice(state.legal())))
    return Node(state)


def train(rules, minutes):
    cells, generator = SIDES[rules] ** 2, np.random.default_rng(1)
    network = Network(cells)
    roots, records = [opening(rules, generator) for _ in range(GAMES)], [[] for _ in range(GAMES)]
    memory, games, report, begun = [], 0, time.time(), time.time()
    while time.time() - begun < 60 * minutes:
        search(network, roots, generator)
        for game, root in enumerate(roots):
            chances = np.zeros(cells, np.float32)
            chances[root.moves] = np.array(root.visits) / SIMULATIONS
            chances /= chances.sum()
            records[game].append((root.state.block, chances))
            # A game's first six moves after its opening are drawn at random in proportion to their visits, so that games differ. Each later
            # move is a most visited one.
            weights = np.array(root.visits, float) if len(records[game]) <= 6 else np.equal(root.visits, max(root.visits))
            child = root.children[generator.choice(len(root.moves), p=weights / weights.sum())]
            if child.result is None:
                roots[game] = child
                continue
            score = -child.result
            for block, chances in reversed(records[game]):
                memory.append((block, chances, score))
                score = -score
            roots[game], records[game], games = opening(rules, generator), [], games + 1
        del memory[:-MEMORY]
        if len(memory) > MINIBATCH:
            drawn = [memory[i] for i in generator.integers(len(memory), size=MINIBATCH)]
            blocks, chances, scores = (np.stack(column) for column in zip(*drawn))
            network.learn(features(blocks, cells), chances, scores.astype(np.float32))
        if time.time() - report > 30:
            report = time.time()
            print(f"{report - begun:4.0f} s: {games} games", flush=True)
    return network


def play(network, rules, level, count=200):
    """Plays games against a level, half of them as O, each from an opening of two random plies. Returns how many it won, drew and lost."""
    generator, cells = np.random.default_rng(2), SIDES[rules] ** 2
    sides = np.where(np.arange(count) % 2 == 0, 1, 2)
    with Batch(count, rules, f"levels:{level}", seed=2) as batch:
        states = [State(rules) for _ in range(count)]
        for ply in range(101):
            live, moves = np.flatnonzero(batch.result == 0), np.full(count, WAIT)
            if ply < 2:
                moves[live] = [generator.choice(states[i].legal()) for i in live]
            else:
                mine = [i for i in live if batch.turn[i] == sides[i]]
                roots = [Node(states[i].clone()) for i in mine]
                search(network, roots)
                moves[live] = ANSWER
                moves[mine] = [root.moves[int(np.argmax(root.visits))] for root in roots]
            batch.step(moves)
            for i in live:
                states[i].play(int(batch.last[i]))
        won, drawn = int((batch.result == sides).sum()), int((batch.result == 3).sum())
    return won, drawn, count - won - drawn


if __name__ == "__main__":
    rules, minutes, level = (sys.argv[1:] + ["infinite", "10", "3"][len(sys.argv) - 1 :])[:3]
    network = train(rules, float(minutes))
    print("against levels:%s: won %d, drawn %d, lost %d" % (level, *play(network, rules, level)))
