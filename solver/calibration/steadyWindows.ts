import { mean } from "../numeric/quantile";

/** An engine's telemetry over a short interval: means over it, rates and latencies in engine seconds. null: not known. */
export interface LiveSample {
  readonly atMs: number;
  readonly running: number | null;
  /** At the sample's last instant; shows the fluctuation of `running`. */
  readonly runningAtEnd: number | null;
  readonly waiting: number | null;
  readonly requestsPerSecond: number | null;
  readonly promptTokensPerSecond: number | null;
  readonly generationTokensPerSecond: number | null;
  /** null counts as zero: the engine has no such counter. */
  readonly preemptionsPerSecond: number | null;
  /** Of prompt tokens, 0..1; null counts as zero. */
  readonly prefixHitShare: number | null;
  readonly ttftSeconds: number | null;
  /** null: computed from the other two and the answers' length. */
  readonly tpotSeconds: number | null;
  readonly endToEndSeconds: number | null;
}

/** An engine's telemetry over a range of time. */
export interface LiveHistory {
  /** In order of time, not necessarily without gaps. */
  readonly samples: readonly LiveSample[];
  /** Wall time of a sample where none is missing. */
  readonly sampleMs: number;
  /** Rates and latencies of a sample are averaged over this much wall time before it: after a break this includes time before the break. */
  readonly lookBackMs: number;
  /** Engine seconds per second of wall time. */
  readonly timeScale: number;
  /** Known times of counter resets, in addition to those visible in the samples. */
  readonly resetsMs: readonly number[];
}

/** An interval of steady load of an engine, in means. */
export interface SteadyWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly requests: number;
  /** Number of requests in flight as one request saw it, including itself. */
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ttftSeconds: number;
  readonly tpotSeconds: number;
  readonly endToEndSeconds: number;
}

/** Why an interval gives no window. */
export const windowRefusals = {
  gap: "no telemetry, or just after a gap or counters that were reset",
  idle: "nothing was answered",
  short: "too few requests before something failed",
  unsteady: "the load changed",
  waiting: "requests waited in the engine's queue",
  preempted: "the cache was full and requests were thrown out of the batch",
  prefix: "prompts were found in the prefix cache",
  inconsistent: "rates, lengths and latencies do not fit together",
} as const;
export type WindowRefusal = keyof typeof windowRefusals;

export interface SteadyWindows {
  readonly windows: readonly SteadyWindow[];
  /** Wall seconds without a window, by reason. */
  readonly leftOutSeconds: Readonly<Record<WindowRefusal, number>>;
}

/** Minimum length of a window, in engine seconds, and minimum number of requests: their mean is accurate to some per cent. */
const LEAST_SECONDS = 60;
const LEAST_REQUESTS = 100;

/** Minimum number of samples, for the fluctuation of the load. */
const LEAST_SAMPLES = 10;

/** Maximum difference of a window's halves as a share of the whole. Random arrivals alone make two halves of 50 differ by 20 %. */
const MOST_CHANGE = 0.25;

/** Requests begun minus requests ended, relative to those ended: tokens per request would have this error. */
const MOST_GROWTH = 0.05;

/** Waiting over running, preemptions over requests, hits over prompt tokens: beyond these the run differs from the simulated one. */
const MOST_WAITING = 0.1;
const MOST_PREEMPTED = 0.05;
const MOST_PREFIX_HITS = 0.05;

/** Maximum deviation of running from rate times latency, and of latency from its parts: beyond it, the two count different requests. */
const MOST_DISAGREEMENT = 0.25;

/** One sample may be missing: only more is a gap. */
const GAP_SAMPLES = 3;

/**
 * Divides an engine's telemetry into windows of steady load, the earliest first and each as short as possible. Time with gaps, resets,
 * changes of load, queues, preemptions or prefix hits gives none.
 */
export function steadyWindows(history: LiveHistory): SteadyWindows {
  const { samples, sampleMs } = history;
  const windows: SteadyWindow[] = [];
  const leftOut = Object.fromEntries(Object.keys(windowRefusals).map((name) => [name, 0])) as Record<WindowRefusal, number>;
  const leave = (reason: WindowRefusal, from: number, to: number): void => {
    for (let at = from; at < to; at += 1) leftOut[reason] += spanMs(at, history) / 1000;
  };
  let at = 0;
  let guardUntilMs = Number.NEGATIVE_INFINITY;
  let beforeMs: number | null = null;
  while (at < samples.length) {
    const sample = samples[at] as LiveSample;
    if (beforeMs === null || isBreak(beforeMs, sample, history)) guardUntilMs = sample.atMs + history.lookBackMs;
    beforeMs = sample.atMs;
    const why = isKnown(sample) ? (sample.atMs < guardUntilMs ? "gap" : null) : sample.requestsPerSecond === 0 ? "idle" : "gap";
    if (why !== null) {
      if (!isKnown(sample) && why === "gap") guardUntilMs = sample.atMs + sampleMs + history.lookBackMs;
      leave(why, at, at + 1);
      at += 1;
      continue;
    }
    const end = endOfWindow(at, history);
    if (end === null) {
      // To the break, or to the end of the samples.
      let stop = at + 1;
      while (stop < samples.length && goesOn(stop, history)) stop += 1;
      leave("short", at, stop);
      beforeMs = samples[stop - 1]?.atMs ?? beforeMs;
      at = stop;
      continue;
    }
    const part = samples.slice(at, end) as readonly KnownSample[];
    const window = windowOf(part, (samples[end - 1]?.atMs ?? 0) + spanMs(end - 1, history), history.timeScale);
    if (typeof window === "string") leave(window, at, end);
    else windows.push(window);
    beforeMs = samples[end - 1]?.atMs ?? beforeMs;
    at = end;
  }
  return { windows, leftOutSeconds: leftOut };
}

type Needed =
  | "running"
  | "runningAtEnd"
  | "requestsPerSecond"
  | "promptTokensPerSecond"
  | "generationTokensPerSecond"
  | "ttftSeconds"
  | "endToEndSeconds";
type KnownSample = LiveSample & { readonly [Name in Needed]: number };

const isKnown = (sample: LiveSample): sample is KnownSample =>
  sample.running !== null &&
  sample.runningAtEnd !== null &&
  sample.requestsPerSecond !== null &&
  sample.promptTokensPerSecond !== null &&
  sample.generationTokensPerSecond !== null &&
  sample.ttftSeconds !== null &&
  sample.endToEndSeconds !== null;

const isBreak = (beforeMs: number, { atMs }: LiveSample, { sampleMs, resetsMs }: LiveHistory): boolean =>
  atMs < beforeMs || atMs - beforeMs > GAP_SAMPLES * sampleMs || resetsMs.some((reset) => reset > beforeMs && reset <= atMs + sampleMs);

/** Whether the sample directly follows the previous one. */
function goesOn(at: number, history: LiveHistory): boolean {
  const [before, sample] = [history.samples[at - 1], history.samples[at]];
  return before !== undefined && sample !== undefined && isKnown(sample) && !isBreak(before.atMs, sample, history);
}

/** Wall time of a sample: up to the next one, if that directly follows. */
function spanMs(at: number, history: LiveHistory): number {
  const [sample, next] = [history.samples[at], history.samples[at + 1]];
  if (sample === undefined || next === undefined || isBreak(sample.atMs, next, history)) return history.sampleMs;
  return Math.max(history.sampleMs, next.atMs - sample.atMs);
}

/** The end of the shortest window that begins at `start`; null where a break comes first. */
function endOfWindow(start: number, history: LiveHistory): number | null {
  const { samples, lookBackMs, timeScale } = history;
  const first = samples[start]?.atMs ?? 0;
  let requests = 0;
  for (let at = start; at < samples.length; at += 1) {
    if (at > start && !goesOn(at, history)) return null;
    const sample = samples[at] as LiveSample;
    const engineSeconds = (ms: number): number => (ms / 1000) * timeScale;
    requests += (sample.requestsPerSecond ?? 0) * engineSeconds(spanMs(at, history));
    const wallMs = sample.atMs + spanMs(at, history) - first;
    const long = wallMs >= lookBackMs && engineSeconds(wallMs) >= LEAST_SECONDS && at - start + 1 >= LEAST_SAMPLES;
    if (long && requests >= LEAST_REQUESTS) return at + 1;
  }
  return null;
}

/** The figures of a window, or why there is no window. */
function windowOf(samples: readonly KnownSample[], toMs: number, timeScale: number): SteadyWindow | WindowRefusal {
  const over = (part: readonly KnownSample[], value: (sample: KnownSample) => number): number => mean(part.map(value));
  const half = Math.floor(samples.length / 2);
  const changed = (["running", "requestsPerSecond", "promptTokensPerSecond", "generationTokensPerSecond"] as const).some((name) => {
    const [early, late] = [over(samples.slice(0, half), (one) => one[name]), over(samples.slice(half), (one) => one[name])];
    return Math.abs(early - late) > MOST_CHANGE * over(samples, (one) => one[name]);
  });
  if (changed) return "unsteady";
  const [running, rate] = [over(samples, (one) => one.running), over(samples, (one) => one.requestsPerSecond)];
  const fromMs = samples[0]?.atMs ?? 0;
  const requests = (rate * timeScale * (toMs - fromMs)) / 1000;
  const edge = Math.max(1, Math.floor(samples.length / 5));
  const growth = over(samples.slice(-edge), (one) => one.running) - over(samples.slice(0, edge), (one) => one.running);
  if (Math.abs(growth) > Math.max(1, MOST_GROWTH * requests)) return "unsteady";
  if (over(samples, (one) => one.waiting ?? 0) > MOST_WAITING * running) return "waiting";
  if (over(samples, (one) => one.preemptionsPerSecond ?? 0) > MOST_PREEMPTED * rate) return "preempted";
  if (over(samples, (one) => one.prefixHitShare ?? 0) > MOST_PREFIX_HITS) return "prefix";

  const byRequest = (value: (sample: KnownSample) => number): number => over(samples, (one) => value(one) * one.requestsPerSecond) / rate;
  const [ttftSeconds, endToEndSeconds] = [byRequest((one) => one.ttftSeconds), byRequest((one) => one.endToEndSeconds)];
  const inputTokens = over(samples, (one) => one.promptTokensPerSecond) / rate;
  const outputTokens = over(samples, (one) => one.generationTokensPerSecond) / rate;
  const reported = samples.flatMap(({ tpotSeconds }) => tpotSeconds ?? []);
  const tpotSeconds = reported.length === samples.length ? mean(reported) : (endToEndSeconds - ttftSeconds) / (outputTokens - 1);
  if (!(inputTokens >= 1 && outputTokens > 1 && ttftSeconds > 0 && tpotSeconds > 0)) return "inconsistent";
  // Little's law: the number in flight is rate times latency, except at the window's edges: requests in flight at its start count as whole.
  const inFlight = rate * endToEndSeconds;
  const parts = ttftSeconds + tpotSeconds * (outputTokens - 1);
  if (apart(inFlight, running) > MOST_DISAGREEMENT || apart(parts, endToEndSeconds) > MOST_DISAGREEMENT) return "inconsistent";
  const spread = over(samples, (one) => (one.runningAtEnd - running) ** 2);
  // Busy times hold more requests: a request sees the mean square over the mean, which under random arrivals is one more than the mean.
  const concurrency = inFlight + spread / running;
  return {
    fromMs,
    toMs,
    requests,
    concurrency,
    requestsPerSecond: rate,
    inputTokens,
    outputTokens,
    ttftSeconds,
    tpotSeconds,
    endToEndSeconds,
  };
}

const apart = (one: number, other: number): number => Math.abs(one - other) / Math.max(one, other);
