#!/usr/bin/env python3
"""refuse.py PROGRAM [ARGUMENT…]: runs a bot against a match server that refuses to pair it.

Refuses the first request with `busy` and the second with `occupied`, after which a bot may try again, and the third with
`bad_request`. Prints the name of each request, and exits with the bot's code."""
import json
import socket
import subprocess
import sys

listener = socket.create_server(("127.0.0.1", 0))
bot = subprocess.Popen(sys.argv[1:] + ["--connect", f"127.0.0.1:{listener.getsockname()[1]}"])
lines = listener.accept()[0].makefile("rw", encoding="utf-8", newline="\n")
refusals = [("busy", "in a moment"), ("occupied", "in a moment"), ("bad_request", "no such game")]
you = {"name": "guest-bot", "rating": 1500, "guest": True}


def answer(message, **fields):
    lines.write(json.dumps({"re": message["id"], **fields}) + "\n")
    lines.flush()


for message in map(json.loads, lines):
    if message["t"] == "hello":
        answer(message, t="welcome", v=2, session="s", resume="r", you=you, rd=350, hb=60000, limits=[20, 40], nodes=[], matches=[], now=0)
    elif message["t"] in ("seek", "join"):
        print(message["t"], flush=True)
        code, text = refusals.pop(0)
        answer(message, t="err", code=code, msg=text)
    elif message["t"] == "bye":
        break
sys.exit(bot.wait())
