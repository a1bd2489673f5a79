#!/usr/bin/env python3
"""Trains a small agent against level 2 for a minute, and plays it against the arena's level 2 until the SPRT decides.

    ALINA_ARENA=.build/release/alina-arena PYTHONPATH=python python3 python/examples/train_and_play.py [RULES [SECONDS]]
"""

import os
import subprocess
import sys
import tempfile

from alina_arena.agent import train
from alina_arena.batch import SIDES, find_engine

rules = sys.argv[1] if len(sys.argv) > 1 else "classic"
if rules not in SIDES:
    sys.exit(f"train_and_play: {rules}: {', '.join(SIDES)}")
agent = train(rules, "levels:2", seconds=float(sys.argv[2]) if len(sys.argv) > 2 else 60)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "agent.npz")
    agent.save(path)
    command = f"cmd:{sys.executable} -m alina_arena.agent {path}"
    arguments = ["run", "--rules", rules, "--x", command, "--o", "levels:2", "--openings", "random:2"]
    arguments += ["--games", "2000", "--sprt", "elo0=0,elo1=50"]
    sys.exit(subprocess.run([find_engine()] + arguments).returncode)
