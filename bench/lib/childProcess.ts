import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

interface ChildOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** Starts one of the bundles in `dist` as a separate process, without tokens and ports of the starting process. */
export function startBundle(name: string, { args = [], environment = {}, nodeArgs = [] }: ChildOptions = {}): ChildProcess {
  const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", `${name}.mjs`);
  return spawn(process.execPath, [...nodeArgs, bundle, ...args], {
    env: { ...process.env, NODE_ENV: "production", WEIR_ADMIN_TOKEN: "", WEIR_STUDIO_PUBLIC_KEY: "none", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Resolves with the groups of the first match of `pattern` in a child's output; rejects when the child ends before. */
export function said(child: ChildProcess, pattern: RegExp): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = "";
    const listen = (chunk: Buffer): void => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (!match) return;
      // Its output is still read, or a full pipe would block the child.
      child.stdout?.off("data", listen).resume();
      resolve(match.slice(1));
    };
    child.stdout?.on("data", listen);
    child.once("exit", (code) => reject(new Error(`${child.spawnargs.join(" ")} ended with ${code} before it was up.`)));
    child.once("error", reject);
  });
}

/** Kills a child, even if stopped, and waits until it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
