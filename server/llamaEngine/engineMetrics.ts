import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FinishReason } from "./request";

/** Buckets of small models on a processor, where a token takes from a fraction of a millisecond, up to long answers in a queue. */
const tokenBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const finishReasons = ["stop", "length", "cancelled", "stopped", "error"] as const;
/** How a request ended: as its answer did, or before its end. */
export type FinishedAs = FinishReason | (typeof finishReasons)[number];

const refusalReasons = ["bad-request", "queue-full", "unavailable"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Values at a scrape. */
interface EngineLevels {
  readonly running: number;
  readonly waiting: number;
  readonly cachedTokens: number;
}

export interface EngineMetrics {
  /** It is in the queue. */
  accepted(): void;
  refused(reason: RefusalReason): void;
  /** It got a sequence. */
  started(queueSeconds: number): void;
  promptDone(promptTokens: number): void;
  firstToken(seconds: number): void;
  nextToken(gapSeconds: number): void;
  finished(request: FinishedRequest): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
}

interface FinishedRequest {
  readonly as: FinishedAs;
  readonly seconds: number;
  /** Between its first and last token. */
  readonly decodeSeconds: number;
  readonly outputTokens: number;
}

export interface MetricsOptions {
  readonly model: string;
  readonly sequences: number;
  readonly contextTokens: number;
  readonly levels: () => EngineLevels;
}

/** The metrics of one engine under its own names. Times of requests that did not end as their answer does are not observed. */
export function createEngineMetrics({ model, sequences, contextTokens, levels }: MetricsOptions): EngineMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ model });
  const registers = [registry];
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    new Histogram({ name: `weir_engine_${name}`, help, buckets: [...buckets], registers });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `weir_engine_${name}`, help, labelNames: [...labelNames], registers });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `weir_engine_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const capacity = sequences * contextTokens;

  gauge("requests_running", "Requests that have a sequence.", () => levels().running);
  gauge("requests_waiting", "Requests that wait for a sequence.", () => levels().waiting);
  gauge("kv_cache_use_ratio", "Share of the KV cache that holds tokens, 0 to 1.", () => levels().cachedTokens / capacity);
  gauge("kv_cache_tokens", "Tokens for which the KV cache has room, over all sequences.", () => capacity);
  gauge("max_sequences", "Requests that run at once at most.", () => sequences);

  const accepted = counter("requests_total", "Requests that were taken into the queue.");
  const refused = counter("requests_refused_total", "Requests that were not taken.", ["reason"]);
  const finished = counter("requests_finished_total", "Requests that have ended, by how.", ["reason"]);
  for (const reason of refusalReasons) refused.inc({ reason }, 0);
  for (const reason of finishReasons) finished.inc({ reason }, 0);
  const prompt = counter("prompt_tokens_total", "Tokens of prompts that were evaluated.");
  const generated = counter("generation_tokens_total", "Tokens that were generated.");
  const queued = histogram("queue_seconds", "Seconds from arrival to a sequence.", requestBuckets);
  const first = histogram("time_to_first_token_seconds", "Seconds from arrival to the first token.", requestBuckets);
  const gaps = histogram("inter_token_seconds", "Seconds between a token and the next one.", tokenBuckets);
  const perToken = histogram("time_per_output_token_seconds", "Mean seconds per token after the first, of each request.", tokenBuckets);
  const endToEnd = histogram("request_seconds", "Seconds from arrival to the end of the answer.", requestBuckets);

  return {
    accepted: () => accepted.inc(),
    refused: (reason) => refused.inc({ reason }),
    started: (seconds) => queued.observe(seconds),
    promptDone: (tokens) => prompt.inc(tokens),
    firstToken(seconds) {
      generated.inc();
      first.observe(seconds);
    },
    nextToken(seconds) {
      generated.inc();
      gaps.observe(seconds);
    },
    finished({ as, seconds, decodeSeconds, outputTokens }) {
      finished.inc({ reason: as });
      if (as !== "stop" && as !== "length") return;
      endToEnd.observe(seconds);
      if (outputTokens > 1) perToken.observe(decodeSeconds / (outputTokens - 1));
    },
    text: () => registry.metrics(),
  };
}
