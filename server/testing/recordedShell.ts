import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A command as its stub saw it: the GPUs in its environment, and its arguments. */
interface RecordedCall {
  readonly gpus: string;
  readonly args: readonly string[];
}

export interface RecordedRun {
  readonly calls: readonly RecordedCall[];
  readonly status: number | null;
  readonly stderr: string;
  /** What the script left in its working folder: whatever is there, it should not have written. */
  readonly left: readonly string[];
}

/** Writes how it was called to descriptor 3, each word ended by a NUL. */
const recorder = `printf '%s\\0' "$#" "$CUDA_VISIBLE_DEVICES" "$@" >&3`;

/**
 * Runs a script of `vllm` command lines in dash, with no other program in reach.
 *
 * @param stub `function`: one process for the whole script. `program`: a real program, one process for each line.
 */
export function runRecorded(script: string, stub: "function" | "program"): RecordedRun {
  const folder = mkdtempSync(join(tmpdir(), "weir-shell-"));
  try {
    const [bin, work, file, out] = [join(folder, "bin"), join(folder, "work"), join(folder, "script.sh"), join(folder, "calls")];
    for (const one of [bin, work]) mkdirSync(one);
    writeFileSync(join(bin, "vllm"), `#!/bin/sh\n${recorder}\n`, { mode: 0o755 });
    if (stub === "function") rmSync(join(bin, "vllm"));
    const own = stub === "function" ? `vllm() { ${recorder}; }\n` : "";
    writeFileSync(file, `PATH=${bin}\n${own}exec 3> ${out}\n${script}`);
    const checked = spawnSync("sh", ["-n", file], { encoding: "utf8" });
    const run = spawnSync("dash", [file], { cwd: work, encoding: "utf8", maxBuffer: 1 << 28 });
    return {
      calls: readCalls(readFileSync(out, "utf8").split("\0")),
      status: checked.status === 0 ? run.status : checked.status,
      stderr: `${checked.stderr}${run.stderr}${run.stdout}`,
      left: readdirSync(work),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readCalls(words: readonly string[]): readonly RecordedCall[] {
  const calls: RecordedCall[] = [];
  for (let at = 0; at + 1 < words.length; ) {
    const count = Number(words[at]);
    calls.push({ gpus: words[at + 1] ?? "", args: words.slice(at + 2, at + 2 + count) });
    at += 2 + count;
  }
  return calls;
}
