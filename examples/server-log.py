#!/usr/bin/env python3
"""Composes a server's log as it grows: reads its lines, and writes event lines for `alina-score live`.

    tail -f server.log | examples/server-log.py | alina-score live --score-rules examples/server-log.yaml

A line is `LEVEL service: text`; requests are the first voice, everything else the second. Each service has a degree of
its own. Lines less than half a second apart are one event, the worst of them.
"""

import json
import re
import sys
import time
import zlib

LINE = re.compile(r"(?P<level>DEBUG|INFO|WARNING|ERROR)\s+(?P<service>[\w.-]+):\s*(?P<text>.*)")
WORDS = {"WARNING": ["warning"], "ERROR": ["error"]}


def main():
    last, quiet = 0.0, 0
    for text in sys.stdin:
        found = LINE.match(text.strip())
        if not found:
            continue
        now, level = time.monotonic(), found["level"]
        if now - last < 0.5 and level in ("DEBUG", "INFO") and "--every" not in sys.argv:
            continue
        quiet = 0 if level == "ERROR" else quiet + 1
        facts = list(WORDS.get(level, []))
        if re.search(r"\b(timeout|slow|retry)", found["text"]):
            facts.append("slow")
        print(json.dumps({
            "voice": "first" if "request" in found["text"] else "second",
            "degree": zlib.crc32(found["service"].encode()) % 9, "facts": facts,
            "standing": -0.8 if level == "ERROR" else min(quiet / 20, 0.8)}), flush=True)
        last = now


if __name__ == "__main__":
    main()
