import { baselineMakers } from "@/solver/baselines/allBaselines";
import { tableRows } from "@/solver/baselines/halves";
import { baseSeconds, highestRate } from "@/solver/baselines/measure";
import { type Drifted, type Expected, firstDrift, mirroredRequests, type Watching, withMirror } from "@/solver/baselines/mirroredDrift";
import { phasedPolicy } from "@/solver/baselines/phasedPolicy";
import { type PlannedFrom, rollout } from "@/solver/baselines/rollout";
import { systemOf } from "@/solver/baselines/system";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { mean, quantile } from "@/solver/numeric/quantile";
import { observedWorkload } from "@/solver/workload/observedWorkload";
import type { Workload } from "@/solver/workload/workload";
import { type ComparisonContext, explorerAt, planAt } from "./compareGround";
import { FACTOR_TOLERANCE, PLAN_SECONDS, phasedTraffic, type Replayed, type ReplayRequest } from "./replayScene";

/** A replay in which every change of the traffic had to be detected. */
export interface DetectedReplay extends Replayed {
  /** When roll-outs of new plans began, in seconds, and what had drifted. */
  readonly replanned: readonly { readonly atSeconds: number; readonly what: readonly string[] }[];
  /** Requests of the mirror, as a share of all. */
  readonly mirrorShare: number;
}

/** A system planned from what was seen; null: no plan, and the one in force stays. */
type PlanFrom = (context: ComparisonContext, requestsPerSecond: number) => PlannedFrom["system"] | null;

/**
 * The fluctuating load under the studio's own drift test: nothing is known of the phases. Weir mirrors a share of the requests through the
 * models of its plan, which loads their engines, and plans again from those requests by the studio's `observedWorkload`; CascadeServe sees the
 * rate only. Both start with the plan for the first phase.
 */
export function replayDetected(request: ReplayRequest, watching: Watching): readonly DetectedReplay[] {
  const { ground, floor, progress } = request;
  const [first] = request.phases;
  if (first === undefined) throw new RangeError("A replay needs at least one phase");
  const base = baseSeconds(ground.request.situation.workload.outcomes, ground.measuring, ground);
  const weir: PlanFrom = (context, requestsPerSecond) => {
    const planned = planAt(context, floor, requestsPerSecond);
    return planned.outcome === "plan" ? systemOf(planned.plan, context.request.situation.workload.outcomes) : null;
  };
  const byLoad: PlanFrom = (_, requestsPerSecond) => {
    const own = { ...ground, planning: first.planning };
    const { workload, cluster } = ground.request.situation;
    const cascadeServe = baselineMakers(ground.models.length, "No heads were trained.").find(({ kind }) => kind === "CascadeServe");
    const situation = {
      explorer: explorerAt(own, requestsPerSecond),
      ...{ floor, nodes: cluster.nodes, outcomes: workload.outcomes, planning: first.planning },
    };
    const found = cascadeServe?.make(situation, { stages: [], thresholds: [], startBelow: 0 });
    return found?.outcome === "system" ? found.system : null;
  };
  const systems = [
    { name: "Weir, drift detected", plan: weir, watching },
    { name: "CascadeServe, rate detected", plan: byLoad, watching: { ...watching, mirrorShare: 0 } },
  ];
  return systems.map(({ name, plan, watching: own }) => {
    const at = (factor: number) => {
      const run = replayOnce(request, { plan, watching: own, factor });
      progress(`  ${name}, ${factor.toFixed(2)} times the rates: SLO scale ${run === null ? "-" : (run.p95Seconds / base).toFixed(2)}`);
      return run;
    };
    const at1 = at(1);
    const keeps = (factor: number): boolean =>
      ((factor === 1 ? at1 : at(factor))?.p95Seconds ?? Number.POSITIVE_INFINITY) <= request.sloScale * base;
    const scale = at1 === null ? null : at1.p95Seconds / base;
    return {
      ...{ name, sloScale: scale, quality: at1?.quality ?? [], reconfigured: at1?.reconfigured ?? 0 },
      ...{ highestFactor: highestRate(keeps, 1, FACTOR_TOLERANCE), replanned: at1?.replanned ?? [], mirrorShare: own.mirrorShare },
    };
  });
}

/** One replay at a factor on all rates; null if there is no first plan. */
function replayOnce(
  { ground, phases, reconfigureSeconds }: ReplayRequest,
  { plan, watching, factor }: { readonly plan: PlanFrom; readonly watching: Watching; readonly factor: number },
) {
  const { workload } = ground.request.situation;
  const [first] = phases;
  if (first === undefined) return null;
  const { sample, phaseOf } = phasedTraffic(workload, phases, factor);
  const traffic = { sample, outcomes: workload.outcomes };
  const mirrored = mirroredRequests(sample.prompt.length, watching, workload.seed);
  const started = { ...ground, planning: first.planning };
  const system = plan(started, first.requestsPerSecond * factor);
  if (system === null) return null;
  const plans: PlannedFrom[] = [{ fromSeconds: 0, system }];
  const replanned: { readonly atSeconds: number; readonly what: readonly string[] }[] = [];
  let expected = expectedOf(started, first.requestsPerSecond * factor, system);
  for (let from = 0; ; ) {
    const drifted = firstDrift(traffic, expected, { watching, mirrored, from, seed: workload.seed });
    if (drifted === null) break;
    const seen = contextOf(started, drifted);
    // The bound on quality is wider on few observed prompts: where it keeps no plan from them, the first planning prompts at the new rate.
    const next = plan(seen, drifted.requestsPerSecond) ?? plan(started, drifted.requestsPerSecond);
    const inForce = next ?? plans.at(-1)?.system ?? system;
    if (next !== null) {
      const fromSeconds = drifted.atSeconds + PLAN_SECONDS;
      plans.push({ fromSeconds, system: next });
      replanned.push({ atSeconds: fromSeconds, what: drifted.what });
    }
    expected = expectedOf(seen, drifted.requestsPerSecond, inForce);
    from = drifted.atSeconds;
  }
  const { epochs, replicas, uptimes, reconfigured } = rollout(plans, { ...ground, reconfigureSeconds });
  const served = withMirror(traffic, mirrored);
  const outcome = simulateCluster({
    policy: phasedPolicy(ground.models, epochs, uptimes),
    replicas,
    sample: served.sample,
    outcomes: served.outcomes,
    judgeSeconds: ground.judge.secondsPerCall,
  });
  const own = <Value>(values: ArrayLike<Value>): Value[] => Array.from(values).filter((_, at) => served.mirror[at] === 0);
  const quality = own(outcome.quality);
  return {
    p95Seconds: quantile(Float64Array.from(own(outcome.endToEndSeconds)), 0.95),
    quality: phases.map((_, at) => mean(quality.filter((label, index) => phaseOf[index] === at && !Number.isNaN(label)))),
    reconfigured,
    replanned,
  };
}

/** The planning prompts and rate that a plan expects, with the scores of the models that it has. */
const expectedOf = ({ request, planning }: ComparisonContext, requestsPerSecond: number, { stages }: PlannedFrom["system"]): Expected => {
  const { outcomes, arrivalSeconds } = request.situation.workload;
  return { requestsPerSecond, arrivalSeconds, outcomes: tableRows(outcomes, planning), models: stages.map(({ model }) => model) };
};

/** The context on the observed traffic; the earlier one where too little was seen for a workload. */
function contextOf(context: ComparisonContext, { mirrored }: Drifted): ComparisonContext {
  const { request, planning } = context;
  const { workload } = request.situation;
  const earlier: Workload = { ...workload, outcomes: tableRows(workload.outcomes, planning) };
  const seen = observedWorkload(earlier, mirrored, `${workload.name}, seen`);
  if (seen === null) return context;
  // The bursts of the recorded trace: the mirror's own arrivals are a thinned part.
  const observed = { ...seen, arrivalSeconds: workload.arrivalSeconds };
  const situation = { ...request.situation, workload: observed };
  return { ...context, request: { ...request, situation }, planning: Int32Array.from(observed.outcomes.promptIds.keys()) };
}
