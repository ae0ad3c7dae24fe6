import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { agentLine, type LineAgent, placeOnLine } from "@/solver/workflow/learning/agentLine";
import type { Measurement } from "../lib/benchmark";

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

interface Milliseconds {
  /** Of processor, all threads of this process together. */
  readonly processor: number;
  readonly wall: number;
}

/** The least that any of a few runs took. */
function bestOf(work: () => unknown): Milliseconds {
  const runs = Array.from({ length: RUNS }, () => {
    const [before, cpuBefore] = [performance.now(), process.cpuUsage()];
    work();
    const { user, system } = process.cpuUsage(cpuBefore);
    return { processor: (user + system) / 1000, wall: performance.now() - before };
  });
  return { processor: Math.min(...runs.map(({ processor }) => processor)), wall: Math.min(...runs.map(({ wall }) => wall)) };
}

const shown = (milliseconds: number): string => (milliseconds < 100 ? milliseconds.toPrecision(2) : milliseconds.toFixed(0));

/** Processor time to place so many agents anew. */
export function lineTime(count: number): Measurement {
  const agents = drawnAgents(count, false);
  const crossing = drawnAgents(count, true);
  const anew = bestOf(() => agentLine(agents));
  const line = agentLine(agents);
  const others = drawnAgents(PLACED, true);
  const placing = bestOf(() => others.map(({ quantilesSeconds }) => placeOnLine(line, quantilesSeconds))).processor / PLACED;
  return {
    figure: anew.processor,
    unit: "ms of one core",
    detail: `${QUANTILES} quantiles each, lognormal with medians of 0.5 to 600 s, best of ${RUNS}; ${shown(anew.wall)} ms of the wall; ${shown(bestOf(() => agentLine(crossing)).processor)} ms where all means are equal and all distributions cross; one more agent placed in ${shown(placing)} ms`,
  };
}
