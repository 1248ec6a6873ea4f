"""How long MarkItDown takes for each file of a judged folder, and how many of its facts it finds.

    python markitdown_times.py FOLDER > times.json

Import and a first run over all files are left out; the best of three runs counts. For the
comparison in docs/parsing.md only; the product never uses it.
"""

import json
import logging
import sys
import time
import unicodedata
import warnings
from pathlib import Path

from markitdown import MarkItDown

RUNS = 3
INVISIBLE = {
    0xAD, 0xFEFF, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A),
}


def squeeze(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if not c.isspace() and ord(c) not in INVISIBLE).lower()


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    folder = Path(sys.argv[1])
    reader = MarkItDown()
    results = {}
    for line in (folder / "manifest.jsonl").read_text().splitlines():
        entry = json.loads(line)
        name = entry["file"]
        if entry.get("expect"):
            continue
        seconds = []
        text = ""
        try:
            for _ in range(1 + RUNS):
                start = time.perf_counter()
                text = reader.convert(str(folder / name)).text_content
                seconds.append(time.perf_counter() - start)
        except Exception:  # Whatever it is: this file is not read.
            continue
        plain = squeeze(text)
        facts = [fact for fact in entry.get("facts", []) if not fact.get("optional")]
        found = sum(squeeze(fact["text"]) in plain for fact in facts)
        results[name] = {"seconds": min(seconds[1:]), "found": found, "characters": len(plain)}
    json.dump(results, sys.stdout, indent=1)


main()
