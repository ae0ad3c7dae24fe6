import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import type { RecordedStart } from "@/server/engines/testing/recordedEngine";

/** How long a start may take on a machine with other work, and an end. */
const START_LIMIT_MS = 900_000;
const END_LIMIT_MS = 30_000;

const LOOK_MS = 250;

/** For an engine on a processor: 1 GiB of KV cache, one thread, and no request to the outside. */
const ENVIRONMENT = {
  VLLM_CPU_KVCACHE_SPACE: "1",
  VLLM_CPU_OMP_THREADS_BIND: "nobind",
  OMP_NUM_THREADS: "1",
  VLLM_NO_USAGE_STATS: "1",
  HF_HUB_OFFLINE: "1",
};

export interface VllmStart {
  /** Folder of the virtual environment. */
  readonly program: string;
  readonly port: number;
  readonly name: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A vLLM that was started, up or ended. */
export interface StartedVllm {
  readonly start: RecordedStart;
  readonly isUp: boolean;
  end(): Promise<void>;
}

/** Starts a vLLM, in a process group of its own, and waits until it is healthy or has ended. One that is neither in a quarter of an hour is ended. */
export async function startVllm({ program, port, name, args, environment = {} }: VllmStart): Promise<StartedVllm> {
  const lines: string[] = [];
  const beganMs = performance.now();
  // Its processes poll busily: a client on the same cores gets its turn only if they run when nothing else does.
  const child = spawn("chrt", ["-i", "0", join(program, "bin", "vllm"), ...args, "--port", String(port)], {
    env: { ...process.env, ...ENVIRONMENT, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => lines.push(text));
  const health: { seconds: number; status: string }[] = [];
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let status = "";
  while (!hasExited() && status !== "200" && performance.now() - beganMs < START_LIMIT_MS) {
    const now = await healthOf(port);
    if (now !== status) health.push({ seconds: Math.round((performance.now() - beganMs) / 100) / 10, status: now });
    status = now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const isUp = status === "200" && !hasExited();
  if (!isUp) await endGroup(child);
  const log = lines
    .join("")
    .split(/\r?\n|\r/)
    .filter((line) => line.trim() !== "");
  return {
    start: { name, args: [...args, "--port", String(port)], health, exitCode: isUp ? null : child.exitCode, log },
    isUp,
    end: () => endGroup(child),
  };
}

/** The status of `/health`, or the code of the connection's error. */
function healthOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path: "/health", agent: false, timeout: 5000 }, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("late"), { code: "late" })));
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "failed"));
    sent.end();
  });
}

/** Ends a process and those that it started. */
async function endGroup(child: ChildProcess): Promise<void> {
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone.
    }
  };
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    send("SIGTERM");
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, END_LIMIT_MS).unref())]);
  }
  send("SIGKILL");
}
