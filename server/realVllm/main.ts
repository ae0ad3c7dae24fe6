import { resolve } from "node:path";
import { reasonOf } from "@/server/lib/reasonOf";
import { attachVllm } from "./attachVllm";

const [program = "", stateDir = ""] = process.argv.slice(2);
const root = process.env.WEIR_ROOT ?? process.cwd();

try {
  const attached = await attachVllm({
    ...{ program: resolve(program), stateDir: resolve(stateDir), root },
    environment: { ...process.env, WEIR_STATE_DIR: stateDir },
    say: (line) => process.stderr.write(`${line}\n`),
  });
  if (!attached.ok) process.stderr.write(`${attached.message}\n`);
  process.exitCode = attached.ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}
