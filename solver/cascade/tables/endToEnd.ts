/**
 * From the latencies of stages to the latency of a user. A request that starts at stage s and exits at stage e waits for the
 * stages s..e and for the judge after each of them that is judged. Percentiles do not add, requests do: so the planning prompts are
 * followed through their stages one by one, each with its own latency relative to the stage's percentile, and the percentile of the sums is
 * taken.
 *
 * That percentile is a function of the stage latencies, homogeneous of degree one together with the judging time. By
 * Euler's theorem it equals the sum of its derivatives times its arguments, and the derivative by stage s is the mean of
 * the relative stage latency over the requests at the percentile. An exploration keeps these weights: exact at
 * the allocation they were computed at, first order around it, and linear, so that the best allocation is found exactly.
 */
export interface EndToEnd {
  /** The percentile of the end-to-end latencies. */
  readonly seconds: number;
  /** Per stage, and of a judge's own engine and peers after them: seconds of end-to-end percentile per second of its percentile. */
  readonly weights: readonly number[];
  /** The contribution of judging to the percentile. */
  readonly judgeSeconds: number;
}

export interface EndToEndInput {
  /** Stage at which each prompt starts. */
  readonly start: Uint8Array;
  /** Stage at which each prompt is accepted. */
  readonly exit: Uint8Array;
  /** Stages that each prompt visits, bit s for stage s; left out: all from its start to its exit. */
  readonly visits?: Uint8Array | undefined;
  /** Stages whose answers to each prompt are judged, in the same form; left out: all of the judged stages that it visits. */
  readonly scored?: Uint8Array | undefined;
  /** Whether the answers of each stage but the last are judged. */
  readonly judged: readonly boolean[];
  /** Per stage, per prompt: its latency at that stage as a multiple of the stage's percentile. */
  readonly relative: readonly Float64Array[];
  /** Percentile of each stage's latency in seconds, finite; of a judge's own engine and of peers after them. */
  readonly stageSeconds: readonly number[];
  readonly judgeSecondsPerCall: number;
  /** Seconds that the judgements of each prompt take together, where they differ; left out: each takes `judgeSecondsPerCall`. */
  readonly judgedSeconds?: Float64Array | undefined;
  /**
   * For a judge that is a separate engine: per prompt, the time of its judgements together as a multiple of the judge's percentile, which
   * then is the last of `stageSeconds`.
   */
  readonly judgedRelative?: Float64Array;
  /**
   * Answers of other models that a stage's gate waits for beside the stage's own where it scores that: the slowest counts. `row` is the place of
   * their percentile in `stageSeconds`, `relative` as for stages.
   */
  readonly besides?: readonly { readonly stage: number; readonly row: number; readonly relative: Float64Array }[] | undefined;
  /** 0.95 for p95. */
  readonly quantile: number;
  /** Every n-th prompt is followed; 1 follows all. */
  readonly stride: number;
}

/** Half width, in ranks, of the requests that count as being at the percentile: wide enough to average over about 30 of 700. */
const WINDOW = 0.02;

/** Latency classes in which ranks are found; a class is then 0.1 % of the longest latency wide. */
const CLASSES = 1024;

/** The end-to-end percentile of a routing at given stage latencies, with its weights. */
export function composeEndToEnd({
  start,
  exit,
  visits,
  scored,
  judged: judgedStages,
  relative,
  stageSeconds,
  judgeSecondsPerCall,
  judgedSeconds,
  judgedRelative,
  besides = [],
  quantile,
  stride,
}: EndToEndInput): EndToEnd {
  const prompts = Math.ceil(exit.length / stride);
  const last = relative.length - 1;
  const total = new Float64Array(prompts);
  // Judgements of the stages before each one, for a request that starts at the first.
  const judgedBefore = relative.map((_, stage) => judgedStages.slice(0, stage).filter(Boolean).length);
  const visited = (prompt: number, stage: number): boolean =>
    visits === undefined ? (start[prompt] ?? 0) <= stage && (exit[prompt] ?? 0) >= stage : isIn(visits, prompt, stage);
  const judgements = (prompt: number): number =>
    visits !== undefined
      ? judgedStages.filter((own, stage) => own && visited(prompt, stage) && (scored === undefined || isIn(scored, prompt, stage))).length
      : (judgedBefore[Math.min((exit[prompt] ?? 0) + 1, last)] ?? 0) - (judgedBefore[start[prompt] ?? 0] ?? 0);
  const judging = (prompt: number): number => judgedSeconds?.[prompt] ?? judgeSecondsPerCall * judgements(prompt);
  for (let at = 0; at < prompts; at += 1) total[at] = judging(at * stride);
  const waitedFor = relative.map((own, stage) => [{ row: stage, relative: own }, ...besides.filter((beside) => beside.stage === stage)]);
  const answersTo = (prompt: number, stage: number) => {
    const all = waitedFor[stage] ?? [];
    return scored === undefined || isIn(scored, prompt, stage) ? all : all.slice(0, 1);
  };
  const secondsOf = ({ row, relative: own }: { readonly row: number; readonly relative: Float64Array }, prompt: number): number =>
    (stageSeconds[row] ?? 0) * (own[prompt] ?? 0);
  for (const [stage, answers] of waitedFor.entries()) {
    const seconds = stageSeconds[stage] ?? 0;
    const own = answers.length === 1 ? relative[stage] : undefined;
    for (let at = 0; at < prompts; at += 1) {
      const prompt = at * stride;
      if (!visited(prompt, stage)) continue;
      if (own !== undefined) {
        total[at] = (total[at] ?? 0) + seconds * (own[prompt] ?? 0);
        continue;
      }
      let slowest = 0;
      for (const answer of answersTo(prompt, stage)) slowest = Math.max(slowest, secondsOf(answer, prompt));
      total[at] = (total[at] ?? 0) + slowest;
    }
  }
  const judgeSecondsAt = stageSeconds[last + 1] ?? 0;
  if (judgedRelative !== undefined)
    for (let at = 0; at < prompts; at += 1) total[at] = (total[at] ?? 0) + judgeSecondsAt * (judgedRelative[at * stride] ?? 0);
  const classes = latencyClasses(total);
  const [low = 0, middle = 0, high = 0] = classes.atRanks([quantile - WINDOW, quantile, Math.min(1, quantile + WINDOW)]);
  const weights = new Array<number>(stageSeconds.length).fill(0);
  let judged = 0;
  let sum = 0;
  let count = 0;
  for (let at = 0; at < prompts; at += 1) {
    const seconds = total[at] ?? 0;
    // By class, not by its edge: where most requests take about the same, all ranks of the window fall in one class.
    const own = classes.of(seconds);
    if (own < low || own > high) continue;
    const prompt = at * stride;
    for (let stage = start[prompt] ?? 0; stage <= (exit[prompt] ?? 0); stage += 1) {
      if (!visited(prompt, stage)) continue;
      const slowest = answersTo(prompt, stage).reduce((a, b) => (secondsOf(b, prompt) > secondsOf(a, prompt) ? b : a));
      weights[slowest.row] = (weights[slowest.row] ?? 0) + (slowest.relative[prompt] ?? 0);
    }
    if (judgedRelative !== undefined) weights[last + 1] = (weights[last + 1] ?? 0) + (judgedRelative[prompt] ?? 0);
    judged += judging(prompt);
    sum += seconds;
    count += 1;
  }
  // The window's mean differs slightly from its middle; one factor makes the weights sum to the percentile again.
  const seconds = classes.upperSeconds(middle);
  const scale = sum > 0 ? seconds / sum : 1 / Math.max(1, count);
  return {
    seconds,
    weights: weights.map((weight) => weight * scale),
    judgeSeconds: judged * scale,
  };
}

/** Whether a prompt's set of stages has one, as bits. */
const isIn = (sets: Uint8Array, prompt: number, stage: number): boolean => (((sets[prompt] ?? 0) >> stage) & 1) === 1;

/** Latencies in classes of one width; sorting would cost ten times as much. */
function latencyClasses(values: Float64Array) {
  let longest = 0;
  for (const value of values) if (value > longest) longest = value;
  const perClass = longest > 0 ? CLASSES / longest : 0;
  const of = (seconds: number): number => (seconds * perClass) | 0;
  const counts = new Int32Array(CLASSES + 1);
  for (const value of values) counts[of(value)] = (counts[of(value)] ?? 0) + 1;
  return {
    of,
    /** The classes that hold the given ranks, as shares of all values. */
    atRanks: (ranks: readonly number[]): number[] =>
      ranks.map((rank) => {
        const wanted = rank * values.length;
        let seen = 0;
        for (let index = 0; index <= CLASSES; index += 1) {
          seen += counts[index] ?? 0;
          if (seen >= wanted) return index;
        }
        return CLASSES;
      }),
    upperSeconds: (index: number): number => Math.min(longest, (index + 1) / (perClass || 1)),
  };
}

/**
 * Under the end-to-end objective no stage may be slower than this multiple of the smallest largest-stage latency. A stage that few
 * requests reach barely affects the p95; without a limit it would be left at the edge of saturation.
 */
export const STARVATION_LIMIT = 1.5;
