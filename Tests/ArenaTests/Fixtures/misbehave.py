#!/usr/bin/env python3
"""An engine that misbehaves on purpose: misbehave.py MODE. It plays the first free cell until its second move."""
import os
import subprocess
import sys
import time

mode = sys.argv[1]
CELLS = [c + r for r in "321" for c in "abc"]
moves, turns = [], 0


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if mode == "dies-at-start":
    sys.exit(3)
if mode == "silent":
    time.sleep(1000)
if mode == "grandchildren":
    # Left behind unless the whole session is killed.
    subprocess.Popen(["sleep", "987654"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    subprocess.Popen(["sleep", "987654"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, process_group=0)
if mode == "escape":
    # Out of the session and the group, and no parent any more.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            os.execvp("sleep", ["sleep", "987653"])
        os._exit(0)
    os.wait()
if mode == "comet":
    # A process that is another one before it can be caught; it burns out after ten seconds.
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
        os._exit(0)
while True:
    line = sys.stdin.readline()
    if not line:
        if mode in ("grandchildren", "escape", "comet"):
            time.sleep(1000)
        break
    words = line.split()
    if words[:1] == ["uci"]:
        say("id name misbehave " + mode + "\nuciok")
    elif words[:1] == ["isready"]:
        say("readyok")
    elif words[:1] == ["ucinewgame"]:
        turns = 0
    elif words[:1] == ["position"]:
        moves = words[3:]
    elif words[:1] == ["go"]:
        turns += 1
        if mode == "at-once":
            say("bestmove z9")
        if turns == 2:
            if mode == "crash":
                os.abort()
            elif mode == "exit":
                sys.exit(7)
            elif mode == "hang":
                time.sleep(1000)
            elif mode == "cheat":
                say("bestmove " + moves[0])
            elif mode == "nonsense":
                say("bestmove z9")
            elif mode == "no-move":
                say("bestmove")
            elif mode == "binary":
                sys.stdout.buffer.write(bytes(range(256)) + b"\n")
                sys.stdout.flush()
            elif mode == "flood":
                while True:
                    say("info string la la la la la la la la la la la la la la")
            elif mode == "close":
                os.close(1)
                time.sleep(1000)
            elif mode == "late":
                time.sleep(0.4)
            elif mode == "megabyte":
                sys.stdout.write("x" * (1 << 20))
                sys.stdout.flush()
                time.sleep(1000)
        say("bestmove " + [c for c in CELLS if c not in moves][0])
    elif words[:1] == ["quit"]:
        break
