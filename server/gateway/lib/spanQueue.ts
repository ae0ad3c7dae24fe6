import type { BatchSpanProcessor, ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { Tally } from "./tally";

/** Spans held until a receiver has them: ten seconds of 200 requests/s through two judged stages. */
const mostHeld = 16_384;
/** The number of spans in one export. */
const batchSize = 512;

/** By outcome: `exported`, `failed` (sent, but the receiver did not accept it), `dropped` (there was no room). */
export type SpanTally = Tally<"outcome">;

interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  /** The SDK's class, which is loaded only if traces are on. */
  readonly processor: typeof BatchSpanProcessor;
  readonly log: Logger;
  /** Spans held at most; left out: 16,384. */
  readonly most?: number | undefined;
}

/** The SDK's batch processor behind a bound that counts dropped spans, so that a receiver that is down costs bounded memory. */
export class SpanQueue implements SpanProcessor {
  readonly spans: SpanTally = new Tally(["outcome"]);
  readonly #batches: BatchSpanProcessor;
  readonly #most: number;
  readonly #log: Logger;
  /** Spans that wait or are being sent. */
  #held = 0;
  #failing = false;

  constructor({ exporter, processor, log, most = mostHeld }: SpanQueueOptions) {
    this.#most = most;
    this.#log = log;
    for (const outcome of ["exported", "failed", "dropped"]) this.spans.inc({ outcome }, 0);
    const counted: SpanExporter = {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.#settled(spans.length, result.error);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
    this.#batches = new processor(counted, { maxQueueSize: most, maxExportBatchSize: Math.min(batchSize, most) });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#held >= this.#most) {
      this.spans.inc({ outcome: "dropped" });
      return;
    }
    this.#held += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #settled(count: number, error: Error | undefined): void {
    this.#held -= count;
    this.spans.inc({ outcome: error === undefined ? "exported" : "failed" }, count);
    if (error !== undefined && !this.#failing) this.#log.warn({ reason: error.message }, "the receiver of traces rejects spans");
    this.#failing = error !== undefined;
  }
}
