import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { agentLine, type LineAgent, placeOnLine } from "@/solver/workflow/agentLine";
import type { Measurement } from "../benchmark";

/** Quantiles of each agent, at equal steps of probability. */
const QUANTILES = 33;

const RUNS = 5;

/** Agents placed on a finished line, one by one. */
const PLACED = 50;

/** Lognormal latencies with medians of half a second to ten minutes, from hardly spread to widely; with equal means, so that all of them cross. */
function drawnAgents(count: number, equalMeans: boolean): readonly LineAgent[] {
  const random = seededRandom(mixSeed(1, "agents", count));
  return Array.from({ length: count }, (_, at) => {
    const [middle, spread] = [Math.log(0.5) + Math.log(1200) * random.next(), 0.2 + 1.3 * random.next()];
    const latencies = Array.from({ length: QUANTILES }, () => random.lognormal(middle, spread)).sort((one, other) => one - other);
    const scale = equalMeans ? (20 * QUANTILES) / latencies.reduce((sum, value) => sum + value, 0) : 1;
    return { key: `application/agent-${at}`, quantilesSeconds: latencies.map((value) => value * scale) };
  });
}

/** Milliseconds of the quickest of a few runs. */
function bestMilliseconds(work: () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const before = performance.now();
    work();
    return performance.now() - before;
  });
  return Math.min(...times);
}

/** Time that one core takes to place so many agents anew. */
export function lineTime(count: number): Measurement {
  const agents = drawnAgents(count, false);
  const crossing = drawnAgents(count, true);
  const figure = bestMilliseconds(() => agentLine(agents));
  const line = agentLine(agents);
  const others = drawnAgents(PLACED, true);
  const placing = bestMilliseconds(() => others.map(({ quantilesSeconds }) => placeOnLine(line, quantilesSeconds))) / PLACED;
  return {
    figure,
    unit: "ms",
    detail: `${QUANTILES} quantiles each, lognormal with medians of 0.5 to 600 s, on one core, best of ${RUNS}; ${bestMilliseconds(() => agentLine(crossing)).toPrecision(3)} ms where all means are equal; one more agent placed in ${placing.toPrecision(2)} ms`,
  };
}
