import { setMaxListeners } from "node:events";
import type { FitMeasured, FitMeasuredOptions } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun, RunPoint } from "@/solver/calibration/measuredRun";
import { isSamePoint, type NextRun, nextRun, type SweepBudget } from "@/solver/calibration/nextRun";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import type { ReplicaShape } from "@/solver/hardware/parallelism";
import { findRecipe } from "./askRecipe";
import { closedLoop, SPREAD } from "./closedLoop";
import { type EngineCounters, engineCounters, foreignRequests, sequenceLimit } from "./engineCounters";
import type { InspectedEngine } from "./inspectEngine";
import { loadAgent, type MeasuredTarget } from "./measuredTarget";
import { repeatNoise } from "./repeatNoise";

/** What a measurement is asked for. */
export interface MeasureRequest {
  readonly target: MeasuredTarget;
  readonly inspected: InspectedEngine;
  /** Ids of the cards that it is filed under. */
  readonly model: string;
  readonly gpu: string;
  readonly shape: ReplicaShape;
  readonly budget: SweepBudget;
  /** Most requests in flight. */
  readonly mostConcurrency: number;
  /** Measure although others use the engine: their load is then part of every figure. */
  readonly servingOthers: boolean;
}

/** The load of a measurement, before any of it is sent. */
export interface Announcement extends Pick<MeasureRequest, "budget" | "mostConcurrency"> {
  readonly contextTokens: number;
  /** Whether the engine's metrics show requests of others. */
  readonly showsOthers: boolean;
}

export type MeasureEvent =
  | { readonly kind: "warming-up" }
  | { readonly kind: "running"; readonly next: NextRun; readonly runs: number; readonly left: SweepBudget }
  | { readonly kind: "ran"; readonly run: MeasuredRun; readonly left: SweepBudget }
  /** A run without a result, and why. */
  | { readonly kind: "left-out"; readonly next: NextRun; readonly message: string }
  | { readonly kind: "fitting"; readonly runs: number };

export type Measured =
  | {
      readonly kind: "measured";
      readonly fit: Extract<FitMeasured, { outcome: "fitted" }>;
      readonly runs: readonly MeasuredRun[];
      /** Whether it was stopped before its budget was used. */
      readonly stopped: boolean;
      readonly used: SweepBudget;
    }
  | {
      readonly kind: "refused";
      readonly reason: "serves-others" | "unknown-load" | "no-completion" | "no-usage" | "too-few-runs" | "failing" | "stopped";
      readonly message: string;
      readonly runs: readonly MeasuredRun[];
    };

export interface MeasureControls {
  /** Ends the load at once; what was measured by then is fitted. */
  readonly signal: AbortSignal;
  onEvent(event: MeasureEvent): void;
  /** Fits runs, in this thread or another. */
  fit(runs: readonly MeasuredRun[], options: FitMeasuredOptions): Promise<FitMeasured> | FitMeasured;
}

/** Assumed of engines that do not say. */
const ASSUMED_CONTEXT = 2048;
const ASSUMED_SEQUENCES = 256;
const ASSUMED_STEP_TOKENS = 2048;

/** Requests in flight without a known limit of the engine, and how far beyond a known one: those wait in the engine, which shows it. */
const MOST_CONCURRENCY = 64;
const BEYOND_LIMIT = 2;

/** An engine is watched so long for the requests of others before it gets load. */
const WATCH_MS = 2_000;

/** Failures in a row after which there is nothing to measure, and runs between two fits that say what is uncertain. */
const HOPELESS = 4;
const RUNS_A_FIT = 6;

/** The load of a measurement: what `measureEngine` sends at most. */
export function announce({
  inspected,
  budget,
  mostConcurrency,
}: Pick<MeasureRequest, "inspected" | "budget" | "mostConcurrency">): Announcement {
  return { budget, mostConcurrency, contextTokens: inspected.contextTokens ?? ASSUMED_CONTEXT, showsOthers: showsOthers(inspected) };
}

/** Whether an engine's metrics show requests of others: those that run, or those that it answered. */
const showsOthers = ({ counters: { running, answered } }: InspectedEngine): boolean => running !== null || answered !== null;

/** Why an engine gets no load although nobody is seen to use it, in a sentence; null: it may get load. */
export const unknownLoad = ({
  target,
  inspected,
  servingOthers,
}: Pick<MeasureRequest, "target" | "inspected" | "servingOthers">): string | null =>
  servingOthers || showsOthers(inspected)
    ? null
    : `${target.url} does not show whether it serves others: it has no metrics that Weir reads. Say that others may be served meanwhile to measure it.`;

/** Most requests in flight where none is asked for. */
export const usualConcurrency = ({ maxSequences }: InspectedEngine): number =>
  maxSequences === null ? MOST_CONCURRENCY : Math.min(MOST_CONCURRENCY, BEYOND_LIMIT * maxSequences);

/**
 * Measures an engine: closed loops at lengths and numbers of requests in flight that `nextRun` chooses, within a budget, and a fit of the
 * measured form to them. Nothing is sent to an engine that serves others, or does not show whether it does, unless `servingOthers`; it
 * ends if others send requests later.
 */
export async function measureEngine(request: MeasureRequest, controls: MeasureControls): Promise<Measured> {
  const { target, inspected, budget, servingOthers } = request;
  const { signal, onEvent } = controls;
  const unknown = unknownLoad(request);
  if (unknown !== null) return { kind: "refused", reason: "unknown-load", message: unknown, runs: [] };
  const startedMs = performance.now();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(1000 * budget.seconds)]);
  // Every request in flight listens.
  setMaxListeners(0, deadline);
  const agent = loadAgent(target, request.mostConcurrency);
  const sweep = new Sweep(request, startedMs);
  try {
    const foreign = servingOthers ? 0 : await watchOthers(target, inspected, signal);
    if (foreign > 0) return othersRefusal(target, foreign, []);
    onEvent({ kind: "warming-up" });
    const found = await findRecipe(target, inspected.served, agent, deadline);
    if (found.kind === "refused") return { kind: "refused", reason: found.reason, message: found.message, runs: [] };
    if (found.kind === "stopped") return endedEarly(signal);
    sweep.spend(found.tokens);
    let failures = 0;
    for (let next = sweep.next(); next !== null && !deadline.aborted; next = sweep.next()) {
      onEvent({ kind: "running", next, runs: sweep.runs.length, left: sweep.left() });
      const before = servingOthers ? null : await engineCounters(target, inspected.version);
      let midway: Promise<EngineCounters> | null = null;
      const onHalf = (): void => {
        midway = engineCounters(target, inspected.version);
      };
      const ended = await closedLoop(next, { url: target.url, recipe: found.recipe, agent, signal: deadline, onHalf });
      sweep.spend(ended.tokens);
      if (ended.kind === "stopped") break;
      sweep.tried.push(next);
      if (ended.kind === "failed") {
        failures += 1;
        onEvent({ kind: "left-out", next, message: ended.message });
        if (failures >= HOPELESS)
          return { kind: "refused", reason: "failing", message: `${HOPELESS} runs in a row failed: ${ended.message}.`, runs: sweep.runs };
        continue;
      }
      failures = 0;
      const others = before === null ? 0 : foreignRequests(before, await engineCounters(target, inspected.version), ended.run.requests);
      if (others > 0) return othersRefusal(target, others, sweep.runs);
      sweep.add(next, ended.run, await midway);
      onEvent({ kind: "ran", run: ended.run, left: sweep.left() });
      if (sweep.isFitDue()) {
        onEvent({ kind: "fitting", runs: sweep.runs.length });
        sweep.learn(await controls.fit(sweep.runs, sweep.options()));
      }
    }
  } finally {
    await agent.destroy();
  }
  onEvent({ kind: "fitting", runs: sweep.runs.length });
  const fit = await controls.fit(sweep.runs, sweep.options());
  if (fit.outcome === "refused") return { kind: "refused", reason: "too-few-runs", message: fit.reason, runs: sweep.runs };
  const used = { seconds: (performance.now() - startedMs) / 1000, tokens: sweep.tokens };
  return { kind: "measured", fit, runs: sweep.runs, stopped: signal.aborted, used };
}

/** Requests of others in an engine that is left alone for a moment. */
async function watchOthers(target: MeasuredTarget, { counters, version }: InspectedEngine, signal: AbortSignal): Promise<number> {
  const first = counters.answered === null ? counters : await engineCounters(target, version);
  const busy = (first.running ?? 0) + (first.waiting ?? 0);
  if (busy > 0) return busy;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, WATCH_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return foreignRequests(first, await engineCounters(target, version), 0);
}

/** It ended while it found out how the engine is asked. */
const endedEarly = (stop: AbortSignal): Measured => ({
  kind: "refused",
  ...(stop.aborted
    ? { reason: "stopped", message: "The measurement was stopped before its first run." }
    : { reason: "too-few-runs", message: "The time of the measurement was over before its first run." }),
  runs: [],
});

const othersRefusal = ({ url }: MeasuredTarget, requests: number, runs: readonly MeasuredRun[]): Measured => ({
  kind: "refused",
  reason: "serves-others",
  message: `${url} serves others: ${requests} request${requests === 1 ? "" : "s"} beside those of the measurement. Measure it when it is free, or say that others may be served meanwhile.`,
  runs,
});

/** What a sweep has measured and may still use. */
class Sweep {
  readonly runs: MeasuredRun[] = [];
  /** The points asked for, in the order of `runs`. */
  readonly asked: RunPoint[] = [];
  readonly tried: RunPoint[] = [];
  tokens = 0;
  private misfits: readonly { readonly run: RunPoint; readonly error: number }[] = [];
  private fittedRuns = 0;
  /** Requests that ran at the moments when others waited in the engine, one for each run with such a moment. */
  private readonly runningBesideWaiting: number[] = [];

  constructor(
    private readonly request: MeasureRequest,
    private readonly startedMs: number,
  ) {}

  /** The engine's limit on sequences; null: none was seen. */
  private get observedSequences(): number | null {
    return sequenceLimit(this.runningBesideWaiting);
  }

  left(): SweepBudget {
    const { budget } = this.request;
    return { seconds: budget.seconds - (performance.now() - this.startedMs) / 1000, tokens: budget.tokens - this.tokens };
  }

  next(): NextRun | null {
    const { contextTokens } = announce(this.request);
    const mostConcurrency = Math.min(this.request.mostConcurrency, BEYOND_LIMIT * (this.observedSequences ?? Number.POSITIVE_INFINITY));
    return nextRun({
      contextTokens,
      spread: SPREAD,
      mostConcurrency,
      left: this.left(),
      done: this.runs,
      tried: this.tried,
      misfits: this.misfits,
    });
  }

  spend(tokens: number): void {
    this.tokens += tokens;
  }

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

  learn(fit: FitMeasured): void {
    this.fittedRuns = this.runs.length;
    if (fit.outcome === "refused") return;
    const errors = fit.keptAside.length > 0 ? fit.keptAside : fit.trained;
    this.misfits = errors.map(({ run, errors: { ttft, tpot, endToEnd } }) => ({
      run,
      error: Math.max(...[ttft, tpot ?? 0, endToEnd].map(Math.abs)),
    }));
  }

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
