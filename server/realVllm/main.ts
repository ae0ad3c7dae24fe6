import { resolve } from "node:path";
import { reasonOf } from "@/server/lib/reasonOf";
import { attachVllm } from "./attachVllm";

const [program = "", stateDir = "", ...flags] = process.argv.slice(2);
const root = process.env.WEIR_ROOT ?? process.cwd();

// The engine that is measured ends with this process.
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => ending.abort(new Error("It was ended before the cluster was whole.")));

try {
  const attached = await attachVllm({
    ...{ program: resolve(program), stateDir: resolve(stateDir), root, signal: ending.signal },
    environment: { ...process.env, WEIR_STATE_DIR: stateDir },
    measures: !flags.includes("--no-measure"),
    say: (line) => process.stderr.write(`${line}\n`),
  });
  if (!attached.ok) process.stderr.write(`${attached.message}\n`);
  process.exitCode = attached.ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}
