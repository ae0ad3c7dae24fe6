import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bundled command line, with its state in a folder and further variables, and waits for its end. */
export function weirIn(folder: string, more: Readonly<Record<string, string>> = {}): (...args: readonly string[]) => Promise<Ended> {
  const env = { ...process.env, WEIR_ROOT: root, WEIR_STATE_DIR: join(folder, "state"), ...more };
  return (...args) =>
    new Promise((resolve) => {
      execFile(process.execPath, [join(root, "dist", "weir.mjs"), ...args], { env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
}
