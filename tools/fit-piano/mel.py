"""The distance between two sounds: mean absolute difference of mel spectrograms in dB.

48 bands from 30 Hz to 16 kHz, in windows of 4,096 samples that begin every 1,024 samples of the first six seconds. Levels more than 60 dB
below the louder sound's maximum count as 60 dB below it.
"""

import numpy as np

RATE = 48_000
SIZE, HOP, BANDS = 4_096, 1_024, 48


def bank():
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    edges = 700 * (10 ** (np.linspace(mel(30), mel(16_000), BANDS + 2) / 2595) - 1)
    bins = np.arange(SIZE // 2 + 1) * RATE / SIZE
    rows = []
    for low, mid, high in zip(edges, edges[1:], edges[2:]):
        # Makes both slopes of a band at least as wide as a bin of the spectrum: otherwise a low band could contain no bin.
        low, high = min(low, mid - RATE / SIZE), max(high, mid + RATE / SIZE)
        rows.append(np.clip(np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid)), 0, None))
    return np.array(rows)


BANK = bank()
WINDOW = np.hanning(SIZE + 1)[:-1]


def spectrogram(x, seconds=6.0):
    """The power in each mel band of each window of a sound (frames, 2), averaged over both channels."""
    n = int(seconds * RATE)
    x = np.vstack([x, np.zeros((max(0, n + SIZE - len(x)), 2))])[: n + SIZE]
    starts = np.arange(0, n, HOP)
    frames = x[starts[:, None] + np.arange(SIZE)] * WINDOW[None, :, None]
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(axis=2)
    return power @ BANK.T


def distance(a, b):
    """The absolute difference in dB between two sounds, averaged over all bands and windows."""
    pa, pb = spectrogram(a), spectrogram(b)
    top = max(pa.max(), pb.max())
    da = np.maximum(10 * np.log10(pa / top + 1e-30), -60)
    db = np.maximum(10 * np.log10(pb / top + 1e-30), -60)
    return np.abs(da - db).mean()


def onset(x):
    """The first frame whose level is less than 40 dB below the sound's peak."""
    level = np.abs(x).max(axis=1)
    return int(np.argmax(level > 0.01 * level.max()))
