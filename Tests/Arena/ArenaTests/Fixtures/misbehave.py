#!/usr/bin/env python3
"""An engine that misbehaves on purpose: misbehave.py MODE. It plays the first free cell; many modes misbehave at its second move."""
import os
import subprocess
import sys
import time

mode = sys.argv[1]
CELLS = [c + r for r in "321" for c in "abc"]
moves, turns = [], 0


def note(text, name=None):
    """Appends by one write, because several engines share the file."""
    descriptor = os.open(name or sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if mode == "dies-at-start":
    sys.exit(3)
if mode == "silent":
    time.sleep(1000)
if mode == "grandchildren":
    # Both children survive the engine unless its whole session is killed.
    subprocess.Popen(["sleep", "987654"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    subprocess.Popen(["sleep", "987654"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, process_group=0)
if mode == "escape":
    # The process is in a new session and process group, and its parent ends at once.
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
    # Forks again and again, so that the process id changes before the process can be killed. Stops after ten seconds.
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
        os._exit(0)
if mode == "busy":
    note("s")
if mode == "polite":
    sys.stderr.write(os.environ.get("ALINA_TEST", "") + "\n")
games = 0
while True:
    line = sys.stdin.readline()
    if not line:
        if mode in ("grandchildren", "escape", "comet"):
            time.sleep(1000)
        break
    words = line.split()
    if words[:1] == ["uci"]:
        names = {"nameless": "", "accents": "e" + "\u0301" * 1500, "reversed": "a\u202eb\u200dc"}
        say("id name " + names.get(mode, "misbehave " + mode) + "\nuciok")
    elif words[:1] == ["isready"]:
        if mode == "exits-at-isready" and games > 0:
            sys.exit(5)
        say("readyok")
        if mode == "punctual":
            note("+")
    elif words[:1] == ["setoption"] and mode == "polite":
        note(line, "said")
    elif words[:1] == ["ucinewgame"]:
        turns = 0
        games += 1
    elif words[:1] == ["position"]:
        moves = words[3:]
    elif words[:1] == ["go"]:
        turns += 1
        if mode == "told":
            note(line)
        if mode == "processors":
            note(f"{len(os.sched_getaffinity(0))}\n")
        if mode == "together":
            if turns == 1:
                note("+")
            while os.path.getsize(sys.argv[2]) < 2:
                time.sleep(0.01)
        if mode == "patient" and moves:
            # In the n-th game, answers only once the file has n bytes. The other engine, in mode `afterthought`, writes a byte in each game
            # after a second move that was not asked for.
            while os.path.getsize(sys.argv[2]) < games:
                time.sleep(0.01)
        if mode == "busy":
            note("+")
            time.sleep(0.002)
            note("-")
        if mode == "polite":
            say("info depth 3 score cp -7 nodes 5")
        if mode == "hangs-after-b2":
            if moves[0] == "b2":
                time.sleep(3600)
            say("bestmove z9")
        if mode == "latin":
            sys.stdout.buffer.write("info string caf\u00e9\n".encode("latin-1"))
        if mode == "tardy":
            time.sleep(0.05)
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
        move = [c for c in CELLS if c not in moves][0]
        if mode == "deaf" and turns == 1:
            # The input is closed before the answer, because the arena may send the next line as soon as it has the answer.
            os.close(0)
        say((" bestmove\t" if mode == "tabs" else "bestmove ") + move + ("\nbestmove " + move if mode == "twice" and turns == 1 else ""))
        if mode == "afterthought" and turns == 1:
            time.sleep(0.02)
            say("bestmove " + move)
            note("+")
        if mode == "deaf":
            time.sleep(1000)
        if mode == "between" and turns == 1:
            sys.exit(9)
    elif words[:1] == ["quit"]:
        if mode == "busy":
            note("e")
        if mode == "polite":
            note("quit\n", "said")
        break
