#!/usr/bin/env python3
"""Measures the synthesizer's nodes from outside: alina-score's effect tools make the sounds, numpy and scipy analyse them.

Run: python3 Tests/Ears/nodes.py ALINA_SCORE     (needs numpy and scipy)
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal

from common import RATE, Tally, click, decibels, read, run, write

SCORE = sys.argv[1]
TALLY = Tally()


def fx(folder, left, right, chain, tail=0):
    source, target = Path(folder) / "in.wav", Path(folder) / "out.wav"
    write(source, left, right)
    run(SCORE, "fx", source, "--chain", chain, "--tail", tail, target)
    return read(target)


def sine(f, seconds, amplitude=0.5):
    return amplitude * np.sin(2 * np.pi * f * np.arange(int(seconds * RATE)) / RATE)


def impulse(seconds):
    x = np.zeros(int(seconds * RATE))
    x[0] = 0.9
    return x


def peak_near(power, f, within):
    """The frequency of the spectrum's peak within `within` Hz of f, interpolated between bins by a parabola."""
    n = 2 * (len(power) - 1)
    lo, hi = int((f - within) * n / RATE), int((f + within) * n / RATE) + 1
    at = lo + int(np.argmax(power[lo:hi]))
    l, m, r = np.log(power[at - 1 : at + 2] + 1e-300)
    return (at + 0.5 * (l - r) / (l - 2 * m + r)) * RATE / n


def cents(f, wanted):
    return 1200 * np.log2(f / wanted)


def decay_line(x, top=-5.0, bottom=-45.0):
    """Fits a line to Schroeder's decay curve between two levels; returns T60 and the curve's largest deviation from the line."""
    energy = np.cumsum((x**2)[::-1])[::-1]
    curve = 10 * np.log10(energy / energy[0] + 1e-30)
    a, b = np.argmax(curve < top), np.argmax(curve < bottom)
    t = np.arange(a, b) / RATE
    slope, offset = np.polyfit(t, curve[a:b], 1)
    return -60 / slope, float(np.max(np.abs(curve[a:b] - slope * t - offset)))


def combs(folder):
    worst_pitch, worst_decay = 0.0, 0.0
    for delay in (388.76, 326.90, 259.46, 194.38):
        for t60 in (2.0, 7.5):
            g = 10 ** (-3 * delay / (RATE * t60))
            x = fx(folder, impulse(t60 + 1), None, f"comb:custom delay={delay} feedback={g:.6f} dry=0 wet=1")[:, 0]
            power = np.abs(np.fft.rfft(x, 1 << 19)) ** 2
            for n in range(1, 13):
                f = n * RATE / delay
                worst_pitch = max(worst_pitch, abs(cents(peak_near(power, f, 20), f)))
            # The comb's interpolation damps the treble a little at each repetition.
            low = signal.sosfilt(signal.butter(4, 600, fs=RATE, output="sos"), x)
            measured, _ = decay_line(low[2_000:], -3, -33)
            worst_decay = max(worst_decay, abs(measured / t60 - 1))
    TALLY.expect("comb: peaks at n f, worst of 12 harmonics of 8 combs, cents", worst_pitch, worst_pitch < 2, "< 2")
    TALLY.expect("comb: T60 off by", worst_decay, worst_decay < 0.05, "< 5 %")
    loud = 0.0
    for g in (-0.999, -0.7, 0.7, 0.999):
        noise = np.random.default_rng(1).normal(0, 0.01, RATE)
        x = fx(folder, noise, noise[::-1], f"comb:custom delay=97.3 melt=165 glide=700 feedback={g} dry=0 wet=1", 20)
        assert np.isfinite(x).all()
        loud = max(loud, float(np.abs(x[-RATE:]).max() / np.abs(x).max()))
    TALLY.expect("comb: stable while its delay moves, tail over peak", loud, loud < 0.2, "< 0.2")
    tone = sine(311, 3, 0.25)
    args = "delay=389 feedback=0.78 damping=0.3 dry=0 wet=1"
    still = fx(folder, tone, None, f"comb:custom {args}")
    moving = fx(folder, tone, None, f"comb:custom {args} melt=412 glide=1500")
    reference = max(click(still, at) for at in range(40_000, 70_000, 1_000))
    rise = max(click(moving, at) for at in range(24_000, 110_000, 1_000)) - reference
    TALLY.expect("comb: a change of delay raises the click measure by, dB", rise, rise < 6, "< 6")


def rings(folder):
    f = 493.883
    x = fx(folder, sine(0.35 * f, 4), sine(0.25 * f, 4), "ringmod:bell")
    window = signal.windows.blackmanharris(1 << 17)
    worst, rest = 0.0, -200.0
    for side, ratios in ((0, (0.5, 1.2)), (1, (1.5, 2.0))):
        power = np.abs(np.fft.rfft(x[4_000 : 4_000 + (1 << 17), side] * window)) ** 2
        top = power.max()
        for ratio in ratios:
            worst = max(worst, abs(cents(peak_near(power, ratio * f, 5), ratio * f)))
            at = int(round(ratio * f * (1 << 17) / RATE))
            power[at - 12 : at + 13] = 0
        rest = max(rest, 10 * np.log10(power.max() / top))
    TALLY.expect("ring modulator: hum, tierce, quint, nominal off by, cents", worst, worst < 1, "< 1")
    TALLY.expect("ring modulator: everything else, dB", float(rest), rest < -60, "<= -60")


def tones(folder):
    worst_pitch, worst_thd, target = 0.0, -200.0, Path(folder) / "tone.wav"
    for midi in range(0, 128):
        a4 = (415, 440, 466)[midi % 3]
        run(SCORE, "tone", midi, target, "--seconds", 2, "--a4", a4, "--level=-6", "--fade-in", 1)
        x = read(target)[2_400:93_600, 0]
        f = a4 * 2 ** ((midi - 69) / 12)
        t = np.arange(len(x)) / RATE
        window = signal.windows.hann(len(x) // 2)
        half = len(x) // 2
        # The phase difference between the sound's two halves gives the frequency far more precisely than the peak of a spectrum.
        phases = [
            np.angle(np.sum(x[k : k + half] * window * np.exp(-2j * np.pi * f * t[k : k + half]))) for k in (0, half)
        ]
        turn = np.angle(np.exp(1j * (phases[1] - phases[0]))) / (2 * np.pi)
        worst_pitch = max(worst_pitch, abs(cents(f + turn / (half / RATE), f)))
        basis = np.stack([np.cos(2 * np.pi * f * t), np.sin(2 * np.pi * f * t)], 1)
        rest = x - basis @ np.linalg.lstsq(basis, x, rcond=None)[0]
        worst_thd = max(worst_thd, 10 * np.log10(np.mean(rest**2) / np.mean(x**2)))
    TALLY.expect("tone: MIDI 0-127 at A4 415, 440, 466 off by, cents", worst_pitch, worst_pitch < 0.1, "< 0.1")
    TALLY.expect("tone: distortion and noise, dB", float(worst_thd), worst_thd < -90, "< -90")
    run(SCORE, "tone", 100, target, "--seconds", 0.5, "--level=0", "--fade-in", 100, "--fade-out", 200)
    x = read(target)[:, 0]
    f = 440 * 2 ** (31 / 12)
    envelope = np.abs(signal.hilbert(x))
    rise = np.sin(np.pi / 2 * np.arange(4_800) / 4_800)
    fall = np.sin(np.pi / 2 * (1 - np.arange(9_600) / 9_600))
    off = max(
        np.abs(decibels(envelope[600:4_700] / rise[600:4_700])).max(),
        np.abs(decibels(envelope[24_100 : 24_000 + 8_600] / fall[100:8_600])).max(),
    )
    TALLY.expect("tone: fades off equal power by, dB", float(off), off < 0.1, "< 0.1")
    worst = 0.0
    for seconds in (0.001, 0.004, 0.013, 0.03, 0.059, 0.06, 0.2):
        run(SCORE, "tone", 83, target, "--seconds", seconds, "--level=-12")
        x = np.concatenate([np.zeros((4_800, 2)), read(target), np.zeros((4_800, 2))])
        worst = max(worst, click(x, 4_800), click(x, 4_800 + int(seconds * RATE)))
        assert np.abs(x[-4_800:]).max() == 0
    TALLY.expect("tone: stopped while it fades in, click measure, dB", worst, worst < 6, "< 6")


def envelopes(folder):
    a, b, out = (Path(folder) / name for name in ("a.wav", "b.wav", "out.wav"))
    level = np.where((np.arange(2 * RATE) // 12_000) % 2 == 0, 0.1, 0.5)
    write(a, sine(1_000, 2, 1) * level)
    worst = 0.0
    for detector, factor in (("peak", 1), ("average", 0.5**0.5)):
        for window in (5, 20, 50, 200):
            run(SCORE, "envelope", "extract", "--window", window, "--detector", detector, a, out)
            e = read(out)[:, 0]
            for step in range(8):
                part = slice(step * 12_000 + window * 48 + 2, (step + 1) * 12_000)
                worst = max(worst, float(np.abs(decibels(e[part] / (level[part] * factor))).max()))
    TALLY.expect("envelope: a known change followed after one window within, dB", worst, worst < 0.5, "< 0.5")
    t = np.arange(4 * RATE) / RATE
    write(a, sine(123.47, 4, 0.1))
    write(b, sine(660, 4, 1) * (0.11 + 0.1 * np.sin(2 * np.pi * 1.3 * t)))
    run(SCORE, "envelope", "match", "--match", 100, "--window", 25, a, b, out)
    smooth = signal.butter(2, 8, fs=RATE, output="sos")
    traces = [np.sqrt(np.maximum(signal.sosfiltfilt(smooth, read(p)[:, 0] ** 2), 0)) for p in (out, b, a)]
    matched, unmatched = (float(np.corrcoef(x[12_000:-12_000], traces[1][12_000:-12_000])[0, 1]) for x in traces[::2])
    TALLY.expect("matcher: 100 % correlates with the other's envelope", matched, matched > 0.98, "> 0.98")
    TALLY.expect("matcher: and did not before", unmatched, unmatched < 0.5, "< 0.5")
    run(SCORE, "envelope", "match", "--match", 0, a, b, out)
    # `envelope match` writes 24 bits per sample, and the original has 32.
    change = float(np.abs(read(out) - read(a)).max())
    TALLY.expect("matcher: 0 % changes nothing, steps of 24 bits", change * 2**23, change * 2**23 <= 1, "<= 1")


def rooms(folder):
    for decay in (2.8, 3.4, 4.0):
        x = fx(folder, impulse(8), np.zeros(8 * RATE), f"reverb:custom decay={decay} treble=1")
        t60, off = decay_line(x[:, 0])
        TALLY.expect(f"reverb {decay} s: decay curve leaves its line by, dB", off, off < 1, "< 1 over 40 dB")
        TALLY.expect(f"reverb {decay} s: T60", t60, abs(t60 / decay - 1) < 0.05, "within 5 %")
    x = fx(folder, impulse(6), np.zeros(6 * RATE), "reverb:church")
    worst = -99.0
    for side in (0, 1):
        power = np.abs(np.fft.rfft(x[:, side], 1 << 19)) ** 2
        centers = 100 * 2 ** (np.arange(17) / 3)
        bands = []
        for f in centers:
            lo, hi = (int(f * r * (1 << 19) / RATE) for r in (2 ** (-1 / 6), 2 ** (1 / 6)))
            bands.append(10 * np.log10(power[lo:hi].mean()))
        trend = np.polyval(np.polyfit(np.log2(centers), bands, 2), np.log2(centers))
        worst = max(worst, float((np.array(bands) - trend).max()))
    TALLY.expect("reverb: third octaves stand out by, dB", worst, worst < 6, "< 6")
    noise = np.random.default_rng(2).normal(0, 0.1, 4 * RATE)
    x = fx(folder, noise, noise, "reverb:church")
    side = float(decibels(np.std(x[:, 0] - x[:, 1]) / np.std(x[:, 0] + x[:, 1])))
    TALLY.expect("reverb: side over middle, dB", side, -20 < side < 0, "-20 to 0")
    one, both = (np.std(np.atleast_2d(y).sum(axis=0)) for y in (x[:, 0], x.T))
    TALLY.expect("reverb: in mono nothing cancels, dB over one side", float(decibels(both / one)), both > one, "> 0")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for part in (combs, rings, tones, envelopes, rooms):
            part(folder)
    TALLY.done()
