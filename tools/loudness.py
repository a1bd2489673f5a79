#!/usr/bin/env python3
"""Loudness of simulated play by ffmpeg's ebur128: every rule file, every piano.

Run: python3 tools/loudness.py ALINA_SCORE [--games 40] [--rules score,morning,night] [--pianos modal,grand] [--game classic]
     [--median 4] [--settings even,concert]

--median is the players' median thinking time in seconds. Needs ffmpeg. Prints a line for each rule file, piano and loudness setting.
Exits 1 unless each has -20 ± 2 LUFS, a true peak of at most -1 dBTP and a range of at most 12 LU (concert: 20 LU), and the pianos differ
by at most 1 LU. Forty games are an hour and a half of sound; to render and measure them takes some minutes.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def measure(file):
    """Integrated loudness in LUFS, loudness range in LU, true peak in dBTP, length in minutes."""
    out = subprocess.run(
        ["ffmpeg", "-hide_banner", "-nostats", "-i", str(file), "-af", "ebur128=peak=true", "-f", "null", "-"],
        capture_output=True, text=True, check=True).stderr
    tail = out[out.rindex("Summary:"):]
    values = [
        float(re.search(pattern, tail).group(1))
        for pattern in (r"I:\s+(-?[\d.]+) LUFS", r"LRA:\s+([\d.]+) LU", r"Peak:\s+(-?[\d.]+) dBFS")]
    hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", out).groups()
    return (*values, 60 * int(hours) + int(minutes) + float(seconds) / 60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("score")
    parser.add_argument("--games", default="40")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rules", default="score,morning,night")
    parser.add_argument("--pianos", default="modal,grand")
    parser.add_argument("--game", default="classic")
    parser.add_argument("--median", default="4")
    parser.add_argument("--settings", default="even,concert")
    options = parser.parse_args()
    holds = True
    for rules, setting in itertools.product(options.rules.split(","), options.settings.split(",")):
        loud = []
        for piano in options.pianos.split(","):
            with tempfile.TemporaryDirectory() as folder:
                wav = Path(folder) / "play.wav"
                subprocess.run(
                    [options.score, "simulate", "--games", options.games, "--seed", options.seed, "--score-rules", rules,
                     "--rules", options.game, "--median", options.median, "--piano", piano, "--loudness", setting,
                     "--wav", str(wav)], check=True)
                loudness, spread, peak, minutes = measure(wav)
            good = abs(loudness + 20) <= 2 and peak <= -1 and spread <= {"even": 12, "concert": 20}[setting]
            holds = holds and good
            loud.append(loudness)
            print(f"{'ok ' if good else 'NO '} {rules}, {piano}, {setting}: {options.games} games, {minutes:.0f} min: "
                  f"{loudness} LUFS, LRA {spread} LU, true peak {peak} dBTP", flush=True)
        if max(loud) - min(loud) > 1:
            holds = False
            print(f"NO  {rules}, {setting}: the pianos are {max(loud) - min(loud):.1f} LU apart, allowed is 1")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
