#!/usr/bin/env python3
"""Detects two soft signs in rendered games: a mistake's glint, and the bell of an only move.

Run: /usr/bin/python3 Tests/Ears/signs.py ALINA_SCORE [GAMES [SEED]]     (needs numpy, scipy and mido)

Plays seeded games through alina-score, and distinguishes these signs from calm bars by the samples of the sound. The MIDI file
tells only when each pair begins and which notes it has. From the rule file the program knows the frequency of the glint's ring
modulator, and that T is below M, but an octave higher after an only move.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import games
from common import RATE, Tally, notes, read

CARRIER = 4_700  # Hz: the rule files' ring modulator of the glint
TRIAD = {11, 2, 6}  # B D F#
SIZE = 16_384
FREQUENCIES = np.fft.rfftfreq(SIZE, 1 / RATE)
HEAD = re.compile(r"bar \d+  (\d+):([\d.]+)  (\w+) \d*  ?([XO])  (.*)")


def spectrum(x, start, seconds):
    """The power of every frequency in a stretch of sound."""
    begin, count = int(start * RATE), int(seconds * RATE)
    window = np.hanning(count)
    return np.abs(np.fft.rfft(x[begin : begin + count].sum(axis=1) * window, SIZE) / window.sum()) ** 2


def power(spectrum_, frequency, width):
    return spectrum_[np.abs(FREQUENCIES - frequency) < width].sum()


def hertz(pitch):
    return 440 * 2 ** ((pitch - 69) / 12)


def glint(x, moment, pitches):
    """The rise in dB of the sidebands of the glint (the effect that marks a mistake) at a pair's onset."""
    sides = [CARRIER + sign * hertz(pitch) for pitch in pitches for sign in (-1, 1)]
    before, after = spectrum(x, moment - 0.36, 0.25), spectrum(x, moment + 0.005, 0.1)
    heard = [sum(power(s, f, 15) for f in sides) for s in (before, after)]
    return 10 * np.log10((heard[1] + 1e-9) / (heard[0] + 1e-9))


def above(x, moment, m):
    """The rise at `moment` of the note an octave above `low` (the triad note next below M) minus the rise of `low`, in dB."""
    low = next(p for p in range(m - 1, 0, -1) if p % 12 in TRIAD)
    before, after = spectrum(x, moment - 0.125, 0.12), spectrum(x, moment + 0.005, 0.1)
    rise = [(power(after, hertz(p), 8) + 1e-6) / (power(before, hertz(p), 8) + 1e-6) for p in (low, low + 12)]
    return 10 * np.log10(rise[1] / rise[0])


def struck(path):
    """The notes of a MIDI file as (seconds, channel, pitch)."""
    return [(begin, channel, pitch) for begin, _, pitch, _, channel in notes(path)]


def pairs_of(text, notes):
    """For each move's bar: ((time of the first pair, its pitches), (time of the second pair, its M) or None, the bar's signs). Times are
    in seconds; the pitches and M are MIDI notes."""
    bars = [(60 * int(h[1]) + float(h[2]), h[3], h[5].split(", ")) for h in map(HEAD.match, text.split("\n")) if h]
    ends = [at for at, _, _ in bars[1:]] + [float("inf")]
    for (at, kind, signs), end in zip(bars, ends):
        ms = [n for n in notes if n[1] == 0 and at - 0.01 < n[0] < end - 0.01]
        if kind != "move" or not ms:
            continue
        first = [n for n in notes if n[1] < 2 and abs(n[0] - at) < 0.1]
        second = None
        if len(ms) > 1 and end - ms[1][0] > 0.3:
            hands = [n[0] for n in notes if n[1] < 2 and abs(n[0] - ms[1][0]) < 0.1]
            second = (min(hands), ms[1][2])
        yield (max(n[0] for n in first), [n[2] for n in first]), second, signs


def main():
    score, arguments = sys.argv[1], list(map(int, sys.argv[2:]))
    count, seed = (arguments + [16, 3][len(arguments):])[:2]
    # For each sign its measure in dB, for bars with the sign and for calm bars. For `glints` only a bar's first sign counts. For `bells` a
    # bar must have a postponed only-move, or no sign except `calm`.
    glints, bells = ([], []), ([], [])
    with tempfile.TemporaryDirectory() as folder:
        def render(index):
            path = Path(folder) / f"{index}.pgn"
            path.write_text(listing[index][1])
            command = [score, "render", str(path), "--text", "--wav", f"{path}.wav", "--midi", f"{path}.mid"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        listing = games.reference(count, seed)
        with ThreadPoolExecutor(2) as workers:
            for index, text in enumerate(workers.map(render, range(count))):
                x, notes = read(Path(folder) / f"{index}.pgn.wav"), struck(Path(folder) / f"{index}.pgn.mid")
                for (moment, pitches), second, signs in pairs_of(text, notes):
                    if signs[0] in ("mistake", "calm"):
                        glints[signs[0] == "calm"].append(glint(x, moment, pitches))
                    if second and ("owed:only-move" in signs or signs == ["calm"]):
                        bells[signs == ["calm"]].append(above(x, *second))
    tally = Tally()
    for name, (signed, calm), least in (("glints", glints, 20), ("bells of only moves", bells, 8)):
        heard, quiet = np.array(signed) > least, np.array(calm) <= least
        share = 100 * min(heard.mean(), quiet.mean()) if len(heard) and len(quiet) else 0.0
        tally.expect(f"{name}, of {len(heard)}, told from {len(quiet)} calm bars, %", share, share >= 90, ">= 90")
    tally.done()


if __name__ == "__main__":
    main()
