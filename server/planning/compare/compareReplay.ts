import { cascadeServe } from "@/solver/baselines/cascadeServe";
import { baseSeconds, busiestLoad, highestRate } from "@/solver/baselines/measure";
import { phasedPolicy } from "@/solver/baselines/phasedPolicy";
import { systemOf } from "@/solver/baselines/planSystem";
import { type PlannedFrom, rollout } from "@/solver/baselines/rollout";
import { standAlone } from "@/solver/baselines/standAlone";
import type { System } from "@/solver/baselines/system";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { atRate, thinnedArrivals } from "@/solver/engine/thinning";
import { mean, quantile } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { RequestSample } from "@/solver/workload/workload";
import { type ComparisonContext, explorerAt, planAt } from "./compareGround";

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

/** Interval at which the load is checked (Cascadia, section 4.4); a change is seen at the next check. */
const LOOK_SECONDS = 300;

/** From the detection of a change to the start of the roll-out: planning takes about as long. */
export const PLAN_SECONDS = 2;

/** Precision of the highest factor, as a factor: every attempt plans again and simulates all phases. */
export const FACTOR_TOLERANCE = 1.1;

/** The system in each phase at a factor on the rates; a phase without its own plan keeps the previous one. null: none at first. */
type Replan = (phase: Phase, factor: number, at: number) => System | null;

/**
 * Replays traffic whose rate, lengths and difficulty change (Cascadia, section 4.4 and appendix G) under re-planning, under the first plan
 * kept, under CascadeServe, which sees the load only, and under a stand-alone model. A change of the traffic is not tested for but known at
 * each check. Roll-outs are simulated; queues carry over.
 */
export function replayPhases(request: ReplayRequest): Replayed[] {
  const { ground, phases, floor, sloScale, progress } = request;
  const { outcomes } = ground.request.situation.workload;
  const base = baseSeconds(outcomes, ground.measuring, ground);
  const [first] = phases;
  if (first === undefined) throw new RangeError("A replay needs at least one phase");
  const weir: Replan = (phase, factor) => {
    const planned = planAt({ ...ground, planning: phase.planning }, floor, phase.requestsPerSecond * factor);
    return planned.outcome === "plan" ? systemOf(planned.plan, outcomes) : null;
  };
  const baseline = (phase: Phase, factor: number) => ({
    explorer: explorerAt({ ...ground, planning: first.planning }, phase.requestsPerSecond * factor),
    floor,
    nodes: ground.request.situation.cluster.nodes,
    outcomes,
    planning: first.planning,
  });
  const systems: readonly { readonly name: string; readonly replan: Replan }[] = [
    { name: "Weir, re-planned", replan: weir },
    { name: "Weir, first plan kept", replan: (phase, factor, at) => (at === 0 ? weir(phase, factor, at) : null) },
    {
      name: "CascadeServe",
      replan(phase, factor) {
        const found = cascadeServe(baseline(phase, factor));
        return found.outcome === "system" ? found.system : null;
      },
    },
    {
      name: "stand-alone",
      replan(phase, factor, at) {
        if (at > 0) return null;
        const situation = baseline(phase, factor);
        const found = ground.models.map((_, model) => standAlone(situation, model)).find(({ outcome }) => outcome === "system");
        return found?.outcome === "system" ? found.system : null;
      },
    },
  ];
  const scaleOf = (run: ReplayRun | null): number | null => (run === null ? null : run.p95Seconds / base);
  const replayed = systems.map(({ name, replan }) => {
    const run = replayAt(request, replan, 1);
    const scale = scaleOf(run);
    progress(
      `${name}: SLO scale ${scale?.toFixed(2) ?? "overloaded"}, quality ${run?.quality.map((one) => one.toFixed(1)).join(", ") ?? "-"}`,
    );
    return { name, sloScale: scale, quality: run?.quality ?? [], reconfigured: run?.reconfigured ?? 0 };
  });
  return systems.map(({ name, replan }, index) => {
    const at1 = replayed[index];
    if (at1 === undefined) throw new Error(`${name} was not replayed`);
    const keeps = (factor: number): boolean => {
      const scale = factor === 1 ? at1.sloScale : scaleOf(replayAt(request, replan, factor));
      progress(`  ${name}, ${factor.toFixed(2)} times the rates: SLO scale ${scale?.toFixed(2) ?? "overloaded"}`);
      return (scale ?? Number.POSITIVE_INFINITY) <= sloScale;
    };
    return { ...at1, highestFactor: highestRate(keeps, 1, FACTOR_TOLERANCE) };
  });
}

interface ReplayRun {
  readonly p95Seconds: number;
  readonly quality: readonly number[];
  readonly reconfigured: number;
}

/** One replay; null if there is no initial plan, or if the plan in force in a phase is overloaded: its queue then grows for minutes. */
function replayAt(request: ReplayRequest, replan: Replan, factor: number): ReplayRun | null {
  const { ground, phases, reconfigureSeconds } = request;
  const { workload } = ground.request.situation;
  const plans: PlannedFrom[] = [];
  let begins = 0;
  for (const [at, phase] of phases.entries()) {
    const system = replan(phase, factor, at);
    const seen = LOOK_SECONDS * Math.ceil(begins / LOOK_SECONDS) + PLAN_SECONDS;
    if (system !== null) plans.push({ fromSeconds: at === 0 ? 0 : seen, system });
    const inForce = plans.at(-1)?.system;
    if (inForce === undefined) return null;
    const own = { outcomes: workload.outcomes, rows: phase.measuring };
    if (busiestLoad(inForce, own, { ...ground, requestsPerSecond: phase.requestsPerSecond * factor }) >= 1) return null;
    begins += phase.seconds;
  }
  const { epochs, replicas, uptimes, reconfigured } = rollout(plans, { ...ground, reconfigureSeconds });
  const { sample, phaseOf } = phasedTraffic(workload, phases, factor);
  const outcome = simulateCluster({
    policy: phasedPolicy(ground.models, epochs, uptimes),
    replicas,
    sample,
    outcomes: workload.outcomes,
    judgeSeconds: ground.judge.secondsPerCall,
  });
  return {
    p95Seconds: quantile(outcome.endToEndSeconds, 0.95),
    quality: phases.map((_, at) => mean(outcome.quality.filter((label, index) => phaseOf[index] === at && !Number.isNaN(label)))),
    reconfigured,
  };
}

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
