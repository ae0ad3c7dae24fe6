import { atRate, thinnedArrivals } from "@/solver/engine/thinning";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { RequestSample } from "@/solver/workload/workload";
import type { ComparisonContext } from "./compareGround";

/** A period of traffic with its own rate and prompts. */
export interface Phase {
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** Rows for planning and rows for measuring. */
  readonly planning: Int32Array;
  readonly measuring: Int32Array;
}

export interface ReplayRequest {
  readonly ground: ComparisonContext;
  readonly phases: readonly Phase[];
  readonly floor: number;
  readonly sloScale: number;
  /** Time for which one replica is out of service while it is reconfigured. */
  readonly reconfigureSeconds: number;
  readonly progress: (line: string) => void;
}

/** What a system does in a replay. */
export interface Replayed {
  readonly name: string;
  /** At the given rates; null if a phase overloads it. */
  readonly sloScale: number | null;
  /** Mean label of the answers in each phase. */
  readonly quality: readonly number[];
  /** Replicas that were restarted. */
  readonly reconfigured: number;
  /** Highest factor on all rates at which 95 % keep the stated SLO scale, re-planned for it; 0 if none was found. */
  readonly highestFactor: number;
}

/** From the detection of a change to the start of the roll-out: planning takes about as long. */
export const PLAN_SECONDS = 2;

/** Precision of the highest factor, as a factor: every attempt plans again and simulates all phases. */
export const FACTOR_TOLERANCE = 1.1;

/** Requests of all phases in sequence, with the phase of each. */
export function phasedTraffic(
  { arrivalSeconds: recorded, seed }: { readonly arrivalSeconds: Float64Array; readonly seed: number },
  phases: readonly Phase[],
  factor: number,
): { readonly sample: RequestSample; readonly phaseOf: readonly number[] } {
  const random = seededRandom(mixSeed(seed, "phased traffic"));
  const arrivals: number[] = [];
  const prompts: number[] = [];
  const phaseOf: number[] = [];
  let begins = 0;
  for (const [at, { seconds, requestsPerSecond, measuring }] of phases.entries()) {
    const rate = requestsPerSecond * factor;
    const count = Math.round(seconds * rate);
    const own = atRate(thinnedArrivals(recorded, { share: 1, oneIn: 1, count, seed }), rate);
    for (const second of own) {
      arrivals.push(begins + second);
      prompts.push(measuring[random.int(measuring.length)] ?? 0);
      phaseOf.push(at);
    }
    begins += seconds;
  }
  return { sample: { arrivalSeconds: Float64Array.from(arrivals), prompt: Int32Array.from(prompts) }, phaseOf };
}
