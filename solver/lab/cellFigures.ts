import type { ProgramOutcome } from "../cluster/programOutcome";
import { mean, quantileOfSorted } from "../numeric/quantile";
import type { ProgramSample } from "../workflow/programSample";
import type { LabCell, SecondsPerTokenQuantiles } from "./labCell";
import { percentiles } from "./percentiles";
import { workflowFigures } from "./workflowFigures";

/** The part of a cell that follows from its programs' outcomes. */
export type CellFigures = Omit<LabCell, "system" | "rate" | "seed" | "digest">;

const TENTHS = 10;

/** Finishes between which throughput is measured, as shares of all: without the filling and draining at both ends of a run. */
const MIDDLE = { from: 0.2, to: 0.8 };

/**
 * Summarises the outcomes of a sample's programs. Throughput is that of the middle of the finishes, and a program's cost is that of
 * the engines between two of these.
 *
 * @param usdPerHour price of all engines together.
 * @returns null where no program was completely served: then there are no means.
 */
export function cellFigures(outcome: ProgramOutcome, sample: ProgramSample, usdPerHour: number): CellFigures | null {
  const { endToEndSeconds, outputTokens, queueSeconds, quality } = outcome;
  const programs = endToEndSeconds.length;
  const served = Array.from(endToEndSeconds.keys()).filter((program) => Number.isFinite(endToEndSeconds[program] ?? Number.NaN));
  if (served.length === 0) return null;
  const of = (values: ArrayLike<number>): Float64Array => Float64Array.from(served, (program) => values[program] ?? 0);
  const latency = of(endToEndSeconds);
  const known = of(quality).filter((value) => !Number.isNaN(value));
  const perToken = latency.map((seconds, at) => seconds / Math.max(1, outputTokens[served[at] ?? 0] ?? 0));
  const queue = of(queueSeconds);
  const finishSeconds = latency.map((seconds, at) => seconds + (sample.arrivalSeconds[served[at] ?? 0] ?? 0));
  const programsPerSecond = middleRate(finishSeconds);
  return {
    programs,
    requests: sample.program.length,
    unserved: outcome.unserved,
    meanSeconds: mean(latency),
    latencyQuantiles: percentiles(latency),
    meanSecondsPerToken: mean(perToken),
    secondsPerTokenQuantiles: tailOf(perToken),
    meanQueueSeconds: mean(queue),
    queueShare: mean(queue.map((seconds, at) => seconds / (latency[at] ?? 1))),
    longestWaitSeconds: outcome.waitSeconds.reduce((most, seconds) => (seconds > most ? seconds : most), 0),
    queueByLength: byLength(served, outcome),
    quality: known.length === 0 ? null : mean(known),
    workflows: workflowFigures(outcome, sample),
    programsPerSecond,
    spanSeconds: finishSeconds.reduce((most, at) => Math.max(most, at), 0) - (sample.arrivalSeconds[0] ?? 0),
    usdPerProgram: usdPerHour / 3600 / programsPerSecond,
    preemptions: outcome.preemptions,
    preemptedShare: outcome.preemptedRequests / Math.max(1, answeredRequests(outcome)),
    promotions: outcome.promotions,
    models: modelShares(outcome, sample),
  };
}

function tailOf(values: Float64Array): SecondsPerTokenQuantiles {
  const ascending = values.slice().sort();
  const at = (share: number): number => quantileOfSorted(ascending, share);
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
}

const answeredRequests = ({ model }: ProgramOutcome): number => model.reduce((sum, index) => sum + (index >= 0 ? 1 : 0), 0);

/** Programs a second between the finishes at both ends of the middle; with fewer than a handful, or all at one time, over the whole run. */
function middleRate(finishSeconds: Float64Array): number {
  const ascending = finishSeconds.slice().sort();
  const last = ascending.length - 1;
  const [from, to] = [Math.floor(MIDDLE.from * last), Math.ceil(MIDDLE.to * last)];
  const span = (ascending[to] ?? 0) - (ascending[from] ?? 0);
  return span > 0 ? (to - from) / span : ascending.length / (ascending[last] ?? 1);
}

/** Programs by their output length, in tenths of equal number; of equal lengths the earlier first. */
function byLength(served: readonly number[], { outputTokens, queueSeconds }: ProgramOutcome): LabCell["queueByLength"] {
  const tokensOf = (program: number | undefined): number => outputTokens[program ?? -1] ?? 0;
  const byTokens = [...served].sort((a, b) => tokensOf(a) - tokensOf(b) || a - b);
  return Array.from({ length: TENTHS }, (_, tenth) => {
    const part = byTokens.slice(Math.floor((tenth * byTokens.length) / TENTHS), Math.floor(((tenth + 1) * byTokens.length) / TENTHS));
    return {
      mostTokens: tokensOf(part.at(-1)),
      programs: part.length,
      meanQueueSeconds: mean(part.map((program) => queueSeconds[program] ?? 0)),
    };
  }).filter(({ programs }) => programs > 0);
}

/** Over the models that have engines: shares of the requests that were answered. */
function modelShares({ model, busyShare, fullShare }: ProgramOutcome, { models }: ProgramSample): LabCell["models"] {
  const answered = models.map(() => 0);
  for (const index of model) if (index >= 0) answered[index] = (answered[index] ?? 0) + 1;
  const all = answered.reduce((sum, count) => sum + count, 0);
  return models.map((name, index) => ({
    model: name,
    share: all === 0 ? 0 : (answered[index] ?? 0) / all,
    busyShare: busyShare[index] ?? 0,
    fullShare: fullShare[index] ?? 0,
  }));
}
