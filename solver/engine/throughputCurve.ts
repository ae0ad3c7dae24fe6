import type { ReplicaModel } from "./replicaModel";
import { simulateClosedLoop } from "./simulateClosedLoop";

/** What one replica writes by how many requests it has in flight, as far as more of them are worth it. */
export interface ThroughputCurve {
  /** Requests in flight beyond which throughput no longer rises. */
  readonly saturationBatch: number;
  /** Output tokens a second, ascending by batch; the last is at `saturationBatch`. */
  readonly throughput: readonly { readonly batch: number; readonly tokensPerSecond: number }[];
}

/** Mean lengths of the requests that a replica serves. */
export interface RequestTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A doubling of the batch that brings less is not worth the latency it costs. */
const LEAST_GAIN = 0.02;

/** Answers are between so much shorter and longer than the mean, or all of a batch would begin and end together. */
const SPREAD = 0.5;

/** Requests that are timed: of each that is in flight, and at least. */
const TIMED_EACH = 2;
const LEAST_TIMED = 32;

/** Fractional parts of its multiples lie evenly in 0..1 however many there are. */
const GOLDEN_RATIO = 0.6180339887498949;

/**
 * Throughput of a replica by its load, as a benchmark of the engine would find it: a closed loop at 1, 2, 4 ... requests in flight, up to where a
 * doubling brings less than 2 %, or memory and sequences end (Aragog, section 3.2, "profiled saturation batch").
 *
 * @throws RangeError when the replica has no room for one of the requests.
 */
export function throughputCurve(replica: ReplicaModel, { inputTokens, outputTokens }: RequestTokens): ThroughputCurve {
  const tokens = { inputTokens: Math.max(1, Math.round(inputTokens)), outputTokens: Math.max(1, outputTokens) };
  const longest = tokens.inputTokens + Math.ceil((1 + SPREAD) * tokens.outputTokens);
  if (longest > replica.kvTokens)
    throw new RangeError(`A request of ${longest} tokens has no room in a KV cache of ${Math.floor(replica.kvTokens)}`);
  // On average half of an answer is written.
  const held = Math.floor(replica.kvTokens / (tokens.inputTokens + tokens.outputTokens / 2));
  const most = Math.max(1, Math.min(replica.maxSequences, held));
  const throughput = [{ batch: 1, tokensPerSecond: closedLoopRate(replica, tokens, 1) }];
  for (let batch = 2; ; batch *= 2) {
    const last = throughput[throughput.length - 1] ?? { batch: 1, tokensPerSecond: 0 };
    const next = Math.min(batch, most);
    if (next <= last.batch) break;
    const tokensPerSecond = closedLoopRate(replica, tokens, next);
    if (tokensPerSecond < last.tokensPerSecond * (1 + LEAST_GAIN) ** Math.log2(next / last.batch)) break;
    throughput.push({ batch: next, tokensPerSecond });
  }
  return { saturationBatch: throughput[throughput.length - 1]?.batch ?? 1, throughput };
}

/**
 * The curve of one replica as it is on average over replicas of several shapes that each have so many requests in flight, and as many as each is worth.
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
  return {
    saturationBatch,
    throughput: [...batches, saturationBatch]
      .sort((a, b) => a - b)
      .map((batch) => ({ batch, tokensPerSecond: mean((curve) => throughputAt(curve, batch)) })),
  };
}

/** Output tokens a second at a batch: along straight lines between the points of the curve, from none at 0, and as at saturation beyond it. */
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

/** Output tokens a second of a closed loop, timed between the filling and the draining at its ends. */
function closedLoopRate(replica: ReplicaModel, tokens: RequestTokens, concurrency: number): number {
  const timed = Math.max(LEAST_TIMED, TIMED_EACH * concurrency);
  const count = timed + 2 * concurrency;
  const outputTokens = Int32Array.from({ length: count }, (_, index) => {
    const even = ((index + 0.5) * GOLDEN_RATIO) % 1;
    return Math.max(1, Math.round(tokens.outputTokens * (1 - SPREAD + 2 * SPREAD * even)));
  });
  const inputTokens = new Int32Array(count).fill(tokens.inputTokens);
  const { arrivalSeconds, endToEndSeconds } = simulateClosedLoop(replica, { inputTokens, outputTokens }, { concurrency });
  const ends = Float64Array.from(endToEndSeconds, (seconds, index) => (arrivalSeconds[index] ?? 0) + seconds);
  const order = Array.from(ends.keys()).sort((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0));
  const written = order.slice(concurrency, concurrency + timed).reduce((sum, index) => sum + (outputTokens[index] ?? 0), 0);
  const from = ends[order[concurrency - 1] ?? 0] ?? 0;
  const to = ends[order[concurrency + timed - 1] ?? 0] ?? 0;
  return to > from ? written / (to - from) : 0;
}
