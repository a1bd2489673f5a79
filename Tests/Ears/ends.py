#!/usr/bin/env python3
"""Analyses the ends of pieces: is the key recognisable, and the end?

Run: python3 Tests/Ears/ends.py ALINA_SCORE [--games 24] [--seed 11]   (needs numpy, scipy, mido)

Plays that number of games of each kind at each pace: a median of 1.5 s, 4 s and 12 s a move.

The analysis uses only the notes, not the score. It finds the key of the last eight seconds by the profiles of Krumhansl and
Kessler (1982), with each note weighted by its length and loudness. A piece counts as over if its last highest note is a tone of
that key's triad, sounds more than four times the median time between two notes, and begins together with the key's tonic, two or
more octaves below. Whole pieces must be over; pieces cut at a random moment must not.
"""

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np

import games
from common import RATE, Tally, notes, read, run

MAJOR = np.array([6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88])
MINOR = np.array([6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17])
PROFILES = {(tonic, mode): np.roll(profile, tonic) for mode, profile in (("major", MAJOR), ("minor", MINOR))
            for tonic in range(12)}


def key(heard, end):
    """The musical key of the eight seconds before `end`."""
    weights = np.zeros(12)
    for begin, until, pitch, velocity, _ in heard:
        weights[pitch % 12] += max(min(until, end) - max(begin, end - 8), 0) * velocity
    return max(PROFILES, key=lambda name: np.corrcoef(PROFILES[name], weights)[0, 1]) if weights.any() else None


def is_over(heard, end):
    """Whether the notes that begin before `end`, followed by silence, sound like the end of a piece."""
    heard = [note for note in heard if note[0] < end]
    found = key(heard, end)
    if len(heard) < 8 or found is None:
        return False
    tonic, mode = found
    begins = sorted({round(note[0], 2) for note in heard})
    rings = end - begins[-1] > 4 * np.median(np.diff(begins))
    # Notes that begin within a tenth of a second count as one chord.
    last = [note[2] for note in heard if note[0] > begins[-1] - 0.1]
    sounding = [note[2] for note in heard if note[1] > begins[-1]]
    triad = {tonic, (tonic + (4 if mode == "major" else 3)) % 12, (tonic + 7) % 12}
    is_low = max(last) - min(last) >= 24 and min(sounding) % 12 == min(last) % 12 == tonic
    return bool(rings and is_low and max(last) % 12 in triad)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("score")
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        game, midi, sound = (Path(folder) / f"a{kind}" for kind in (".pgn", ".mid", ".wav"))
        for kind in games.KINDS:
            keys, ends, cuts = [], [], []
            for index in range(3 * options.games):
                moves, result = games.play_kind(kind, chance, median=(1.5, 4, 12)[index % 3])
                game.write_text(games.record(moves, result, options.seed * 1_000 + index, kind))
                run(options.score, "render", game, "--midi", midi)
                heard = notes(midi)
                # Each game is a session's first piece, whose key must be B minor.
                end = max(note[0] for note in heard) + 5
                keys.append(key(heard, end) == (11, "minor"))
                ends.append(is_over(heard, end))
                cuts += [is_over(heard, chance.uniform(15, end - 10)) for _ in range(5)]
            for name, values, wanted in (("keys named right", keys, 0.9), ("ends heard as ends", ends, 0.9)):
                share = float(np.mean(values))
                tally.expect(f"{kind}, {len(values)} pieces: {name}", share, share >= wanted, f">= {wanted}")
            tally.expect(f"{kind}, {len(cuts)} cuts: heard as ends", float(np.mean(cuts)), np.mean(cuts) <= 0.1, "<= 0.1")
            run(options.score, "render", game, "--wav", sound)
            last = read(sound)[-RATE // 10:]
            level = float(20 * np.log10(max(np.sqrt(np.mean(last**2)), 1e-9)))
            tally.expect(f"{kind}: the last tenth of a second, dBFS", level, level < -80, "< -80")
    tally.done()


if __name__ == "__main__":
    main()
