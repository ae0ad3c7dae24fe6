import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { awaitEngine } from "@/server/clusters/connector/awaitEngine";
import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { ProcessConnection } from "@/server/processes/processConnection";
import { createProcessHost, type ProcessHost } from "@/server/processes/processHost";
import { killEngines, recordedEngines } from "@/server/processes/testing/recordedEngines";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { processTree } from "../lib/processTree";
import { connectionOf, type EngineKind, NODE } from "./connections";
import type { Answering } from "./questions";

/** An engine that serves, started by the process connector. */
export interface RealEngine {
  readonly id: string;
  readonly kind: EngineKind;
  readonly model: string;
  readonly url: string;
  /** From the start to the first answer. */
  readonly loadSeconds: number;
  readonly command: readonly string[];
  /** Cores that its processes may run on, as the system shows them. */
  readonly cores: string;
}

/** vLLM compiles at its first start. */
const LOAD_LIMIT_MS = 900_000;
const JUDGE_LIMIT_MS = 60_000;
const LOOK_MS = 1_000;

/** The order of a model on one core of this host, under the id that a plan with that placement gives it. */
export function orderOn(model: string, core: number): EngineOrder {
  const placements = [{ node: NODE, gpus: [core] }];
  const served = { model, precision: "bf16" } as const;
  const shape = { tp: 1, pp: 1 };
  return { id: engineId(served, shape, placements), ...served, gpu: PROCESSOR_CARD, ...shape, placements };
}

/** Ends the bench, and with it its engines, on a signal. */
export function endOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
}

/** The engines of one kind on this host, as the product's process connector runs them. They end with the bench. */
export class RealEngines {
  readonly #kind: EngineKind;
  readonly #folder: string;
  readonly #connection: ProcessConnection;
  readonly #host: ProcessHost;
  readonly #up = new Map<string, RealEngine>();

  private constructor(kind: EngineKind, folder: string, connection: ProcessConnection) {
    this.#kind = kind;
    this.#folder = folder;
    this.#connection = connection;
    this.#host = createProcessHost(connection, { folder, gpuCards: () => ({}), environment: process.env });
    process.once("exit", () => {
      killEngines(folder);
      this.#host.release?.();
    });
  }

  /** @param folder for records and logs, with none but such folders beside it; engines that a killed bench left there are ended. */
  static async open(kind: EngineKind, models: readonly PreparedModel[], folder: string): Promise<RealEngines> {
    mkdirSync(folder, { recursive: true });
    const engines = new RealEngines(kind, folder, await connectionOf(kind, models));
    for (const { order } of recordedEngines(folder)) await engines.#stop(order.id);
    return engines;
  }

  /**
   * Stops engines that are not ordered, starts those that do not run, and waits until all serve.
   *
   * @returns them in the order of the orders, and which of them were started now.
   * @throws Error with what the connector says of one that cannot be started or does not serve, its log included.
   */
  async ensure(
    orders: readonly EngineOrder[],
  ): Promise<{ readonly engines: readonly RealEngine[]; readonly started: readonly RealEngine[] }> {
    for (const id of this.#up.keys()) if (orders.every((order) => order.id !== id)) await this.#stop(id);
    const missing = orders.filter(({ id }) => !this.#up.has(id));
    const beganMs = performance.now();
    for (const order of missing) done(await this.#host.start(order, unwatched()));
    const started = await Promise.all(
      missing.map(async ({ id, model }) => {
        const options = { ...unwatched(), limitMs: LOAD_LIMIT_MS };
        done(await awaitEngine(this.#host, { id, model }, options));
        const engine = { ...this.#found(id), model, loadSeconds: (performance.now() - beganMs) / 1000 };
        this.#up.set(id, engine);
        return engine;
      }),
    );
    return { engines: orders.flatMap(({ id }) => this.#up.get(id) ?? []), started };
  }

  /** Whether all that are ordered run. */
  areUp(orders: readonly EngineOrder[]): boolean {
    return orders.every(({ id }) => this.#up.has(id));
  }

  /** The judge beside the engines, started where it does not run. @throws Error where the connection has none, or it does not answer. */
  async judge(): Promise<Answering> {
    const { judge } = this.#connection;
    if (judge?.url == null) throw new Error("There is no judge: its engine is the add-on real-engine.");
    const untilMs = performance.now() + JUDGE_LIMIT_MS;
    while (performance.now() < untilMs) {
      this.#host.keep?.();
      const answer = await fetch(`${judge.url}/health`).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.ok) return { model: judge.model, url: judge.url };
      await sleep(LOOK_MS);
    }
    throw new Error(`The judge does not answer: see ${join(this.#folder, "beside")}.`);
  }

  /** Ports of the programs beside the engines: the judge and its own engine. */
  get portsBeside(): readonly string[] {
    return this.#connection.beside.map(({ command }) => command[command.indexOf("--port") + 1] ?? "");
  }

  async end(): Promise<void> {
    for (const id of [...this.#up.keys()]) await this.#stop(id);
    this.#host.release?.();
  }

  async #stop(id: string): Promise<void> {
    done(await this.#host.stop(id, unwatched()));
    this.#up.delete(id);
  }

  #found(id: string): Omit<RealEngine, "model" | "loadSeconds"> {
    const record = recordedEngines(this.#folder).find(({ order }) => order.id === id);
    if (record?.process == null) throw new Error(`${id} has no process.`);
    const { port, command, process: own } = record;
    return { id, kind: this.#kind, url: `http://127.0.0.1:${port}`, command, cores: coresOf(own.pid) };
  }
}

const unwatched = () => ({ signal: new AbortController().signal, report: () => undefined });

function done(answer: { readonly ok: true } | { readonly ok: false; readonly message: string }): void {
  if (!answer.ok) throw new Error(answer.message);
}

/** Cores that a process and those below it may run on. */
function coresOf(pid: number): string {
  const each = processTree(pid).flatMap((own) => {
    try {
      return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(`/proc/${own.pid}/status`, "utf8"))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  return [...new Set(each)].sort().join(" and ");
}
