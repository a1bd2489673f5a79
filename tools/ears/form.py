#!/usr/bin/env python3
"""Listens to minutes of play for their form: onsets, phrases and rests, what comes back, how rough it is.

Run: python3 tools/ears/form.py ALINA_SCORE [--games 6] [--seed 7] [--rules score] [--png OUT] [--wav FILE]   (numpy, scipy)

The sound is that of `alina-score simulate`, or a file's.  Onsets are found by spectral flux; a phrase is a run of onsets up
to a gap of twice its own short note, its long note.  The picture has the self-similarity of the harmony, a second a dot
(a stripe beside the diagonal is a return), and under it the roughness of what sounds, after Sethares.
"""

import argparse
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
from scipy import signal

from common import RATE, Tally, read, run

HOP = 480


def spectrogram(x):
    """Magnitudes every 10 ms, 4,096 frames wide."""
    _, _, z = signal.stft(x, RATE, "hann", 4_096, 4_096 - HOP, boundary=None)
    return np.abs(z)


def onsets(magnitude):
    """The moments, in seconds, at which something is struck."""
    level = np.log1p(3_000 * magnitude[8:700])
    flux = np.maximum(level[:, 3:] - level[:, :-3], 0).sum(axis=0)
    floor = signal.medfilt(flux, 101)
    at, _ = signal.find_peaks(flux, height=floor + 0.5 * np.std(flux), distance=18)
    return (at + 3) * HOP / RATE


def phrases(moments):
    """Runs of onsets: (notes, seconds to the last of them, seconds of the long note that follows)."""
    result, run_ = [], [moments[0]]
    for now in moments[1:]:
        gaps = np.diff(run_)
        short = np.median(gaps) if len(gaps) else 1.05
        gap = now - run_[-1]
        if gap > 1.9 * short:
            result.append((len(run_), run_[-1] - run_[0], gap))
            run_ = []
        run_.append(now)
    return result


def chroma(magnitude):
    """The harmony of each second: twelve pitch classes, of length 1."""
    f = np.fft.rfftfreq(4_096, 1 / RATE)
    use = (f > 100) & (f < 3_000)
    classes = np.round(12 * np.log2(f[use] / 440)).astype(int) % 12
    energy = np.zeros((12, magnitude.shape[1]))
    for pitch in range(12):
        energy[pitch] = (magnitude[use][classes == pitch] ** 2).sum(axis=0)
    seconds = energy.shape[1] // 100
    energy = np.sqrt(energy[:, : 100 * seconds].reshape(12, seconds, 100).mean(axis=2))
    return energy / (np.linalg.norm(energy, axis=0) + 1e-12)


def roughness(magnitude):
    """The roughness of each second: of the dozen strongest partials, pair by pair."""
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


def png(path, pixels):
    """Writes grey pixels, rows by columns of 0–255."""
    rows = b"".join(b"\0" + bytes(row) for row in pixels.astype(np.uint8))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def picture(harmony, rough):
    """The matrix, each dot doubled where there is room, and the curve under it."""
    similar = np.clip((harmony.T @ harmony - 0.5) * 2, 0, 1)
    zoom = max(1, 600 // len(similar))
    top = np.kron(255 - 255 * similar, np.ones((zoom, zoom)))
    bottom = np.full((80, top.shape[1]), 255.0)
    height = np.clip(rough / (np.quantile(rough, 0.99) + 1e-12), 0, 1) * 78
    for second in range(min(len(rough), len(similar))):
        bottom[79 - int(height[second]) :, second * zoom : (second + 1) * zoom] = 90
    return np.concatenate([top, np.full((6, top.shape[1]), 255.0), bottom])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("score")
    parser.add_argument("--games", default="6")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--rules", default="score")
    parser.add_argument("--png")
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
    notes, lengths, longs = (np.array(column) for column in zip(*found))
    rests = np.cumsum([0] + [length + long for _, length, long in found])
    tally.expect("minutes heard", len(x) / RATE / 60, True, "")
    tally.expect("onsets a minute", 60 * len(moments) / (len(x) / RATE), True, "")
    tally.expect("phrases", len(found), len(found) > 3, "some")
    tally.expect("notes of a phrase, half of them at most", float(np.median(notes)), 1 < np.median(notes) < 9, "2-8")
    tally.expect("seconds of a long note, half of them at most", float(np.median(longs)), np.median(longs) > 1, "> 1")
    # A phrase longer than the longest bar ran on from one bar into the next: its long note was cut off.
    whole = float(np.mean(notes <= 9))
    tally.expect("phrases that end on a long note before another begins", whole, whole >= 0.85, ">= 0.85")
    longest = float(np.max(np.diff(rests)))
    tally.expect("longest stretch without a long note, s", longest, longest < 20, "< 20")
    harmony, rough = chroma(magnitude), roughness(magnitude)
    apart = harmony.T @ harmony
    far = apart[np.triu_indices(len(apart), 30)]
    tally.expect("seconds half a minute apart that sound alike", float(np.mean(far > 0.9)), True, "a share")
    tally.expect("roughness, calm and high", f"{np.quantile(rough, 0.1):.3f} {np.quantile(rough, 0.9):.3f}", True, "")
    if options.png:
        png(options.png, picture(harmony, rough))
    tally.done()


if __name__ == "__main__":
    main()
