import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import { promptText } from "@/server/load/promptText";
import { quantile } from "@/solver/numeric/quantile";
import { drawSample } from "@/solver/workload/sample";
import type { Workload } from "@/solver/workload/workload";
import { Clients, type Reply } from "../faults/clients";

export interface RollOutLoadOptions {
  readonly gatewayUrl: string;
  readonly workload: Workload;
  /** Per engine second. */
  readonly requestsPerSecond: number;
  readonly timeScale: number;
  /** Ends the load where its run is aborted. */
  readonly signal: AbortSignal;
}

/** Clients' results of the requests that they sent in one phase; latencies in engine seconds. */
export interface PhaseReport {
  readonly phase: string;
  readonly requests: number;
  readonly failed: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
}

interface Seen {
  readonly phase: string;
  readonly reply: Reply;
  readonly seconds: number;
}

/** Longer than any run. */
const mostRequests = 100_000;

/**
 * Clients of the cascade that send at the workload's arrivals whether or not they were answered before; every other one gets its answer
 * streamed, and half of those live where the policy allows.
 */
export class RollOutLoad {
  /** The phase of current requests. */
  phase = "before";
  readonly seen: Seen[] = [];
  readonly #clients: Clients;
  readonly #options: RollOutLoadOptions;
  #ended = false;
  readonly #sending: Promise<void>;

  constructor(options: RollOutLoadOptions) {
    this.#options = options;
    this.#clients = new Clients(options.gatewayUrl);
    this.#sending = this.#send();
  }

  /** Sends no more and waits for every answer. */
  async end(): Promise<readonly PhaseReport[]> {
    this.#ended = true;
    await this.#sending;
    this.#clients.close();
    return [...new Set(this.seen.map(({ phase }) => phase))].map((phase) => this.#report(phase));
  }

  /** Errors as clients received them. */
  get failures(): readonly string[] {
    return this.seen.flatMap(({ phase, reply: { outcome, status, said } }) =>
      outcome === "answered" ? [] : [`${phase}: ${outcome} ${status} ${said}`],
    );
  }

  async #send(): Promise<void> {
    const { workload, requestsPerSecond, timeScale, signal } = this.#options;
    const { arrivalSeconds, prompt } = drawSample(workload, { part: "heldOut", requestsPerSecond, requests: mostRequests, seed: 1 });
    const pending = new Set<Promise<void>>();
    const startedMs = performance.now();
    for (let index = 0; !this.#ended && !signal.aborted; ) {
      // Sleeping keeps the clients from taking a core away from the measured processes.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const nowSeconds = ((performance.now() - startedMs) / 1000) * timeScale;
      for (; (arrivalSeconds[index] ?? Number.POSITIVE_INFINITY) <= nowSeconds; index += 1) {
        const dueMs = startedMs + ((arrivalSeconds[index] ?? 0) / timeScale) * 1000;
        const asking = this.#ask(index, prompt[index] ?? 0, dueMs).finally(() => pending.delete(asking));
        pending.add(asking);
      }
    }
    await Promise.all(pending);
  }

  async #ask(index: number, row: number, dueMs: number): Promise<void> {
    const { workload, timeScale } = this.#options;
    const { promptIds, inputTokens } = workload.outcomes;
    const { phase } = this;
    const reply = await this.#clients.chat({
      model: defaultCascade,
      prompt: promptText(promptIds[row] ?? "", inputTokens[row] ?? 0),
      stream: index % 2 === 0,
      streaming: index % 4 === 0 ? "last" : "buffer",
      mostTokens: null,
      leaveAfterMs: null,
    });
    this.seen.push({ phase, reply, seconds: ((performance.now() - dueMs) / 1000) * timeScale });
  }

  #report(phase: string): PhaseReport {
    const own = this.seen.filter((one) => one.phase === phase);
    const seconds = own.flatMap((one) => (one.reply.outcome === "answered" ? [one.seconds] : []));
    return {
      phase,
      requests: own.length,
      failed: own.length - seconds.length,
      p50Seconds: quantile(seconds, 0.5),
      p95Seconds: quantile(seconds, 0.95),
    };
  }
}
