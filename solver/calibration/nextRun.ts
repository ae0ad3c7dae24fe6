import { lengthsKey, type MeasuredRun, type RunPoint } from "./measuredRun";

/** What a sweep may still use. */
export interface SweepBudget {
  readonly seconds: number;
  readonly tokens: number;
}

/** Bounds of what a measurement is asked for, from the command line and in the studio, and its usual values. */
export const measuringBounds = {
  tp: { min: 1, max: 8, whole: true, usual: 1 },
  pp: { min: 1, max: 8, whole: true, usual: 1 },
  minutes: { min: 0.1, max: 600, whole: false, usual: 6 },
  tokens: { min: 1000, max: 1_000_000_000, whole: true, usual: 2_000_000 },
  /** Most requests in flight; what is usual depends on the engine. */
  concurrency: { min: 1, max: 4096, whole: true },
} as const;

export interface SweepState {
  /** Most tokens of prompt and answer together. */
  readonly contextTokens: number;
  /** Half the range of a run's lengths, over their centre: its longest request must fit the context. */
  readonly spread: number;
  /** Most requests in flight. */
  readonly mostConcurrency: number;
  readonly left: SweepBudget;
  readonly done: readonly MeasuredRun[];
  /** Points that were asked for so far, once for each time, whatever came of it. */
  readonly tried: readonly RunPoint[];
  /** How far a fit to these runs is off on each of them; empty before a fit. */
  readonly misfits: readonly { readonly run: RunPoint; readonly error: number }[];
}

/** The next run of a sweep. */
export interface NextRun extends RunPoint {
  readonly why: /** Covers lengths and requests in flight. */
    | "cover"
    /** The same again, for the noise. */
    | "repeat"
    /** Near the run that the fit misses most. */
    | "uncertain";
  /** At most this many are sent. */
  readonly requests: number;
  /** After these no more are sent. */
  readonly seconds: number;
}

/** Lengths spread over the context: shares of the way, in powers, from the shortest to the longest prompt and answer. */
const LENGTHS = [
  { input: 0.25, output: 0.4 },
  { input: 0.8, output: 0.2 },
  { input: 0, output: 1 },
  { input: 0.6, output: 0.7 },
  { input: 1, output: 0 },
  { input: 0.4, output: 0.1 },
  { input: 0.15, output: 0.8 },
] as const;

const SHORTEST_INPUT = 16;
const LONGEST_INPUT = 2048;
const SHORTEST_OUTPUT = 12;
const LONGEST_OUTPUT = 192;
/** Shares of the context that a prompt and an answer may take. */
const INPUT_SHARE = 0.6;
const OUTPUT_SHARE = 0.25;

/** Points of the cover, by number of lengths and step of the ladder, that are run twice. */
const REPEATED = [
  { lengths: 0, rung: 0 },
  { lengths: 0, rung: 0.5 },
  { lengths: 3, rung: 0.5 },
  { lengths: 1, rung: 1 },
] as const;

/** Seconds of a run where nothing else bounds it: a share of the time left, within bounds. */
const RUN_SHARE = 0.03;
const SHORTEST_RUN_SECONDS = 0.5;
const LONGEST_RUN_SECONDS = 4;
/** Requests of each client, and of a run. */
const LEAST_ROUNDS = 3;
const LEAST_REQUESTS = 8;
/** Where requests take long, a run has fewer rounds: those that fit into these seconds or this share of the time left, but at least one. */
const LONG_RUN_SECONDS = 10;
const LONG_RUN_SHARE = 0.05;
const MOST_REQUESTS = 600;

/** Seconds may be this many times the estimate before no more requests are sent. */
const PATIENCE = 3;

/**
 * What a sweep asks next: first it covers requests in flight, in powers of two from 1 to the most, at lengths spread over the context, so
 * that it may end at any time; then it repeats a few runs; then it goes near the runs that the fit misses most. Null: nothing useful fits
 * the budget. Pure: the same state gives the same run.
 */
export function nextRun(state: SweepState): NextRun | null {
  const cover = covering(state);
  const tried = (point: RunPoint): number => state.tried.filter((one) => isSamePoint(one, point)).length;
  const asked = (points: readonly RunPoint[], why: NextRun["why"], times: number): NextRun | null => {
    for (const point of points) {
      const sized = tried(point) < times ? sizedRun(point, state) : null;
      if (sized !== null) return { ...point, ...sized, why };
    }
    return null;
  };
  const half = Math.ceil(cover.length / 2);
  return (
    asked(cover.slice(0, half), "cover", 1) ??
    asked(repeated(state), "repeat", 2) ??
    asked(cover.slice(half), "cover", 1) ??
    asked(uncertain(state), "uncertain", 1)
  );
}

/** Whether two runs are of one point. */
export const isSamePoint = (one: RunPoint, other: RunPoint): boolean =>
  lengthsKey(one) === lengthsKey(other) && one.concurrency === other.concurrency;

const between = (least: number, most: number, share: number): number => Math.round(least * (most / least) ** share);

type Lengths = Omit<RunPoint, "concurrency">;

/** Tokens of the longest request of a run with these centres, as `spreadLengths` draws them. */
const longest = ({ inputTokens, outputTokens }: Lengths, spread: number): number =>
  Math.round(inputTokens * (1 + spread)) + Math.round(outputTokens * (1 + spread));

/** The lengths, shortened by one factor where the longest request would not fit the context; never below one token each. */
function shortened(centre: Lengths, { contextTokens, spread }: Pick<SweepState, "contextTokens" | "spread">): Lengths {
  const scale = Math.min(1, contextTokens / longest(centre, spread));
  const short = (tokens: number): number => Math.max(1, Math.floor(scale * tokens));
  let own: Lengths = { inputTokens: short(centre.inputTokens), outputTokens: short(centre.outputTokens) };
  // Rounding may add a token to each.
  while (longest(own, spread) > contextTokens && own.inputTokens > 1) own = { ...own, inputTokens: own.inputTokens - 1 };
  return own;
}

function lengths({ contextTokens, spread }: Pick<SweepState, "contextTokens" | "spread">): readonly Lengths[] {
  const input = Math.max(2, Math.min(LONGEST_INPUT, Math.floor(INPUT_SHARE * contextTokens)));
  const output = Math.max(2, Math.min(LONGEST_OUTPUT, Math.floor(OUTPUT_SHARE * contextTokens)));
  return LENGTHS.map((share) => {
    const centre = {
      inputTokens: between(Math.min(SHORTEST_INPUT, input), input, share.input),
      outputTokens: between(Math.min(SHORTEST_OUTPUT, output), output, share.output),
    };
    return shortened(centre, { contextTokens, spread });
  });
}

/** 1, 2, 4 … and the most. */
function ladder(most: number): readonly number[] {
  const rungs: number[] = [];
  for (let rung = 1; rung < most; rung *= 2) rungs.push(rung);
  return [...rungs, most];
}

/** The first lengths of `LENGTHS` are run with every number of requests in flight before the others are. */
const FIRST_LENGTHS = 3;

/**
 * The cover. First, the first lengths run with every number of requests in flight: one, the most, the middle, then the rest. A slow engine
 * has no time for more, and below saturation most requests of an open loop run beside one to three others. Then the other lengths run with
 * one, the most and the middle; last, with the rest of the numbers, every second length each.
 */
function covering(state: SweepState): readonly RunPoint[] {
  const rungs = ladder(state.mostConcurrency);
  const last = rungs.length - 1;
  const first = [...new Set([0, last, Math.round(last / 2)])];
  const rest = rungs.map((_, rung) => rung).filter((rung) => !first.includes(rung));
  const all = lengths(state);
  const [shortCover, others] = [all.slice(0, FIRST_LENGTHS), all.slice(FIRST_LENGTHS)];
  const at = (rung: number, own: readonly Lengths[]) => own.map((one) => ({ ...one, concurrency: rungs[rung] ?? 1 }));
  return [
    ...[...first, ...rest].flatMap((rung) => at(rung, shortCover)),
    ...first.flatMap((rung) => at(rung, others)),
    ...rest.flatMap((rung) =>
      at(
        rung,
        others.filter((_, index) => (index + rung) % 2 === 0),
      ),
    ),
  ];
}

function repeated(state: SweepState): readonly RunPoint[] {
  const rungs = ladder(state.mostConcurrency);
  const all = lengths(state);
  return REPEATED.flatMap(({ lengths: index, rung }) => {
    const own = all[index];
    return own === undefined ? [] : [{ ...own, concurrency: rungs[Math.round(rung * (rungs.length - 1))] ?? 1 }];
  }).filter((point) => state.tried.some((one) => isSamePoint(one, point)));
}

/** Half way, in powers, from the most missed runs to their nearest lengths. */
function uncertain({ misfits, contextTokens, spread }: SweepState): readonly RunPoint[] {
  return [...misfits]
    .sort((a, b) => b.error - a.error)
    .flatMap(({ run }) => {
      const others = misfits.filter((one) => lengthsKey(one.run) !== lengthsKey(run));
      const [nearest] = others.sort((a, b) => apart(a.run, run) - apart(b.run, run));
      if (nearest === undefined) return [];
      const point = {
        inputTokens: between(run.inputTokens, nearest.run.inputTokens, 0.5),
        outputTokens: between(run.outputTokens, nearest.run.outputTokens, 0.5),
        concurrency: run.concurrency,
      };
      return longest(point, spread) > contextTokens ? [] : [point];
    });
}

const apart = (one: RunPoint, other: RunPoint): number =>
  Math.hypot(Math.log(one.inputTokens / other.inputTokens), Math.log(one.outputTokens / other.outputTokens));

/** How many requests a run has, within the budget; null where even the fewest exceed it. */
function sizedRun(point: RunPoint, { left, done }: SweepState): Pick<NextRun, "requests" | "seconds"> | null {
  const { concurrency } = point;
  const tokens = point.inputTokens + point.outputTokens;
  const each = estimatedSeconds(point, done);
  const fewest = Math.max(concurrency, done.length === 0 ? 2 : 4);
  const patience = Math.max(LONG_RUN_SECONDS, LONG_RUN_SHARE * left.seconds);
  const rounds = each === null ? LEAST_ROUNDS : Math.max(1, Math.min(LEAST_ROUNDS, Math.floor(patience / each)));
  const wanted = Math.max(fewest, rounds === LEAST_ROUNDS ? LEAST_REQUESTS : 0, rounds * concurrency);
  const runSeconds = Math.min(LONGEST_RUN_SECONDS, Math.max(SHORTEST_RUN_SECONDS, RUN_SHARE * left.seconds));
  const long = each === null ? wanted : Math.floor((runSeconds * concurrency) / each);
  const affordable = Math.floor(left.tokens / tokens);
  const requests = Math.min(MOST_REQUESTS, affordable, Math.max(wanted, long));
  const secondsOf = (count: number): number => (each ?? 0) * Math.ceil(count / concurrency);
  if (requests < fewest || secondsOf(fewest) > left.seconds || left.seconds <= 0) return null;
  const seconds = Math.min(left.seconds, Math.max(runSeconds, PATIENCE * secondsOf(Math.min(requests, wanted))));
  return { requests, seconds };
}

/** Seconds of a request, on the high side, from the nearest run so far; null before any. */
function estimatedSeconds(point: RunPoint, done: readonly MeasuredRun[]): number | null {
  const distance = (one: RunPoint): number => apart(one, point) + Math.abs(Math.log(one.concurrency / point.concurrency));
  const [nearest] = [...done].sort((a, b) => distance(a) - distance(b));
  if (nearest === undefined) return null;
  const load = Math.max(1, point.concurrency / nearest.concurrency);
  const input = point.inputTokens / nearest.inputTokens;
  const tpot = nearest.tpotSeconds ?? nearest.endToEndSeconds;
  return nearest.ttftSeconds * Math.max(1, input) * load + tpot * (point.outputTokens - 1) * load * Math.max(1, Math.sqrt(input));
}
