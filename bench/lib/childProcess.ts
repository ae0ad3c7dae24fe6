import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The one core that it runs on, where the system can pin it; left out: any. */
  readonly core?: number | undefined;
}

/** Starts one of the bundles in `dist` as a separate process, without tokens and ports of the starting process. */
export function startBundle(name: string, { args = [], environment = {}, nodeArgs = [], core }: ChildOptions = {}): ChildProcess {
  const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", `${name}.mjs`);
  const [command, ...words] = pinned([process.execPath, ...nodeArgs, bundle, ...args], core);
  return spawn(command, words, {
    env: { ...process.env, NODE_ENV: "production", WEIR_ADMIN_TOKEN: "", WEIR_STUDIO_PUBLIC_KEY: "none", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

type Command = readonly [string, ...string[]];

/** A command that runs on one core; unchanged without a core. */
export const pinned = (command: Command, core: number | undefined): Command =>
  core === undefined ? command : ["taskset", "-c", String(core), ...command];

/** Whether processes can be pinned to the cores 0 and 1. */
export const canPin = (): boolean => spawnSync("taskset", ["-c", "0,1", "true"]).status === 0 && availableParallelism() >= 2;

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
