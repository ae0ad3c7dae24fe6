import type { StoredAnswer } from "@/server/store/profileRepository";
import type { LiveEngine, LiveRow } from "@/solver/calibration/liveRows";
import { mean } from "@/solver/numeric/quantile";

/** A row needs so many answers: their mean is known to some ten per cent. */
const LEAST_ANSWERS = 20;

/** What a row needs of an answer. */
interface Timed {
  readonly atMs: number;
  readonly inFlight: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ttftSeconds: number;
  readonly seconds: number;
}

/** An answer of which all is known that a row needs; null: something is missing, or it has no second token. */
function timed({ at, inFlight, inputTokens, outputTokens, ttftSeconds, seconds }: StoredAnswer): Timed | null {
  if (inFlight === null || inputTokens === null || ttftSeconds === null || seconds === null) return null;
  return outputTokens === null || outputTokens < 2 || seconds <= ttftSeconds
    ? null
    : { atMs: Date.parse(at), inFlight, inputTokens, outputTokens, ttftSeconds, seconds };
}

/**
 * Answers of one engine as rows of measured runs: those with similar numbers of calls in flight are grouped, by powers of two. Other
 * clients' requests to the engine are not known here.
 */
export function measuredRuns(answers: readonly StoredAnswer[], engine: LiveEngine, name: string): readonly LiveRow[] {
  const groups = new Map<number, Timed[]>();
  for (const answer of answers) {
    const one = timed(answer);
    if (one === null) continue;
    const load = Math.floor(Math.log2(one.inFlight));
    groups.set(load, [...(groups.get(load) ?? []), one]);
  }
  const whole = [...groups].filter(([, all]) => all.length >= LEAST_ANSWERS).sort(([one], [other]) => one - other);
  return whole.map(([, all], index) => rowOf(all, engine, { line: index + 2, name }));
}

function rowOf(all: readonly Timed[], engine: LiveEngine, { line, name }: { readonly line: number; readonly name: string }): LiveRow {
  const of = (value: (one: Timed) => number): number => mean(all.map(value));
  const decoded = all.reduce((sum, { outputTokens }) => sum + outputTokens - 1, 0);
  const tpotSeconds = all.reduce((sum, { seconds, ttftSeconds }) => sum + seconds - ttftSeconds, 0) / decoded;
  const [fromMs, toMs] = [Math.min(...all.map(({ atMs }) => atMs)), Math.max(...all.map(({ atMs }) => atMs))];
  const [concurrency, ttftSeconds] = [of(({ inFlight }) => inFlight), of((one) => one.ttftSeconds)];
  const endToEndSeconds = of(({ seconds }) => seconds);
  const [inputTokens, outputTokens] = [of((one) => one.inputTokens), of((one) => one.outputTokens)];
  const window = {
    ...{ fromMs, toMs, requests: all.length, concurrency, inputTokens, outputTokens, ttftSeconds, tpotSeconds },
    // Little's law: between the first and the last answer the job may have been paused, or have had another load.
    requestsPerSecond: concurrency / endToEndSeconds,
    endToEndSeconds,
  };
  return {
    ...engine,
    ...{ line, id: `${name} x${Math.round(concurrency)}`, measured: { ttftSeconds, tpotSeconds }, window },
    inputTokens: Math.max(1, Math.round(inputTokens)),
    outputTokens: Math.max(1, Math.round(outputTokens)),
    concurrency: Math.max(1, Math.round(concurrency)),
  };
}
