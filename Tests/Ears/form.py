#!/usr/bin/env python3
"""Analyses the form of some minutes of music: onsets, phrases, rests and roughness.

Run: python3 Tests/Ears/form.py ALINA_SCORE [--games 6] [--seed 7] [--rules score] [--wav FILE]   (numpy, scipy)

The sound is made by `alina-score simulate`, or read from FILE. Onsets are found by spectral flux. A phrase is a run of onsets that
ends with a long note: a gap of at least twice the phrase's short note. Roughness is computed from the spectrum after Sethares,
minute by minute. `alina-score measure --png FILE` draws repetitions.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal

from common import RATE, Tally, read, run

HOP = 480


def spectrogram(x):
    """The magnitude spectrum every 10 ms, from windows of 4,096 frames."""
    _, _, z = signal.stft(x, RATE, "hann", 4_096, 4_096 - HOP, boundary=None)
    return np.abs(z)


def onsets(magnitude):
    """The onsets in seconds."""
    level = np.log1p(3_000 * magnitude[8:700])
    flux = np.maximum(level[:, 3:] - level[:, :-3], 0).sum(axis=0)
    floor = signal.medfilt(flux, 101)
    at, _ = signal.find_peaks(flux, height=floor + 0.5 * np.std(flux), distance=18)
    return (at + 3) * HOP / RATE


def phrases(moments):
    """Splits the onsets into phrases: (number of notes, time of the last note in seconds, time from there to the next onset in seconds)."""
    result, run_ = [], [moments[0]]
    for now in moments[1:]:
        gaps = np.diff(run_)
        short = np.median(gaps) if len(gaps) else 1.05
        gap = now - run_[-1]
        if gap > 1.9 * short:
            result.append((len(run_), run_[-1], gap))
            run_ = []
        run_.append(now)
    return result


def roughness(magnitude):
    """The roughness of each second, summed over all pairs of its twelve strongest partials."""
    f = np.fft.rfftfreq(4_096, 1 / RATE)
    curve = []
    for frame in magnitude[:, 50::100].T:
        peaks, _ = signal.find_peaks(frame[:600])
        peaks = peaks[np.argsort(frame[peaks])[-12:]]
        a, hz = frame[peaks], f[peaks]
        low, apart = np.minimum.outer(hz, hz), np.abs(np.subtract.outer(hz, hz))
        s = 0.24 / (0.0207 * low + 18.96)
        pairs = np.minimum.outer(a, a) * (np.exp(-3.51 * s * apart) - np.exp(-5.75 * s * apart))
        curve.append(pairs.sum() / (2 * a.sum() + 1e-9))
    return np.array(curve)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("score")
    parser.add_argument("--games", default="6")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--rules", default="score")
    parser.add_argument("--wav")
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        wav = options.wav or Path(folder) / "play.wav"
        if not options.wav:
            run(options.score, "simulate", "--games", options.games, "--seed", options.seed, "--score-rules",
                options.rules, "--wav", wav)
        x = read(wav).sum(axis=1)
    magnitude = spectrogram(x)
    moments = onsets(magnitude)
    found = phrases(moments)
    notes, begun, longs = (np.array(column) for column in zip(*found))
    tally.expect("minutes heard", len(x) / RATE / 60, True, "")
    tally.expect("onsets a minute", 60 * len(moments) / (len(x) / RATE), True, "")
    tally.expect("phrases", len(found), len(found) > 3, "some")
    tally.expect("notes of a phrase, half of them at most", float(np.median(notes)), 1 < np.median(notes) < 9, "2-8")
    tally.expect("seconds of a long note, half of them at most", float(np.median(longs)), np.median(longs) > 1, "> 1")
    # A bar has at most nine notes. A longer phrase runs over two bars, because the first bar's long note was cut.
    whole = float(np.mean(notes <= 9))
    tally.expect("phrases that end on a long note before another begins", whole, whole >= 0.85, ">= 0.85")
    longest = float(np.max(np.diff(begun)))
    tally.expect("longest time from one long note to the next, s", longest, longest < 20, "< 20")
    rough = roughness(magnitude)
    minutes = " ".join(f"{np.mean(rough[at : at + 60]):.3f}" for at in range(0, len(rough), 60))
    tally.expect("roughness, minute by minute", minutes, True, "")
    tally.done()


if __name__ == "__main__":
    main()
