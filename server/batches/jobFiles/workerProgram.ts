/**
 * The program that each worker runs, `worker.py WORKER INPUTS RESULTS`: its sessions of `sessions.json` in turn, each one load of a model,
 * whose results take their name once they are whole. When run again it skips sessions with complete results, and restarts the one that was
 * interrupted. It is the same for every batch: names, models and flags are in the JSON file, and no shell reads them.
 */
export const workerProgram = `"""worker.py WORKER INPUTS RESULTS: runs the sessions of one worker in turn. Results take their name once they
are whole, so that a worker that was cut off passes over what is done and goes on with the next session."""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

worker, inputs, results = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
sessions = json.loads(Path(__file__).with_name("sessions.json").read_text(encoding="utf-8"))
results.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as scratch:
    for session in sessions[worker]:
        name = session["name"]
        done = results / f"{name}.jsonl"
        if done.exists():
            continue
        packed, asked, part = Path(scratch) / "packed", Path(scratch) / f"{name}.jsonl", results / f"{name}.part"
        with packed.open("wb") as whole:
            for piece in sorted(inputs.glob(f"{name}.jsonl.gz.*")):
                whole.write(piece.read_bytes())
        with gzip.open(packed) as lines, asked.open("wb") as plain:
            shutil.copyfileobj(lines, plain)
        status = subprocess.run([*session["command"], "-i", str(asked), "-o", str(part)]).returncode
        if status != 0:
            sys.exit(f"Session {name} ended with status {status}.")
        part.rename(done)
`;
