#!/usr/bin/env python3
"""Recognises moves from rendered games alone: which side moved, in which row?

Run: python3 Tests/Ears/listen.py ALINA_SCORE [GAMES [SEED]] [--piano grand]     (needs numpy and scipy)

Plays seeded games through alina-score, and recognises the mover and the row of every downbeat from the samples of the sound.
The program is told only the times of the moves. From the rule file it knows the pitches of the cells, and that O plays an octave
lower, on the left, and its upper note a moment after its lower note.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import games
from common import RATE, Tally, decibels, read

CELLS = [86, 88, 90, 81, 83, 85, 74, 79, 78]  # D6 E6 F#6, A5 B5 C#6, D5 G5 F#5: top row first
TRIAD = {11, 2, 6}  # B D F#
PITCHES = np.arange(50, 116)
FREQUENCIES = 440 * 2 ** ((PITCHES - 69) / 12)
X_CELLS = {pitch: row for row in range(3) for pitch in CELLS[3 * row : 3 * row + 3]}
O_CELLS = {pitch - 12: row for pitch, row in X_CELLS.items()}
NOTES = range(50, 95)


def amplitudes(x, start, seconds):
    """The amplitude of every pitch's first partial on the left and on the right in a stretch of sound."""
    begin, count = int(start * RATE), int(seconds * RATE)
    if begin < 0 or begin + count > len(x):
        return np.zeros((len(PITCHES), 2))
    window = np.hanning(count)
    turns = np.exp(-2j * np.pi * FREQUENCIES[:, None] * np.arange(count)[None] / RATE) * (window / window.sum())
    return 2 * np.abs(turns @ x[begin : begin + count])


def risen(before, after):
    """The amplitude at each pitch of the sound that was added between `before` and `after`."""
    return np.sqrt(np.maximum((after**2).sum(1) - (before**2).sum(1), 0))


def to_the_right(before, after):
    """The sound that was added between `before` and `after`: its level on the right minus its level on the left, in dB."""
    left, right = np.maximum(after**2 - before**2, 0).sum(0) + 1e-12
    return 10 * np.log10(right / left)


def at_downbeat(x, moment):
    """The player, and the board's row (0 at the top), of the move that is heard at `moment` (in seconds)."""
    before, long_before = amplitudes(x, moment - 0.064, 0.06), amplitudes(x, moment - 0.254, 0.25)
    first, second = amplitudes(x, moment + 0.002, 0.055), amplitudes(x, moment + 0.062, 0.055)
    after = amplitudes(x, moment + 0.07, 0.25)
    at_once, late = risen(before, first), risen(first, second)
    def level(rise, pitch):
        return rise[pitch - PITCHES[0]]

    # O rolls its chords: the upper note starts at least 60 ms after the lower, while X sounds both notes at once. So O has moved if the
    # pitches from G5 up, most of them overtones, rise late: they rise even if a note is struck while it still rings. O also sounds on the
    # left.
    def strength(rise, pitch):
        return np.sqrt(sum(level(rise, pitch + partial) ** 2 for partial in (0, 12, 19)))
    def above(rise):
        return np.sqrt((rise[PITCHES >= 79] ** 2).sum()) + 1e-9
    def loudness(hear, rise):
        rolled = [hear(rise, p) for p in O_CELLS if hear(rise, p) > 2 * hear(at_once, p)]
        return max(rolled, default=0) / max(hear(at_once, p) for p in NOTES)
    evidence = min(0.8, max(loudness(level, late), loudness(strength, late))) + np.log10(above(late) / above(at_once)) / 2
    if evidence - max(0, to_the_right(long_before, after) - 3) / 4 > 0.15:
        rolled = [p for p in O_CELLS if strength(late, p) > 2 * strength(at_once, p)] or list(O_CELLS)
        # A strong overtone looks like a note an octave higher, so the lower of two notes an octave apart is taken.
        loudest = max(rolled, key=lambda p: strength(late, p))
        lower = loudest - 12
        is_lower = lower in rolled and level(late, lower) > 0.3 * level(late, loudest)
        return "O", O_CELLS[lower if is_lower else loudest]
    new = [p for p in X_CELLS if level(at_once, p) > 0.3 * at_once.max()]
    # T is never an octave below its M, so the higher of two new notes an octave apart is an overtone.
    new = [p for p in new if p - 12 not in new]
    if not new:
        new = [max(X_CELLS, key=lambda p: strength(at_once, p))]
    tensions = [p for p in new if p % 12 not in TRIAD]
    if tensions:
        m = max(tensions, key=lambda p: level(at_once, p))
        # T plays a note outside the triad only at an awakening: C♯ is then T, and the F♯ above it M.
        return "X", X_CELLS[m + 5 if m % 12 == 1 and m + 5 in new else m]
    # The higher of the two notes of the triad is M, except that B5 is M if it is clearly louder than D6.
    m = max(new)
    if m == 86 and 83 in new and level(at_once, 83) > 1.15 * level(at_once, 86):
        m = 83
    return "X", X_CELLS[m]


def note(name):
    letter, sharp, octave = re.match(r"\(?([A-G])(♯?)(\d)", name).groups()
    return 12 * (int(octave) + 1) + "C D EF G A B".index(letter) + len(sharp)


def moves_of(text):
    """For each move in the text of `alina-score render --text`: its bar's start in seconds, the mover, the row (0 at the top)."""
    lines, result = text.split("\n"), []
    for at, line in enumerate(lines):
        found = re.match(r"bar \d+  (\d+):([\d.]+)  move \d+  ([XO])", line)
        if found:
            m = note(lines[at + 1].split()[1])
            row = (X_CELLS if found[3] == "X" else O_CELLS)[m]
            result.append((60 * int(found[1]) + float(found[2]), found[3], row))
    return result


def main():
    score, arguments = sys.argv[1], sys.argv[2:]
    piano = "modal"
    if "--piano" in arguments:
        piano = arguments.pop(arguments.index("--piano") + 1)
        arguments.remove("--piano")
    count, seed = (list(map(int, arguments)) + [12, 3][len(arguments):])[:2]
    tally, right, rows, all_moves = Tally(), 0, 0, 0
    sides = {"X": [], "O": []}
    with tempfile.TemporaryDirectory() as folder:
        def render(index):
            path = Path(folder) / f"{index}.pgn"
            path.write_text(listing[index][1])
            command = [score, "render", str(path), "--text", "--wav", str(path) + ".wav", "--piano", piano]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        listing = games.reference(count, seed)
        with ThreadPoolExecutor(2) as workers:
            for index, text in enumerate(workers.map(render, range(count))):
                x = read(Path(folder) / f"{index}.pgn.wav")
                for seconds, mover, row in moves_of(text):
                    heard = at_downbeat(x, seconds)
                    before, after = amplitudes(x, seconds - 0.254, 0.25), amplitudes(x, seconds + 0.07, 0.25)
                    sides[mover].append(to_the_right(before, after))
                    all_moves += 1
                    right += heard[0] == mover
                    rows += heard == (mover, row)
                    if heard != (mover, row):
                        print(f"   game {index} at {seconds:.3f}: {mover} row {row}, heard {heard[0]} row {heard[1]}")
    tally.expect(f"{piano}: movers named, of {all_moves} downbeats, %", 100 * right / all_moves, right == all_moves, "100")
    tally.expect(f"{piano}: rows named, %", 100 * rows / all_moves, rows >= 0.95 * all_moves, ">= 95")
    to_x, to_o = float(np.median(sides["X"])), float(np.median(sides["O"]))
    tally.expect(f"{piano}: X's downbeats louder on the right, dB", to_x, to_x >= 4, ">= 4")
    tally.expect(f"{piano}: O's downbeats louder on the left, dB", -to_o, -to_o >= 4, ">= 4")
    tally.done()


if __name__ == "__main__":
    main()
