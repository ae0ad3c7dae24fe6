import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addonsFolder } from "@/server/addons/addonFolder";
import { freePort } from "@/server/testing/freePorts";
import { processTree } from "../lib/processTree";

export const engineKinds = ["vllm", "llama"] as const;
export type EngineKind = (typeof engineKinds)[number];

/** One engine to start. */
export interface EngineOrder {
  readonly kind: EngineKind;
  /** Name that requests give. */
  readonly model: string;
  /** A Hugging Face folder for vLLM, a GGUF file for llama.cpp. */
  readonly source: string;
  readonly maxSequences: number;
  /** Prompt and answer tokens of one request at most. */
  readonly contextTokens: number;
  /** The core of its model's work. */
  readonly core: number;
  /** The core of its HTTP server, where that is a process of its own. */
  readonly frontEndCore: number;
  /** File of its output. */
  readonly log: string;
}

export interface RealEngine {
  readonly url: string;
  readonly order: EngineOrder;
  /** Seconds from the start to the first healthy answer. */
  readonly loadSeconds: number;
  end(): Promise<void>;
}

const MOST_LOAD_SECONDS = 600;

/** Processor time that only idle cores give: engines poll busily, and would starve gateway and client otherwise. */
const IDLE = ["chrt", "-i", "0"];

/** vLLM's program: `WEIR_VLLM` names it or the virtual environment that holds it; null without one. */
export function vllmProgram(environment: NodeJS.ProcessEnv = process.env): string | null {
  const given = environment.WEIR_VLLM;
  if (given === undefined || given === "") return null;
  const within = join(given, "bin", "vllm");
  return existsSync(within) ? within : given;
}

/** Whether an engine of a kind can be started here, or how it can be had. */
export function isEngineThere(kind: EngineKind): { readonly ok: true } | { readonly ok: false; readonly message: string } {
  if (kind === "vllm") {
    const program = vllmProgram();
    if (program === null) return { ok: false, message: "WEIR_VLLM names no vLLM." };
    return existsSync(program) ? { ok: true } : { ok: false, message: `WEIR_VLLM names ${program}, which is not there.` };
  }
  const addon = join(addonsFolder(process.env), "real-engine", "addon.json");
  return existsSync(addon) ? { ok: true } : { ok: false, message: "install it with weir add real-engine." };
}

/** Process groups of engines that run; they end with the bench, however it ends. */
const running = new Set<number>();
process.once("exit", () => {
  for (const pid of running) signalGroup(pid, "SIGKILL");
});

/** Ends the bench, and with it its engines, on a signal. */
export function endOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
}

/**
 * Starts an engine in a process group of its own and waits until it is healthy.
 *
 * @throws when it ends before, or is not healthy in ten minutes; the message has the last lines of its output.
 */
export async function startEngine(order: EngineOrder): Promise<RealEngine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedMs = performance.now();
  const child = launched(order, port);
  if (child.pid !== undefined) running.add(child.pid);
  const end = (): Promise<void> => endGroup(child);
  try {
    await healthy(child, url, order);
    if (order.kind === "vllm") await placeOnCores(child.pid ?? 0, order);
  } catch (error) {
    await end();
    throw error;
  }
  return { url, order, loadSeconds: (performance.now() - startedMs) / 1000, end };
}

function launched(order: EngineOrder, port: number): ChildProcess {
  const { kind, model, source, maxSequences, contextTokens, core, frontEndCore } = order;
  const cores = core === frontEndCore || kind === "llama" ? String(core) : `${core},${frontEndCore}`;
  const command = kind === "vllm" ? vllmCommand(order, port) : llamaCommand();
  const output = createWriteStream(order.log);
  const [program = "", ...args] = ["taskset", "-c", cores, ...IDLE, ...command];
  const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...ONE_THREAD } });
  child.stdout?.pipe(output);
  child.stderr?.pipe(output);
  return child;

  function llamaCommand(): readonly string[] {
    const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "engine.mjs");
    const own = ["--model", source, "--alias", model, "--host", "127.0.0.1", "--port", String(port), "--threads", "1"];
    return [process.execPath, bundle, ...own, "--sequences", String(maxSequences), "--context", String(contextTokens)];
  }
}

/** vLLM's settings for one core and without a network. */
const ONE_THREAD = {
  VLLM_CPU_KVCACHE_SPACE: "1",
  VLLM_CPU_OMP_THREADS_BIND: "nobind",
  OMP_NUM_THREADS: "1",
  VLLM_NO_USAGE_STATS: "1",
  HF_HUB_OFFLINE: "1",
};

function vllmCommand({ model, source, maxSequences, contextTokens }: EngineOrder, port: number): readonly string[] {
  const program = vllmProgram();
  if (program === null) throw new Error("WEIR_VLLM names no vLLM.");
  return [
    ...[program, "serve", source, "--served-model-name", model, "--dtype", "float32", "--host", "127.0.0.1", "--port", String(port)],
    ...["--max-model-len", String(contextTokens), "--max-num-seqs", String(maxSequences)],
  ];
}

async function healthy(child: ChildProcess, url: string, { kind, log }: EngineOrder): Promise<void> {
  const untilMs = performance.now() + 1000 * MOST_LOAD_SECONDS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${kind} ended before it was up: ${lastLines(log)}`);
    if (performance.now() > untilMs) throw new Error(`${kind} was not up after ${MOST_LOAD_SECONDS} s: ${lastLines(log)}`);
    const answer = await fetch(`${url}/health`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await sleep(500);
  }
}

/** vLLM's HTTP server on one core, the processes that compute on the other. */
async function placeOnCores(pid: number, { core, frontEndCore }: EngineOrder): Promise<void> {
  for (const { pid: own, commandLine } of processTree(pid)) {
    const to = /VLLM::|EngineCore|Worker/.test(commandLine) ? core : frontEndCore;
    const set = spawn("taskset", ["-a", "-c", "-p", String(to), String(own)], { stdio: "ignore" });
    await new Promise((resolve) => set.once("exit", resolve));
  }
}

function lastLines(log: string): string {
  try {
    return readFileSync(log, "utf8").trim().split("\n").slice(-6).join(" | ");
  } catch {
    return "it wrote nothing";
  }
}

/** Ends a process group: politely, then by force. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const gone = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
  signalGroup(pid, "SIGTERM");
  await Promise.race([gone, sleep(15_000)]);
  // Children of a group whose first process has ended may live on.
  signalGroup(pid, "SIGKILL");
  running.delete(pid);
  await gone;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
