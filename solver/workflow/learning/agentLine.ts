import { leadingCoordinate } from "@/solver/numeric/leadingCoordinate";

/** An agent with its remaining latencies. */
export interface LineAgent {
  /** `application/agent`. */
  readonly key: string;
  /** At equal steps of probability, from minimum to maximum; finite, and the same number for every agent. */
  readonly quantilesSeconds: readonly number[];
}

/** All agents on one line: the nearest to the anchor are those whose programs end soonest. Plain data: it may be passed between threads. */
export interface AgentLine {
  /** Distance from the anchor, by the agent's key. */
  readonly distanceSeconds: ReadonlyMap<string, number>;
  /** The data for placing another agent. */
  readonly points: LinePoints;
}

/** The anchor first, then the agents. All in units of `scaleSeconds`, which keeps squares of any latencies within range. */
interface LinePoints {
  readonly scaleSeconds: number;
  /** Each point's quantiles one after another, each times its share of the probability: summed differences are 1-Wasserstein distances. */
  readonly shares: Float64Array;
  readonly coordinates: Float64Array;
  readonly eigenvalue: number;
  readonly meanSquares: Float64Array;
}

/**
 * Places agents on a line by their remaining latencies (Kairos, section 5.1): 1-Wasserstein distances between all of them and an anchor
 * with zero latency, reduced to one dimension by classical multidimensional scaling; an agent's distance is that from the anchor along it.
 * O(agents^2).
 *
 * Where no two distributions cross, so that of any two one has no quantile above the other's, their distance is the difference of their
 * means, the line preserves all distances, and each agent's distance from the anchor is its mean. Where they cross, no line preserves all
 * distances: a wide distribution apart from the others gets a distance below its mean, and among few agents below that of an agent with a
 * shorter mean.
 *
 * @throws RangeError where agents have different numbers of quantiles, or one is not finite.
 */
export function agentLine(agents: readonly LineAgent[]): AgentLine {
  const steps = agents[0]?.quantilesSeconds.length ?? 0;
  let scaleSeconds = 0;
  for (const { key, quantilesSeconds } of agents) {
    if (quantilesSeconds.length !== steps)
      throw new RangeError(`${key} has ${quantilesSeconds.length} quantiles, ${agents[0]?.key} ${steps}`);
    for (const quantile of quantilesSeconds) {
      if (!Number.isFinite(quantile)) throw new RangeError(`A quantile of ${key} is ${quantile}; it must be a number`);
      scaleSeconds = Math.max(scaleSeconds, Math.abs(quantile));
    }
  }
  const scale = scaleSeconds || 1;
  const shares = new Float64Array((agents.length + 1) * steps);
  for (const [at, { quantilesSeconds }] of agents.entries()) shares.set(sharesOf(quantilesSeconds, scale), (at + 1) * steps);
  const means = Float64Array.from({ length: agents.length + 1 }, (_, at) => sum(shares.subarray(at * steps, (at + 1) * steps)));
  const { coordinates, eigenvalue, meanSquares } = leadingCoordinate(squaredDistances(shares, agents.length + 1, steps), means);
  const distanceSeconds = new Map(
    agents.map(({ key }, at) => [key, scale * Math.abs((coordinates[at + 1] ?? 0) - (coordinates[0] ?? 0))] as const),
  );
  return { distanceSeconds, points: { scaleSeconds: scale, shares, coordinates, eigenvalue, meanSquares } };
}

/**
 * Distance from the anchor, in seconds, of an agent that was not part of the line, with all others unchanged (Gower, 1968). O(agents).
 * An agent of the line keeps its place, and an agent that crosses no other is placed exactly. Otherwise its error is the rotation that it
 * would have caused: less than 1 % of the longest distance among a hundred agents like it, and more beyond all of them.
 *
 * @throws RangeError where it has not as many quantiles as the line's agents.
 */
export function placeOnLine({ points }: AgentLine, quantilesSeconds: readonly number[]): number {
  const { scaleSeconds, shares, coordinates, eigenvalue, meanSquares } = points;
  const steps = shares.length / coordinates.length;
  const own = sharesOf(quantilesSeconds, scaleSeconds);
  // Without another agent apart from the anchor, the line is through these two.
  if (eigenvalue === 0) return scaleSeconds * Math.abs(sum(own));
  if (own.length !== steps) throw new RangeError(`The line's agents have ${steps} quantiles, found ${own.length}`);
  let product = 0;
  for (const [point, coordinate] of coordinates.entries()) {
    let distance = 0;
    for (let at = 0; at < steps; at += 1) distance += Math.abs((shares[point * steps + at] ?? 0) - (own[at] ?? 0));
    product += coordinate * ((meanSquares[point] ?? 0) - distance * distance);
  }
  return scaleSeconds * Math.abs(product / (2 * eigenvalue) - (coordinates[0] ?? 0));
}

/** Quantiles by the trapezoidal rule: the first and the last have half a step's weight. */
function sharesOf(quantilesSeconds: readonly number[], scaleSeconds: number): Float64Array {
  const last = quantilesSeconds.length - 1;
  const step = 1 / Math.max(1, last);
  return Float64Array.from(
    quantilesSeconds,
    (quantile, at) => (quantile / scaleSeconds) * (last > 0 && (at === 0 || at === last) ? step / 2 : step),
  );
}

/**
 * Squared distance of each pair of points, as input of `leadingCoordinate`. Computes two points against two at once: each value read is
 * used for two distances, which halves the time.
 */
function squaredDistances(shares: Float64Array, points: number, steps: number): Float32Array {
  const squares = new Float32Array((points * (points - 1)) / 2);
  for (let i = 0; i < points; i += 2) {
    const a = i * steps;
    const b = Math.min(i + 1, points - 1) * steps;
    const row = (i * (i - 1)) / 2;
    const nextRow = row + i;
    for (let j = 0; j <= i; j += 2) {
      const c = j * steps;
      const d = Math.min(j + 1, points - 1) * steps;
      let ac = 0;
      let ad = 0;
      let bc = 0;
      let bd = 0;
      for (let at = 0; at < steps; at += 1) {
        const one = shares[a + at] ?? 0;
        const two = shares[b + at] ?? 0;
        const three = shares[c + at] ?? 0;
        const four = shares[d + at] ?? 0;
        ac += Math.abs(one - three);
        ad += Math.abs(one - four);
        bc += Math.abs(two - three);
        bd += Math.abs(two - four);
      }
      if (j < i) {
        squares[row + j] = ac * ac;
        squares[row + j + 1] = ad * ad;
      }
      if (i + 1 < points) squares[nextRow + j] = bc * bc;
      if (i + 1 < points && j < i) squares[nextRow + j + 1] = bd * bd;
    }
  }
  return squares;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
