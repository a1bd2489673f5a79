#!/usr/bin/env python3
"""Draws the form of some minutes of music: onsets, phrase lengths, register and loudness over time.

Run: python3 tools/plot-form.py OUT.png NAME=FILE.wav [NAME=FILE.wav] [--minutes 6]     (needs numpy, scipy, matplotlib)

Each FILE.wav is written by `alina-score simulate`. Onsets and phrases are found as Tests/Ears/form.py finds them; the register is
the strongest pitch at each onset, the loudness that of each second.
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "Ears"))
from common import RATE, read
from form import HOP, onsets, phrases, spectrogram


def register(magnitude, moments):
    """The MIDI note of the strongest partial from B3 to B6 just after each onset."""
    hz = np.fft.rfftfreq(4_096, 1 / RATE)
    window = (hz > 240) & (hz < 2_000)
    frames = np.minimum((moments * RATE / HOP).astype(int) + 8, magnitude.shape[1] - 1)
    return 69 + 12 * np.log2(hz[window][np.argmax(magnitude[window][:, frames], axis=0)] / 440)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("sounds", nargs="+")
    parser.add_argument("--minutes", type=float, default=6)
    options = parser.parse_args()
    figure, axes = plt.subplots(4, len(options.sounds), figsize=(7 * len(options.sounds), 9), sharex=True, sharey="row",
                                squeeze=False)
    for column, sound in enumerate(options.sounds):
        name, file = sound.split("=", 1)
        x = read(file)[: int(60 * options.minutes * RATE)].sum(axis=1)
        magnitude = spectrogram(x)
        moments = onsets(magnitude)
        found = phrases(moments)
        counts, edges = np.histogram(moments, np.arange(0, len(x) / RATE + 5, 5))
        power = np.add.reduceat(x**2, np.arange(0, len(x), RATE)) / RATE
        rows = axes[:, column]
        rows[0].set_title(name)
        rows[0].bar(edges[:-1] / 60, counts, width=5 / 60, align="edge")
        rows[1].vlines([end / 60 for _, end, _ in found], 0, [notes for notes, _, _ in found])
        rows[2].plot(moments / 60, register(magnitude, moments), ".", markersize=3)
        rows[3].plot(np.arange(len(power)) / 60, 10 * np.log10(power + 1e-10))
        rows[3].set_xlabel("minutes")
    for row, label in zip(axes[:, 0], ["onsets in 5 s", "notes of a phrase", "pitch (MIDI)", "level, dBFS"]):
        row.set_ylabel(label)
    axes[3, 0].set_ylim(-60, -10)
    figure.tight_layout()
    figure.savefig(options.out, dpi=80)


if __name__ == "__main__":
    main()
