import type { FitMeasured, FitMeasuredOptions } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun, RunPoint } from "@/solver/calibration/measuredRun";
import { isSamePoint, type NextRun, nextRun, type SweepBudget } from "@/solver/calibration/nextRun";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import type { ReplicaShape } from "@/solver/hardware/parallelism";
import { SPREAD } from "./closedLoop";
import { type EngineCounters, sequenceLimit } from "./engineCounters";
import type { InspectedEngine } from "./inspectEngine";
import type { MeasuredTarget } from "./measuredTarget";
import { repeatNoise } from "./repeatNoise";

/** The engine of a sweep, and the load that it may get. */
export interface SweepRequest {
  readonly target: MeasuredTarget;
  readonly inspected: InspectedEngine;
  /** Ids of the cards that it is filed under. */
  readonly model: string;
  readonly gpu: string;
  readonly shape: ReplicaShape;
  readonly budget: SweepBudget;
  /** Most requests in flight. */
  readonly mostConcurrency: number;
}

/** Assumed of engines that do not say. */
const ASSUMED_CONTEXT = 2048;
const ASSUMED_SEQUENCES = 256;
const ASSUMED_STEP_TOKENS = 2048;

/** Requests in flight over those that the engine runs at once: the others wait in the engine, which shows its limit. */
export const BEYOND_LIMIT = 2;

/** Runs between two fits that say what is uncertain. */
const RUNS_A_FIT = 6;

/** Most tokens of a prompt and its answer: as the engine says, or as is assumed. */
export const contextOf = ({ contextTokens }: Pick<InspectedEngine, "contextTokens">): number => contextTokens ?? ASSUMED_CONTEXT;

/** What a sweep has measured and may still use. */
export class Sweep {
  readonly runs: MeasuredRun[] = [];
  /** The points asked for, in the order of `runs`. */
  private readonly asked: RunPoint[] = [];
  readonly tried: RunPoint[] = [];
  tokens = 0;
  private misfits: readonly { readonly run: RunPoint; readonly error: number }[] = [];
  private fittedRuns = 0;
  /** Requests that ran at the moments when others waited in the engine, one for each run with such a moment. */
  private readonly runningBesideWaiting: number[] = [];

  /** @param startedMs when the measurement began, as `performance.now` counts. */
  constructor(
    private readonly request: SweepRequest,
    private readonly startedMs: number,
  ) {}

  /** The engine's limit on sequences; null: none was seen. */
  private get observedSequences(): number | null {
    return sequenceLimit(this.runningBesideWaiting);
  }

  /** What is left of the budget; below 0 where a run took more than was left. */
  left(): SweepBudget {
    const { budget } = this.request;
    return { seconds: budget.seconds - (performance.now() - this.startedMs) / 1000, tokens: budget.tokens - this.tokens };
  }

  /** The next run within what is left; null: nothing more is worth a run, or fits. */
  next(): NextRun | null {
    const mostConcurrency = Math.min(this.request.mostConcurrency, BEYOND_LIMIT * (this.observedSequences ?? Number.POSITIVE_INFINITY));
    return nextRun({
      contextTokens: contextOf(this.request.inspected),
      spread: SPREAD,
      mostConcurrency,
      left: this.left(),
      done: this.runs,
      tried: this.tried,
      misfits: this.misfits,
    });
  }

  /** Counts tokens that were sent or answered, whether their run has a result or not. */
  spend(tokens: number): void {
    this.tokens += tokens;
  }

  /** Keeps a run. @param midway the engine's counters half-way through it; null: not read. */
  add(asked: RunPoint, run: MeasuredRun, midway: EngineCounters | null): void {
    this.runs.push(run);
    this.asked.push(asked);
    const { running = null, waiting = null } = midway ?? {};
    if (running !== null && waiting !== null && waiting > 0 && running < asked.concurrency) this.runningBesideWaiting.push(running);
  }

  /** Whether the cover is done and new runs came since the last fit: what is uncertain then decides the next runs. */
  isFitDue(): boolean {
    const next = this.next();
    return (next === null || next.why === "uncertain") && this.runs.length - this.fittedRuns >= RUNS_A_FIT && this.left().seconds > 0;
  }

  /** Takes the errors of a fit, near which the next runs are. */
  learn(fit: FitMeasured): void {
    this.fittedRuns = this.runs.length;
    if (fit.outcome === "refused") return;
    const errors = fit.keptAside.length > 0 ? fit.keptAside : fit.trained;
    this.misfits = errors.map(({ run, errors: { ttft, tpot, endToEnd } }) => ({
      run,
      error: Math.max(...[ttft, tpot ?? 0, endToEnd].map(Math.abs)),
    }));
  }

  /** What a fit to its runs needs beside them: where the engine is filed, its limits, and the noise of repeats. */
  options(): FitMeasuredOptions {
    const { inspected, model, gpu, shape, target } = this.request;
    const { counters, contextTokens, maxSequences, maxBatchedTokens, engine, emulated, version } = inspected;
    const limit = (reported: number | null, observed: number | null, assumed: number): MeasuredEngine["limits"]["kvTokens"] => {
      if (reported !== null) return { value: Math.floor(reported), origin: "reported" };
      return observed === null ? { value: assumed, origin: "assumed" } : { value: observed, origin: "observed" };
    };
    const context = limit(contextTokens, null, ASSUMED_CONTEXT);
    const sequences = limit(maxSequences, this.observedSequences, ASSUMED_SEQUENCES);
    return {
      ...{ model, gpu, shape },
      limits: {
        kvTokens: limit(counters.kvTokens, null, context.value * sequences.value),
        maxSequences: sequences,
        maxBatchedTokens: limit(maxBatchedTokens, null, Math.max(ASSUMED_STEP_TOKENS, sequences.value + 1)),
        contextTokens: context,
      },
      noise: repeatNoise(this.runs, (at) => this.asked.findIndex((one) => isSamePoint(one, this.asked[at] ?? one))),
      asOf: new Date().toISOString().slice(0, 10),
      source: `${engine}${version === null ? "" : ` ${version}`} at ${new URL(target.url).host}`,
      emulated,
    };
  }
}
