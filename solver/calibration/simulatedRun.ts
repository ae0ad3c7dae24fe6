import { tpotSeconds } from "../engine/outcomeSummary";
import { simulateClosedLoop } from "../engine/simulateClosedLoop";
import { type MeasuredEngine, measuredReplica } from "../hardware/measuredEngine";
import { mean, quantile } from "../numeric/quantile";
import { type MeasuredRun, type RunPoint, spreadLengths } from "./measuredRun";
import type { MeasuredTimes } from "./measuredTerms";

/** Most requests of a run that are simulated, per request in flight: the loop repeats itself. */
const MOST_ROUNDS = 12;

/** A run under a pace that varies is simulated so often, each time under other stretches of it, so that its tail is of many. */
const PACED_REPEATS = 20;
/** Stretches between two repeats: longer than any run. */
const STRETCHES_APART = 10_000;

/** Figures of a run as the simulator has them. */
interface SimulatedRun {
  readonly ttftSeconds: number;
  readonly tpotSeconds: number;
  readonly endToEndSeconds: number;
  readonly p95Seconds: number;
}

/** A fitted engine: what a simulation of it needs. */
export type FittedEngine = MeasuredTimes & Pick<MeasuredEngine, "limits" | "paceDeviation">;

/** Predicted over measured, minus 1. */
export interface RunErrors {
  readonly run: MeasuredRun;
  readonly errors: { readonly ttft: number; readonly tpot: number | null; readonly endToEnd: number };
  readonly p95: number;
}

type Run = RunPoint & Pick<MeasuredRun, "requests" | "spread">;

/** The closed loop of a run against an engine with these times and a steady pace. */
export function simulateRun(run: Run, { step, request }: MeasuredTimes, limits: MeasuredEngine["limits"]): SimulatedRun {
  const outcome = loopOf(run, measuredReplica({ step, request, limits }));
  return {
    ttftSeconds: mean(outcome.ttftSeconds),
    tpotSeconds: mean(tpotSeconds(outcome)),
    endToEndSeconds: mean(outcome.endToEndSeconds),
    p95Seconds: quantile(outcome.endToEndSeconds, 0.95),
  };
}

/** How far a fitted engine is off on a run. */
export function errorsOf(run: MeasuredRun, engine: FittedEngine): RunErrors {
  const found = simulateRun(run, engine, engine.limits);
  return {
    run,
    errors: {
      ttft: found.ttftSeconds / run.ttftSeconds - 1,
      tpot: run.tpotSeconds === null ? null : found.tpotSeconds / run.tpotSeconds - 1,
      endToEnd: found.endToEndSeconds / run.endToEndSeconds - 1,
    },
    p95: (pacedTail(run, engine) ?? found.p95Seconds / found.endToEndSeconds) * (found.endToEndSeconds / run.p95Seconds) - 1,
  };
}

/** The p95 over the mean of a run's requests under the engine's pace, over many stretches of it; null: the pace is steady. */
function pacedTail(run: Run, engine: FittedEngine): number | null {
  const replica = measuredReplica(engine);
  const { paceVariation } = replica;
  if (paceVariation === undefined) return null;
  const seconds = Array.from({ length: PACED_REPEATS }, (_, repeat) => {
    const paced = { ...replica, paceVariation: { ...paceVariation, firstStretch: repeat * STRETCHES_APART } };
    return [...loopOf(run, paced).endToEndSeconds];
  }).flat();
  return quantile(Float64Array.from(seconds), 0.95) / mean(seconds);
}

function loopOf(run: Run, replica: ReturnType<typeof measuredReplica>) {
  const { concurrency, requests } = run;
  const count = Math.max(concurrency, Math.min(requests, MOST_ROUNDS * concurrency));
  return simulateClosedLoop(replica, spreadLengths(run, count), { concurrency });
}
