import { setMaxListeners } from "node:events";
import type { FitMeasured, FitMeasuredOptions } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { NextRun, SweepBudget } from "@/solver/calibration/nextRun";
import { findRecipe } from "./askRecipe";
import { closedLoop } from "./closedLoop";
import { type EngineCounters, engineCounters, foreignRequests } from "./engineCounters";
import type { InspectedEngine } from "./inspectEngine";
import { loadAgent, type MeasuredTarget } from "./measuredTarget";
import { BEYOND_LIMIT, contextOf, Sweep, type SweepRequest } from "./sweep";

/** What a measurement is asked for. */
export interface MeasureRequest extends SweepRequest {
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

/** Requests in flight without a known limit of the engine. */
const MOST_CONCURRENCY = 64;

/** An engine is watched so long for the requests of others before it gets load. */
const WATCH_MS = 2_000;

/** What a person can do about an engine whose answers have other lengths. */
const wayOut =
  " A measurement asks for answers of exact lengths by min_tokens and ignore_eos. An engine that honours neither can be attached, but plans use the built-in tables, or a profile that you import.";

/** Failures in a row after which there is nothing to measure. */
const HOPELESS = 4;

/** The load of a measurement: what `measureEngine` sends at most. */
export function announce({
  inspected,
  budget,
  mostConcurrency,
}: Pick<MeasureRequest, "inspected" | "budget" | "mostConcurrency">): Announcement {
  return { budget, mostConcurrency, contextTokens: contextOf(inspected), showsOthers: showsOthers(inspected) };
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
          return {
            kind: "refused",
            reason: "failing",
            message: `${HOPELESS} runs in a row failed: ${ended.message}.${ended.reason === "lengths" ? wayOut : ""}`,
            runs: sweep.runs,
          };
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
