#!/usr/bin/env python3
"""Fits the modal piano to the oracle (the grand of a sound font, see oracle.py) and writes Sources/Music/Synth/PianoFit+Table.swift.

Run: python3 tools/fit-piano/fit.py   (needs numpy, scipy, libfluidsynth3, musescore-general-soundfont-small)

For every third note the partials f_n = n f0 sqrt(1 + B n^2) are found, and a heterodyne gives the envelope of each.
Two exponentials are fitted to the envelope's power, with a level for each touch (velocities 30, 50, 80); the ratio and
phase between the channels are measured early and late. Up to 15 short noise modes (hammer and soundboard) add the sound
of the first 150 ms that the partials lack.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import fftconvolve

sys.path.insert(0, str(Path(__file__).parent))
import mel
from oracle import RATE, Oracle

ANCHORS = list(range(23, 108, 3))
TOUCHES = (30, 50, 80)
MAX_PARTIALS = 46
NOISE_BANDS = [60, 85, 120, 170, 240, 330, 460, 640, 900, 1250, 1700, 2400, 3300, 4600, 6400]
STEP = 240  # frames between envelope points: 5 ms


def frequency(midi):
    return 440 * 2 ** ((midi - 69) / 12)


def inharmonicity(midi):
    return np.exp(0.0926 * midi - 13.64) + np.exp(-0.0847 * midi - 5.82)


def find_series(x, midi):
    """f0 and B of a note: peaks near the expected partials, then a least-squares line through (f_n/n)^2."""
    n = 1 << 18
    mono = x[4_800 : 4_800 + n]
    mono = np.vstack([mono, np.zeros((n - len(mono), 2))]) * np.hanning(n)[:, None]
    power = (np.abs(np.fft.rfft(mono, axis=0)) ** 2).sum(axis=1)
    f0, b = frequency(midi), inharmonicity(midi)
    ns, fs, ws = [], [], []
    for k in range(1, MAX_PARTIALS + 1):
        guess = k * f0 * np.sqrt(1 + b * k * k)
        if guess > 10_000:
            break
        width = min(0.25 * f0, max(3.0, 0.012 * guess))
        lo, hi = int((guess - width) * n / RATE), int((guess + width) * n / RATE) + 2
        at = lo + int(np.argmax(power[lo:hi]))
        if power[at] < 1e-9 * power.max():
            continue
        l, m, r = np.log(power[at - 1 : at + 2] + 1e-30)
        f = (at + 0.5 * (l - r) / (l - 2 * m + r + 1e-30)) * RATE / n
        ns.append(k), fs.append(f), ws.append(np.sqrt(power[at] / power.max()))
        if len(ns) >= 3:
            A = np.stack([np.ones(len(ns)), np.array(ns, float) ** 2], 1)
            y = (np.array(fs) / np.array(ns)) ** 2
            w = np.array(ws) ** 0.25
            c, d = np.linalg.lstsq(A * w[:, None], y * w, rcond=None)[0]
            if c > 0 and abs(1200 * np.log2(np.sqrt(c) / frequency(midi))) < 40:
                f0, b = np.sqrt(c), min(max(d / c, 0), 0.02)
    return f0, b, dict(zip(ns, fs))


def envelope(x, f, f0):
    """The complex envelope of each channel about the frequency f, one value every 5 ms."""
    length = int(np.clip(5.0 / f0, 0.012, 0.11) * RATE) | 1
    window = np.hanning(length + 2)[1:-1]
    window /= window.sum()
    shifted = 2 * x * np.exp(-2j * np.pi * f * np.arange(len(x)) / RATE)[:, None]
    half = length // 2
    smooth = np.stack([fftconvolve(shifted[:, c], window)[half : half + len(x)] for c in (0, 1)], 1)
    return smooth[::STEP]


def fit_decay(power, top):
    """Fits the sum of two exponentials to a power envelope: level in dB and decay in dB/s of the faster one, then of the slower one."""
    t = np.arange(len(power)) * STEP / RATE
    use = (t > 0.035) & (t < 7.5) & (power > top * 10 ** -8.5)
    # Ignores all points from the first one in the noise floor (85 dB below `top`) on, even if later ones are louder.
    floor = np.argmax((power < top * 10 ** -8.5) & (t > 0.1)) or len(power)
    use[floor:] = False
    if use.sum() < 12:
        return None
    t, y = t[use], 10 * np.log10(power[use])
    weight = 1 / np.sqrt(0.15 + t)
    slope = max((y[0] - np.interp(min(0.6, t[-1]), t, y)) / max(min(0.6, t[-1]) - t[0], 0.05), 2)
    late = max((np.interp(t[-1] * 0.5, t, y) - y[-1]) / max(t[-1] * 0.5, 0.05), 0.5)

    def model(p):
        return 10 * np.log10(10 ** ((p[0] - p[1] * t) / 10) + 10 ** ((p[0] - p[2] - p[3] * t) / 10))

    best = None
    for drop in (6, 18):
        start = [y[:4].mean() + 1, min(slope, 150), drop, max(1.3, min(late, slope, 100))]
        r = least_squares(
            lambda p: (model(p) - y) * weight, start, bounds=([-200, 0.8, 0, 1.2], [60, 200, 60, 200]),
            loss="soft_l1", f_scale=3.0)
        if best is None or r.cost < best.cost:
            best = r
    a, d1, drop, d2 = best.x
    if d2 > d1:
        a, d1, drop, d2 = a - drop, d2, -drop, d1
    return a, d1, a - drop, d2


def channels(env, lo, hi):
    """Level of left over right in dB, phase of right against left in turns, and coherence (0 to 1), over these envelope points."""
    part = env[lo:hi]
    if len(part) == 0:
        return 0.0, 0.0, 0.0
    pl, pr = (np.abs(part) ** 2).mean(axis=0) + 1e-30
    cross = (part[:, 1] * np.conj(part[:, 0])).mean()
    return float(np.clip(10 * np.log10(pl / pr), -14, 14)), float(np.angle(cross) / (2 * np.pi)), float(
        abs(cross) / np.sqrt(pl * pr))


def fit_note(oracle, midi):
    notes = {v: oracle.note(midi, v) for v in TOUCHES}
    start = mel.onset(notes[50])
    notes = {v: x[max(0, mel.onset(x) - 24):] for v, x in notes.items()}
    f0, b, peaks = find_series(notes[80], midi)
    middle = notes[50]
    rows, top = [], None
    for n in range(1, MAX_PARTIALS + 1):
        f = peaks.get(n, n * f0 * np.sqrt(1 + b * n * n))
        if f > 13_000:
            break
        env = {v: envelope(notes[v], f, f0) for v in TOUCHES}
        power = {v: (np.abs(env[v]) ** 2).mean(axis=1) for v in TOUCHES}
        top = max(top or 0, power[50].max())
        fit = fit_decay(power[50], top) or fit_decay(power[80], power[80].max())
        if fit is None:
            continue
        a, d1, a2, d2 = fit
        # The decays fitted at velocity 50 (or, if that fails, 80) hold for all velocities. `delta`: each velocity's level in dB relative to
        # velocity 50, the median from 40 to 400 ms after the onset.
        part = slice(8, 80)
        delta = [float(np.median(10 * np.log10((power[v][part] + 1e-30) / (power[50][part] + 1e-30)))) for v in TOUCHES]
        early, late = channels(env[80], 6, 120), channels(env[80], 250, 1_000)
        rows.append(dict(n=n, f=f, a=a, d1=d1, a2=a2, d2=d2, soft=delta[0], loud=delta[2], early=early, late=late))
    rows = [r for r in rows if r["a"] > max(q["a"] for q in rows) - 72]
    rise = attack_ms(middle)
    noise = fit_noise(notes[50], rows, rise)
    print(f"{midi:3d} f0 {f0:8.2f} ({1200*np.log2(f0/frequency(midi)):+5.1f} c) B {b:.2e} partials {len(rows):2d} "
          f"d {rows[0]['d1']:.1f}/{rows[0]['d2']:.1f} rise {rise:.1f} ms", flush=True)
    return dict(midi=midi, f0=f0, b=b, rows=rows, noise=noise, rise=rise, onset=start)


def attack_ms(x):
    """The rise time in ms: from a tenth to nine tenths of the highest level in the first 75 ms, averaged over 2 ms."""
    level = np.sqrt(np.convolve((x[:7_200] ** 2).sum(axis=1), np.ones(96) / 96, "same"))
    crest = level[:3_600].max()
    hi = int(np.argmax(level > 0.9 * crest))
    lo = int(np.argmax(level > 0.1 * crest))
    return float(np.clip((hi - lo) / 48, 1.0, 14.0))


def render(note, touch=1, seconds=7.0, noise=True):
    """The modal piano in numpy, as ModalPiano.swift renders it. `touch` 0, 1 or 2 is velocity 30, 50 or 80."""
    t = np.arange(int(seconds * RATE)) / RATE
    out = np.zeros((len(t), 2))
    for mode in modes(note, noise):
        level = mode["level"][touch]
        a = 10 ** (level / 20)
        if a < 1e-6:
            continue
        e = a * 10 ** (-mode["decay"] * t / 20)
        side = 10 ** (mode["side"] / 40)
        phase = 2 * np.pi * mode["f"] * t
        out[:, 0] += side * e * np.sin(phase)
        out[:, 1] += e / side * np.sin(phase + 2 * np.pi * mode["phase"])
    rise = max(8, int(note["rise"] * 48))
    x = np.minimum(np.arange(len(t)) / rise, 1)
    return out * (x * x * (3 - 2 * x))[:, None]


def modes(note, noise=True):
    result = []
    for r in note["rows"]:
        for a, d, where, shift in ((r["a"], r["d1"], r["early"], 0.0), (r["a2"], r["d2"], r["late"], 0.17)):
            # A level is 10 log10 of the envelope's power, averaged over both channels; so 10 ** (level / 20) is a partial's amplitude.
            result.append(dict(
                f=r["f"] + shift, level=(a + r["soft"], a, a + r["loud"]), decay=d, side=where[0], phase=where[1]))
    if noise:
        for f, level, decay in note["noise"]:
            result.append(dict(f=f, level=(level - 8, level, level + 9), decay=decay, side=0, phase=f * 0.618 % 1))
    return result


def band_power(x, f, frames):
    """The mean power of x from f / 1.17 to 1.17 f, in each of the first four pieces of `frames` frames."""
    result = []
    for k in range(4):
        piece = x[k * frames : (k + 1) * frames]
        s = np.abs(np.fft.rfft(piece * np.hanning(len(piece))[:, None], 8_192, axis=0)) ** 2
        bins = np.arange(len(s)) * RATE / 8_192
        use = (bins > f / 1.17) & (bins < f * 1.17)
        result.append(s[use].mean())
    return np.array(result)


def fit_noise(x, rows, rise):
    """Short modes that add the power which the partials lack in the first 150 ms."""
    note = dict(rows=rows, noise=[], rise=rise)
    model = render(note, seconds=0.25, noise=False)
    noise = []
    for f in NOISE_BANDS:
        want, have = band_power(x, f, 1_920), band_power(model, f, 1_920)
        miss = np.maximum(want[:3] - have[:3], 0)
        if miss[0] < 0.1 * want[0] and miss[1] < 0.1 * want[1]:
            continue
        decay = np.clip(10 * np.log10((miss[0] + 1e-12) / (miss[2] + 1e-12)) / 0.08, 180, 1_200)
        # The level to use is the ratio of the missing power to the power of a mode at 0 dB.
        probe = dict(rows=[], noise=[(f, 0.0, decay)], rise=rise)
        one = band_power(render(probe, seconds=0.25), f, 1_920)[0]
        noise.append((f, float(10 * np.log10(miss[0] / one + 1e-12)), float(decay)))
    return noise


HEADER = """// Generated by tools/fit-piano/fit.py; do not edit. A table of more than 500 lines.

extension PianoFit {
  /// The table as text, since the compiler needs half a minute for a Swift array literal of this size. Integers in
  /// variable-length base64: five bits in each digit, lowest first, and a sixth bit if more follow; the last bit is the sign.
  ///
  /// A note: MIDI number, rise in 0.01 ms, B in millionths, tuning in 0.01 cent off equal temperament, number of
  /// partials, number of thuds; then the partials and the thuds.
  /// A partial: n, 0.01 cents off the series, early level and decay, late level and decay, the level of the soft and
  /// the loud touch over the middle one (all in 0.1 dB or dB/s), early side (0.1 dB, left over right) and phase (0.001
  /// turns, right against left), late side and phase.
  /// A thud: frequency in Hz, level in 0.1 dB, decay in dB/s.
  static let table = \"\"\"
"""
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def digits(number):
    """Encodes a whole number in base64 of variable length."""
    left, text = abs(number) << 1 | (number < 0), ""
    while True:
        text += DIGITS[left & 31 | (32 if left > 31 else 0)]
        left >>= 5
        if not left:
            return text


def swift(fits, path):
    """The fit as a Swift file. All numbers are integers: tenths of dB and of dB/s, thousandths of a turn."""
    numbers = []
    for n in fits:
        detune = 1200 * np.log2(n["f0"] / frequency(n["midi"]))
        numbers += [n["midi"], n["rise"] * 100, n["b"] * 1e6, detune * 100, len(n["rows"]), len(n["noise"])]
        for r in n["rows"]:
            series = r["n"] * n["f0"] * np.sqrt(1 + n["b"] * r["n"] ** 2)
            dev = np.clip(1200 * np.log2(r["f"] / series), -25, 25)
            numbers += [r["n"], dev * 100, r["a"] * 10, r["d1"] * 10, r["a2"] * 10, r["d2"] * 10, r["soft"] * 10,
                        r["loud"] * 10, r["early"][0] * 10, r["early"][1] * 1000, r["late"][0] * 10, r["late"][1] * 1000]
        for f, level, decay in n["noise"]:
            numbers += [f, level * 10, decay]
    text = "".join(digits(int(round(number))) for number in numbers)
    rows = [f"    {text[i:i + 116]}\n" for i in range(0, len(text), 116)]
    path.write_text(HEADER + "".join(rows) + '    """\n}\n')


def main():
    oracle = Oracle()
    fits = [fit_note(oracle, m) for m in ANCHORS]
    import pickle
    Path("/tmp/synth").mkdir(exist_ok=True)
    pickle.dump(fits, open("/tmp/synth/fits.pkl", "wb"))
    for n in fits:
        if n["midi"] in (35, 47, 59, 71, 83, 95):
            d = []
            for i, v in enumerate(TOUCHES):
                x = oracle.note(n["midi"], v)
                d.append(mel.distance(render(n, i), x[mel.onset(x):]))
            print("mel distance", n["midi"], " ".join(f"{q:.2f}" for q in d), flush=True)
    swift(fits, Path(__file__).parents[2] / "Sources/Music/Synth/PianoFit+Table.swift")


if __name__ == "__main__":
    main()
