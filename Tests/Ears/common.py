"""Shared by the independent checks: reading MIDI files, reading and writing sound files, running the program, counting results."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import wavfile

RATE = 48_000


def read(path):
    """Floats: an array of (frames, 2)."""
    rate, data = wavfile.read(path)
    assert rate == RATE, f"{path}: {rate} Hz"
    # 24-bit samples are read as 32-bit integers whose low byte is 0.
    scale = {np.dtype("int16"): 2**15, np.dtype("int32"): 2**31}.get(data.dtype, 1)
    return data.astype(np.float64) / scale


def write(path, left, right=None):
    """32-bit floats, without loss."""
    right = left if right is None else right
    wavfile.write(path, RATE, np.stack([left, right], 1).astype(np.float32))


def notes(path):
    """Sorted by their begin: (begin, end, pitch, velocity, channel), times in seconds."""
    import mido
    now, held, found = 0.0, {}, []
    for message in mido.MidiFile(path):
        now += message.time
        if message.type == "note_on" and message.velocity:
            held[message.channel, message.note] = now, message.velocity
        elif message.type in ("note_on", "note_off") and (message.channel, message.note) in held:
            begin, velocity = held.pop((message.channel, message.note))
            found.append((begin, now, message.note, velocity, message.channel))
    return sorted(found)


def run(*command):
    """Returns the program's output, or ends this program with one line."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{Path(str(command[0])).name} {' '.join(map(str, command[1:3]))}: {result.stderr.strip()[-300:]}")
    return result.stdout


def decibels(x):
    return 20 * np.log10(np.maximum(np.abs(x), 1e-30))


def click(x, at):
    """The click measure at frame `at`, in dB: the largest second difference within 50 ms, relative to the 99.9th percentile of these
    differences (at least -90 dBFS)."""
    d = np.abs(np.diff(x[max(0, at - 2_402) : at + 2_400], 2, axis=0))
    level = np.maximum(np.quantile(d, 0.999, axis=0), 10**-4.5)
    return float(np.max(20 * np.log10(np.maximum(d.max(axis=0), 10**-4.5) / level)))


class Tally:
    """Prints a line for each measure; `done` ends the program with the verdict."""

    def __init__(self):
        self.failed = 0

    def expect(self, name, value, holds, wanted):
        text = f"{value:.3f}" if isinstance(value, float) else str(value)
        print(f"{'ok ' if holds else 'NO '} {name}: {text} ({wanted})")
        self.failed += not holds

    def done(self):
        sys.exit(f"{self.failed} measures failed" if self.failed else 0)
