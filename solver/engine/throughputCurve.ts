import { mixSeed, seededRandom } from "../numeric/random";
import type { ReplicaModel } from "./replicaModel";
import { simulateClosedLoop } from "./simulateClosedLoop";

/** The end of a throughput curve: no more gain, the engine's limit on sequences, or a KV cache that is too small without preemption. */
type CurveEnd = "throughput" | "sequences" | "memory";

/** Throughput of one replica by the number of requests in flight, up to the number that is still worth it. */
export interface ThroughputCurve {
  /** Requests in flight beyond which throughput no longer rises, the engine admits none, or it preempts some: `endedBy` says which. */
  readonly saturationBatch: number;
  /** Output tokens a second, ascending by batch; the last is at `saturationBatch`. */
  readonly throughput: readonly { readonly batch: number; readonly tokensPerSecond: number }[];
  readonly endedBy: CurveEnd;
}

/** Requests like those that a replica serves, in parallel arrays, and the seed of the timed sample. */
export interface ServedRequests {
  readonly inputTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
  readonly seed: number;
}

/** A doubling of the batch with a smaller gain is not worth its latency. */
const LEAST_GAIN = 0.02;

/** Number of timed requests: per request in flight, and at least. */
const TIMED_EACH = 6;
const LEAST_TIMED = 64;

/**
 * Throughput of a replica by its load, as a benchmark of the engine would find it: a closed loop at 1, 2, 3, 4, 6, 8 ... requests in
 * flight, all sent at once at first (Aragog, section 3.2, "profiled saturation batch"). Requests are drawn with their own pairs of lengths,
 * so that long ones use the KV cache as in reality. The curve ends before the first batch of which a request is preempted, or that gains
 * less than 2 % a doubling, and at the engine's limit on sequences. Requests that alone exceed the KV cache are left out, as the engine
 * refuses them.
 *
 * @throws RangeError when the replica has room for none of the requests.
 */
export function throughputCurve(replica: ReplicaModel, requests: ServedRequests): ThroughputCurve {
  const drawn = drawRequests(replica, requests, (TIMED_EACH + 2) * replica.maxSequences + LEAST_TIMED);
  const throughput = [{ batch: 1, tokensPerSecond: closedLoop(replica, drawn, 1).tokensPerSecond }];
  const endedAt = (endedBy: CurveEnd): ThroughputCurve => {
    return { saturationBatch: throughput[throughput.length - 1]?.batch ?? 1, throughput, endedBy };
  };
  for (;;) {
    const last = throughput[throughput.length - 1] ?? { batch: 1, tokensPerSecond: 0 };
    const batch = Math.min(nextBatch(last.batch), replica.maxSequences);
    if (batch <= last.batch) return endedAt("sequences");
    const { tokensPerSecond, preemptions } = closedLoop(replica, drawn, batch);
    if (preemptions > 0) return endedAt("memory");
    if (tokensPerSecond < last.tokensPerSecond * (1 + LEAST_GAIN) ** Math.log2(batch / last.batch)) return endedAt("throughput");
    throughput.push({ batch, tokensPerSecond });
  }
}

/** Powers of two, and halfway to the next. */
const nextBatch = (batch: number): number => (Number.isInteger(Math.log2(batch)) ? Math.max(2, 1.5 * batch) : (4 * batch) / 3);

function drawRequests(
  { kvTokens }: ReplicaModel,
  { inputTokens, outputTokens, seed }: ServedRequests,
  count: number,
): { readonly inputTokens: Int32Array; readonly outputTokens: Int32Array } {
  const written = (at: number): number => Math.max(1, outputTokens[at] ?? 0);
  const fitting = Array.from(inputTokens).flatMap((input, at) => (input + written(at) <= kvTokens ? [at] : []));
  if (fitting.length === 0) throw new RangeError(`No request has room in a KV cache of ${Math.floor(kvTokens)} tokens`);
  const random = seededRandom(mixSeed(seed, "throughput"));
  const picked = Array.from({ length: count }, () => fitting[random.int(fitting.length)] ?? 0);
  return {
    inputTokens: Int32Array.from(picked, (at) => Math.max(1, inputTokens[at] ?? 0)),
    outputTokens: Int32Array.from(picked, written),
  };
}

/**
 * The mean curve of one replica over replicas of several shapes that each have the same number of requests in flight, up to the limit of
 * each. Its end has the reason of the most replicas.
 *
 * @throws RangeError without any.
 */
export function meanThroughputCurve(shapes: readonly { readonly curve: ThroughputCurve; readonly count: number }[]): ThroughputCurve {
  const all = shapes.reduce((sum, { count }) => sum + count, 0);
  const [only] = shapes;
  if (all === 0 || only === undefined) throw new RangeError("No replica to take the mean of");
  if (shapes.length === 1) return only.curve;
  const mean = (of: (curve: ThroughputCurve) => number): number =>
    shapes.reduce((sum, { curve, count }) => sum + (count / all) * of(curve), 0);
  const saturationBatch = Math.max(1, Math.round(mean((curve) => curve.saturationBatch)));
  const batches = new Set(
    shapes.flatMap(({ curve }) => curve.throughput.map(({ batch }) => batch)).filter((batch) => batch < saturationBatch),
  );
  const most = shapes.reduce((one, other) => (other.count > one.count ? other : one));
  return {
    saturationBatch,
    endedBy: most.curve.endedBy,
    throughput: [...batches, saturationBatch]
      .sort((a, b) => a - b)
      .map((batch) => ({ batch, tokensPerSecond: mean((curve) => throughputAt(curve, batch)) })),
  };
}

/** Output tokens a second at a batch: linear between the points of the curve, from 0 at 0, and constant beyond saturation. */
export function throughputAt({ throughput }: Pick<ThroughputCurve, "throughput">, batch: number): number {
  let below = { batch: 0, tokensPerSecond: 0 };
  for (const point of throughput) {
    if (batch < point.batch) {
      const share = (batch - below.batch) / (point.batch - below.batch);
      return below.tokensPerSecond + share * (point.tokensPerSecond - below.tokensPerSecond);
    }
    below = point;
  }
  return below.tokensPerSecond;
}

/** Output tokens a second of a closed loop between the filling and the draining at its ends, and preemptions in all of it. */
function closedLoop(
  replica: ReplicaModel,
  drawn: ReturnType<typeof drawRequests>,
  concurrency: number,
): { readonly tokensPerSecond: number; readonly preemptions: number } {
  const timed = Math.max(LEAST_TIMED, TIMED_EACH * concurrency);
  const count = timed + 2 * concurrency;
  const inputTokens = drawn.inputTokens.subarray(0, count);
  const outputTokens = drawn.outputTokens.subarray(0, count);
  const { arrivalSeconds, ttftSeconds, endToEndSeconds, preemptions } = simulateClosedLoop(
    replica,
    { inputTokens, outputTokens },
    { concurrency },
  );
  const ends = Float64Array.from(endToEndSeconds, (seconds, at) => (arrivalSeconds[at] ?? 0) + seconds);
  const order = ends.slice().sort();
  const [from = 0, to = 0] = [order[concurrency - 1], order[concurrency + timed - 1]];
  // Answers in progress at an end of the interval count with the part written within it: otherwise a few long answers would bias the rate.
  let written = 0;
  for (const [at, end] of ends.entries()) {
    const first = (arrivalSeconds[at] ?? 0) + (ttftSeconds[at] ?? 0);
    if (first > from && first <= to) written += 1;
    const within = Math.min(end, to) - Math.max(first, from);
    if (within > 0 && end > first) written += (((outputTokens[at] ?? 1) - 1) * within) / (end - first);
  }
  return { tokensPerSecond: to > from ? written / (to - from) : 0, preemptions };
}
