import { baselineMakers } from "@/solver/baselines/allBaselines";
import { baseSeconds, busiestLoad, highestRate } from "@/solver/baselines/measure";
import { phasedPolicy } from "@/solver/baselines/phasedPolicy";
import { type PlannedFrom, rollout } from "@/solver/baselines/rollout";
import { type System, systemOf } from "@/solver/baselines/system";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { mean, quantile } from "@/solver/numeric/quantile";
import { explorerAt, planAt } from "./compareGround";
import { FACTOR_TOLERANCE, type Phase, PLAN_SECONDS, phasedTraffic, type Replayed, type ReplayRequest } from "./replayScene";

export { type DetectedReplay, replayDetected } from "./detectedReplay";
export type { Phase, Replayed, ReplayRequest } from "./replayScene";

/** Interval at which the load is checked (Cascadia, section 4.4); a change is seen at the next check. */
const LOOK_SECONDS = 300;

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
  const makers = baselineMakers(ground.models.length, "No heads were trained.");
  const alone = makers.slice(0, ground.models.length);
  const byLoad = makers.filter(({ kind }) => kind === "CascadeServe");
  /** The first that there is. */
  const madeBy = (own: typeof makers, phase: Phase, factor: number): System | null => {
    for (const { make } of own) {
      const made = make(baseline(phase, factor), { stages: [], thresholds: [], startBelow: 0 });
      if (made.outcome === "system") return made.system;
    }
    return null;
  };
  const systems: readonly { readonly name: string; readonly replan: Replan }[] = [
    { name: "Weir, re-planned", replan: weir },
    { name: "Weir, first plan kept", replan: (phase, factor, at) => (at === 0 ? weir(phase, factor, at) : null) },
    {
      name: "CascadeServe",
      replan(phase, factor) {
        return madeBy(byLoad, phase, factor);
      },
    },
    {
      name: "stand-alone",
      replan(phase, factor, at) {
        if (at > 0) return null;
        return madeBy(alone, phase, factor);
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
