import type { MeasuredEngine } from "../hardware/measuredEngine";
import { mean } from "../numeric/quantile";
import type { MeasuredRun } from "./measuredRun";

/** The times of a measured engine: what a fit finds. */
export type MeasuredTimes = Pick<MeasuredEngine, "step" | "request">;

/** How a fit searches the times of an engine: all are positive, and it searches their logarithms relative to a start. */
export interface TermSearch {
  /** Where the search begins, each in turn: the sum of squares has valleys, and runs hardly tell the cost of a prompt from its delay. */
  readonly starts: readonly (readonly number[])[];
  timesAt(logs: readonly number[]): MeasuredTimes;
  /** Residuals of the prior: neighbouring slopes of a curve are similar, and what runs do not tell stays near its start. */
  prior(logs: readonly number[]): readonly number[];
}

/** Strength of the priors, on logarithms: of neighbouring slopes, and of all terms at their start. */
const SMOOTH = 0.3;
const PULL = 0.1;

/** Shares of their usual start at which a second search begins: a prompt costs the engine's steps more, and its request waits less. */
const HEAVY_PROMPT = { perPrompt: 6, delay: 0.3 };

/** Each point of the curve over prompt tokens is at least so many times the one before. */
const PREFILL_RATIO = 4;

/** Shares of the shortest time per token or first token at which a search starts. */
const START = { step: 0.5, perSequence: 0.05, perPrompt: 0.05, kv: 0.05, pairs: 0.02, request: 0.15, inputToken: 0.01, outputToken: 0.01 };

/**
 * The search for the times that explain runs: points of the decode curve at 0 and the powers of two up to the most sequences that ran, of
 * the prefill curve at powers of four from the shortest prompt to the most tokens of a step.
 */
export function termSearch(
  runs: readonly MeasuredRun[],
  { maxSequences, maxBatchedTokens }: { readonly maxSequences: number; readonly maxBatchedTokens: number },
): TermSearch {
  const most = Math.min(maxSequences, Math.max(...runs.map(({ concurrency }) => concurrency)));
  const sequences = [0, ...powers(1, 2, Math.max(2, most))];
  const shortest = Math.min(...runs.map(({ inputTokens }) => inputTokens));
  const most1 = Math.max(...runs.map(({ inputTokens, concurrency }) => inputTokens * concurrency));
  const prompts = [0, ...powers(Math.max(16, shortest), PREFILL_RATIO, Math.max(64, Math.min(maxBatchedTokens, most1)))];
  const start = startOf(runs);
  const decodes = sequences.length;
  const prefills = prompts.length - 1;
  const count = decodes + prefills + 7;
  // In the order in which `timesAt` takes terms.
  const [perPrompt, delay] = [decodes + prefills, count - 1];
  const light = new Array<number>(count).fill(0);
  const heavy = light.with(perPrompt, Math.log(HEAVY_PROMPT.perPrompt)).with(delay, Math.log(HEAVY_PROMPT.delay));
  return {
    starts: [light, heavy],
    timesAt(logs) {
      let next = 0;
      const term = (from: number): number => from * Math.exp(logs[next++] ?? 0);
      const curve = (at: readonly number[], first: number, slope: number) => {
        const points = [{ at: 0, seconds: first }];
        for (const value of at.slice(1)) {
          const before = points.at(-1) ?? { at: 0, seconds: first };
          points.push({ at: value, seconds: before.seconds + (value - before.at) * term(slope) });
        }
        return points;
      };
      const decode = curve(sequences, term(start.step), start.perSequence);
      const prefill = curve(prompts, 0, start.perPromptToken);
      const step = {
        decode,
        prefill,
        secondsPerPrompt: term(start.perPrompt),
        secondsPerKvToken: term(start.perKvToken),
        secondsPerPair: term(start.perPair),
      };
      const request = {
        seconds: term(start.request),
        secondsPerInputToken: term(start.perInputToken),
        secondsPerOutputToken: term(start.perOutputToken),
        delaySeconds: term(start.request),
      };
      return { step, request };
    },
    prior(logs) {
      const neighbours = (from: number, to: number): number[] =>
        logs.slice(from + 1, to).map((value, index) => SMOOTH * (value - (logs[from + index] ?? 0)));
      return [...neighbours(1, decodes), ...neighbours(decodes, decodes + prefills), ...logs.map((value) => PULL * value)];
    },
  };
}

/** `first`, `first * ratio` … and `last`; one that is near the last is left out. */
function powers(first: number, ratio: number, last: number): number[] {
  const points: number[] = [];
  for (let value = first; value * Math.sqrt(ratio) <= last; value *= ratio) points.push(value);
  return points.at(-1) === last ? points : [...points, last];
}

/** Rough times from the lightest runs, in the scale of this engine, whatever it is. */
function startOf(runs: readonly MeasuredRun[]) {
  const tpots = runs.flatMap(({ tpotSeconds }) => (tpotSeconds === null || tpotSeconds <= 0 ? [] : [tpotSeconds]));
  const ttfts = runs.map(({ ttftSeconds }) => ttftSeconds);
  const tpot = tpots.length === 0 ? Math.min(...ttfts) : Math.min(...tpots);
  const lightest = Math.min(...runs.map(({ concurrency }) => concurrency));
  const light = runs.filter(({ concurrency }) => concurrency === lightest);
  const perPromptToken = Math.max(1e-7, slope(light));
  const input = mean(runs.map(({ inputTokens }) => inputTokens));
  const context = mean(runs.map((run) => run.inputTokens + run.outputTokens / 2));
  return {
    step: START.step * tpot,
    perSequence: START.perSequence * tpot,
    perPromptToken,
    perPrompt: START.perPrompt * tpot,
    perKvToken: (START.kv * tpot) / context,
    perPair: (START.pairs * perPromptToken) / input,
    request: START.request * Math.min(...ttfts),
    perInputToken: START.inputToken * perPromptToken,
    perOutputToken: START.outputToken * tpot,
  };
}

/** TTFT over prompt tokens: through the mean of the runs, or through zero where all prompts are of one length. */
function slope(runs: readonly MeasuredRun[]): number {
  const x = mean(runs.map(({ inputTokens }) => inputTokens));
  const y = mean(runs.map(({ ttftSeconds }) => ttftSeconds));
  const squares = runs.reduce((sum, { inputTokens }) => sum + (inputTokens - x) ** 2, 0);
  if (squares === 0) return y / (2 * x);
  return runs.reduce((sum, { inputTokens, ttftSeconds }) => sum + (inputTokens - x) * (ttftSeconds - y), 0) / squares;
}
