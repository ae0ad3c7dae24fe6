import { leadingCoordinate } from "@/solver/numeric/leadingCoordinate";

/** An agent as its remaining latencies have it. */
export interface LineAgent {
  /** `application/agent`. */
  readonly key: string;
  /** At equal steps of probability, the least first and the most last; finite, and as many for every agent. */
  readonly quantilesSeconds: readonly number[];
}

/** All agents on one line, on which the nearest to the anchor are those whose programs end soonest. Plain data: it may be handed between threads. */
export interface AgentLine {
  /** From the anchor, by the agent's key. */
  readonly distanceSeconds: ReadonlyMap<string, number>;
  /** What another agent is placed by. */
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
 * Places agents on a line by their remaining latencies (Kairos, section 5.1): 1-Wasserstein distances between all of them and an anchor without
 * any latency, brought to one dimension by classical multidimensional scaling; an agent's distance is that from the anchor along it. O(agents^2).
 *
 * Where no two distributions cross, so that of any two one has no quantile above the other's, they are apart by the difference of their
 * means, stand on a line as they are, and each is as far from the anchor as its mean is long. Where they cross no line keeps all distances: a
 * wide distribution that stands aside of the others comes out nearer the anchor than its mean, and among few agents nearer than one of a shorter mean.
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
 * How far from the anchor an agent stands that the line was not made of, in seconds, all others staying where they are (Gower, 1968). O(agents).
 * One of the line's own stands where it stood, and so does one that crosses no other. Else it is off by what it would have turned the line by:
 * less than 1 % of the longest distance among a hundred agents like it, and more beyond them all.
 *
 * @throws RangeError where it has not as many quantiles as the line's agents.
 */
export function placeOnLine({ points }: AgentLine, quantilesSeconds: readonly number[]): number {
  const { scaleSeconds, shares, coordinates, eigenvalue, meanSquares } = points;
  const steps = shares.length / coordinates.length;
  const own = sharesOf(quantilesSeconds, scaleSeconds);
  // Without another agent apart from the anchor, the two of them make the line.
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

/** Quantiles by the trapezoidal rule: the first and the last stand for half a step. */
function sharesOf(quantilesSeconds: readonly number[], scaleSeconds: number): Float64Array {
  const last = quantilesSeconds.length - 1;
  const step = 1 / Math.max(1, last);
  return Float64Array.from(
    quantilesSeconds,
    (quantile, at) => (quantile / scaleSeconds) * (last > 0 && (at === 0 || at === last) ? step / 2 : step),
  );
}

/**
 * Squared distance of each pair of points, as `leadingCoordinate` reads them. Two points against two at once: values that are read once serve two
 * distances, which takes half the time.
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
