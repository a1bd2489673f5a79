#!/usr/bin/env python3
"""Recognises the phase of a game from ten seconds of its music alone.

Run: python3 Tests/Ears/phases.py ALINA_SCORE [--games 40] [--seed 5]     (needs numpy, scipy, mido)

The analysis uses only the notes, not the score. It learns from excerpts of ten seconds of half of the games, with their phases:
before the first move; the opening (the first half of the moves, in Infinite the first six, until a mark leaves the board); the later
moves; after the end. Then it names the phases in the other half of the games by linear discriminants of an excerpt's features: the
number of notes, their distances, pitches, velocities and lengths, how many sound together, and the squares of these numbers.
Excerpts with a change of phase are left out.
"""

import argparse
import random
import re
import tempfile
from pathlib import Path

import numpy as np

import games
from common import Tally, notes, run

SECONDS = 10
BAR = re.compile(r"^bar \d+ +(\d+):([\d.]+) +(\w+)", re.MULTILINE)


def phases(text, kind):
    """The phases of a game, from the bars that alina-score prints: (name, begin, end) in seconds."""
    bars = [(60 * int(minutes) + float(seconds), what) for minutes, seconds, what in BAR.findall(text)]
    moves = [at for at, what in bars if what == "move"]
    arch = next(at for at, what in bars if what == "closing")
    later = moves[min(6, len(moves) - 1) if kind == "Infinite" else len(moves) // 2]
    edges = [0, moves[0], later, arch, bars[-1][0] + 6]
    return list(zip(("before the first move", "opening", "later", "after the end"), edges, edges[1:]))


def heard(found, begin):
    """Describes the notes of ten seconds, from `begin` (in seconds) on, by 20 numbers, such as the notes' count, distances and lengths."""
    end = begin + SECONDS
    begun = [note for note in found if begin <= note[0] < end]
    sounding = [note for note in found if note[0] < end and note[1] > begin]
    moments = []
    for note in begun:
        if not moments or note[0] - moments[-1] > 0.15:
            moments.append(note[0])
    gaps = np.diff(moments) if len(moments) > 1 else np.array([float(SECONDS)])
    tops = [max(note[2] for note in begun if abs(note[0] - at) < 0.16) for at in moments] or [0]
    loud, long = [note[3] for note in begun] or [0], [note[1] - note[0] for note in begun] or [0]
    return [
        len(moments), len(begun) / max(len(moments), 1), np.median(gaps), gaps.max(), gaps.min(), gaps.std(),
        np.log(gaps.min()), np.log(np.median(gaps)), np.polyfit(range(len(gaps)), gaps, 1)[0] if len(gaps) > 2 else 0,
        np.mean(tops), np.std(tops), np.abs(np.diff(tops)).mean() if len(tops) > 1 else 0,
        np.mean(loud), np.std(loud), np.max(loud), np.mean(long), np.max(long), len(sounding),
        min((note[2] for note in sounding), default=60), sum(note[2] < 52 for note in begun)]


def named(told, names, asked):
    """Classifies the rows in `asked`; learns linear discriminants from the rows in `told`, whose classes are in `names`."""
    mean, spread = told.mean(0), told.std(0) + 1e-9
    told, asked = (np.hstack([x, x**2]) for x in ((told - mean) / spread, (asked - mean) / spread))
    kinds = sorted(set(names))
    centres = np.array([told[names == kind].mean(0) for kind in kinds])
    within = sum(np.cov(told[names == kind].T) * np.sum(names == kind) for kind in kinds) / len(told)
    inverse = np.linalg.inv(within + 0.05 * np.eye(told.shape[1]))
    scores = asked @ inverse @ centres.T - 0.5 * np.einsum("kf,fg,kg->k", centres, inverse, centres)
    return np.array(kinds)[scores.argmax(1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("score")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        game, midi = Path(folder) / "a.pgn", Path(folder) / "a.mid"
        for kind in games.KINDS:
            chance = random.Random(options.seed)
            told, names, is_asked = [], [], []
            for index in range(options.games):
                moves, result = games.play_kind(kind, chance)
                game.write_text(games.record(moves, result, options.seed * 1_000 + index, kind))
                text = run(options.score, "render", game, "--midi", midi, "--text")
                found = notes(midi)
                for name, begin, end in phases(text, kind):
                    for at in np.arange(begin, end - SECONDS, SECONDS / 4):
                        told.append(heard(found, at))
                        names.append(name)
                        is_asked.append(index % 2 == 1)
            told, names, is_asked = np.array(told, float), np.array(names), np.array(is_asked)
            right = named(told[~is_asked], names[~is_asked], told[is_asked]) == names[is_asked]
            each = ", ".join(f"{name} {right[names[is_asked] == name].mean():.2f}" for name in sorted(set(names[is_asked])))
            share = float(right.mean())
            tally.expect(f"{kind}, {len(right)} excerpts named right ({each})", share, share >= 0.8, ">= 0.8")
    tally.done()


if __name__ == "__main__":
    main()
