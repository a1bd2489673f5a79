#!/usr/bin/env python3
"""Plays our MIDI file with FluidSynth's player and compares the onsets with ours.

Run: python3 Tests/Ears/midi.py ALINA_SCORE RULES [GAMES [SEED]]   (needs numpy, scipy, mido, fluidsynth, the soundfont)

Both sounds use the same soundfont. Ours is made by our engine, with room, strings and drone off and the loudness as composed:
evening the loudness would change the gain within the first 10 ms of a note. FluidSynth's sound is made from the MIDI file alone. The
rise of each note is measured in both sounds, in samples, and compared. mido reads the onsets from the file.
"""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal

import games
from common import RATE, Tally, notes, read, run

FONT = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3"


def dry(rules, target):
    """The rules with everything except the piano muted."""
    text = Path(rules).read_text()
    for key in ("reverb-send", "drone", "bell"):
        text, found = re.subn(rf"(?m)^  {key}: -?[\d.]+", f"  {key}: -90", text)
        assert found, key
    text, found = re.subn(r"send: -?[\d.]+\}", "send: -90}", text)
    assert found == 1
    text = re.sub(r"(?m)^    level: -?[\d.]+", "    level: -60", text)
    Path(target).write_text(text)


def struck(file):
    """The onsets of the file in frames, with their notes."""
    onsets = {}
    for begin, _, pitch, _, _ in notes(file):
        onsets.setdefault(round(begin * RATE), []).append(pitch)
    return sorted(onsets.items())


def rise(x, frame, pitches):
    """How much the level of the pitches rises in each 2 ms, for moments 8 frames apart from 33 ms before `frame` to 60 ms after."""
    part = x[frame - 1_600 : frame + 3_000].sum(axis=1)
    window = np.hanning(768)
    power = 0
    for pitch in pitches:
        for partial in range(1, 5):
            turn = np.exp(-2j * np.pi * partial * 440 * 2 ** ((pitch - 69) / 12) * np.arange(len(part)) / RATE)
            power = power + np.abs(signal.fftconvolve(part * turn, window / window.sum(), "valid")[::8]) ** 2
    level = np.sqrt(power)
    return np.maximum(level[12:] - level[:-12], 0)


def lag(a, b):
    """The delay, in frames, of `b` after `a` (results of `rise`); at most 10 ms in either direction."""
    match = signal.correlate(b, a, "full", method="fft")
    match = match[len(a) - 61 : len(a) + 60]
    at = int(np.clip(np.argmax(match), 1, len(match) - 2))
    l, m, r = match[at - 1 : at + 2]
    return (at + 0.5 * (l - r) / (l - 2 * m + r) - 60) * 8


def main():
    score, rules = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        dry(rules, folder / "dry.yaml")
        for index, (_, text) in enumerate(games.reference(count, seed)):
            game, ours, file, theirs = (folder / f"{index}{kind}" for kind in (".pgn", ".wav", ".mid", "-fluid.wav"))
            game.write_text(text)
            run(score, "render", game, "--score-rules", folder / "dry.yaml", "--piano", "grand", "--loudness", "concert",
                "--wav", ours, "--midi", file)
            run("fluidsynth", "-ni", "-q", "-R", 0, "-C", 0, "-g", 1, "-r", RATE, "-F", theirs, FONT, file)
            a, b = read(ours), read(theirs)
            apart = []
            for frame, notes in struck(file):
                # The low tonic rises slowly below other notes, so its onset is not distinct.
                if 2_000 < frame < min(len(a), len(b)) - 4_000 and max(notes) > 50:
                    apart.append(lag(rise(a, frame, notes), rise(b, frame, notes)) / RATE * 1_000)
            apart = np.array(apart)
            # FluidSynth's player works in whole milliseconds and blocks of 64 frames. The median difference of the onsets is its delay.
            delay = float(np.median(apart))
            # Two blocks of 64 frames last 2.7 ms.
            close = float(np.mean(np.abs(apart - delay) <= 2 * 64 / RATE * 1_000))
            tally.expect(f"game {index}: FluidSynth's own delay, ms", delay, abs(delay) <= 2, "<= 2")
            tally.expect(f"game {index}: of {len(apart)} onsets within 2.7 ms", close, close >= 0.95, ">= 0.95; what is struck again while it rings has no clear moment")
    tally.done()


if __name__ == "__main__":
    main()
