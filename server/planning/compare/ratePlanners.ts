import { smallestWithStepBudget } from "@/solver/baselines/allBaselines";
import { COMPLEXITY_BLIND, cascadeServe } from "@/solver/baselines/cascadeServe";
import { routerBeforeAnswering } from "@/solver/baselines/routerBeforeAnswering";
import type { BaselineSituation } from "@/solver/baselines/situation";
import { standAlone } from "@/solver/baselines/standAlone";
import type { Baseline } from "@/solver/baselines/system";
import { createExplorer } from "@/solver/cascade/explore/explore";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { planningSample } from "@/solver/cascade/routing/routing";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type ComparisonContext, explorerAt } from "./compareGround";
import { type ComparedGate, type GatedSystem, planGated } from "./gatedContext";

/** A kind of system that is planned anew at every rate. */
export interface RatePlanner {
  readonly kind: string;
  /** The system for a rate, and where it cannot sustain it the one to keep; null where there is none at all. */
  plan(requestsPerSecond: number): GatedSystem | null;
}

interface PlannersInput {
  readonly context: ComparisonContext;
  readonly floor: number;
  /** Gates that Weir chooses among at the first rate that has a plan: the one with the least planned p95 there, kept at other rates. */
  readonly gates: readonly ComparedGate[];
  /** Cascades with another gate and the planner's own search, each a system of its own. */
  readonly cascades: readonly ComparedGate[];
  /** The table with trained heads' out-of-fold scores; null: there are none, and no router is compared. */
  readonly trained: OutcomeTable | null;
  /** Rows that the complexity-blind CascadeServe was profiled on; left out: there is no other traffic, and it is not compared. */
  readonly profiled?: Int32Array;
}

/** Weir first, then every system that can really be built: no modelled router and no oracle. */
export function ratePlanners({ context, floor, gates, cascades, trained, profiled }: PlannersInput): readonly RatePlanner[] {
  const { workload, cluster } = context.request.situation;
  const { secondsPerCall, usdPerCall } = context.judge;
  const blind = profiled === undefined ? null : profiledExplorer(context, profiled);
  const largest = context.shapes.findLastIndex((own) => own.length > 0);
  const baseline = (kind: string, make: (situation: BaselineSituation) => Baseline): RatePlanner => ({
    kind,
    plan(requestsPerSecond) {
      const explorer = explorerAt(context, requestsPerSecond);
      const own = { explorer, floor, nodes: cluster.nodes, outcomes: workload.outcomes, planning: context.planning };
      const made = make(own);
      if (made.outcome === "none") return null;
      const { outcomes } = workload;
      return {
        ...{ kind, system: made.system, outcomes, judgeSeconds: secondsPerCall, usdPerJudgement: usdPerCall },
        ...{ gateGpus: 0, plannedSeconds: Number.NaN },
      };
    },
  });
  return [
    bestOf(
      "Weir",
      withOneGate(gates, (gate, at) => planGated(context, gate, at)),
      floor,
    ),
    ...cascades.map((gate) => bestOf(gate.kind, (at) => [planGated(context, gate, at) ?? []].flat(), floor)),
    ...(trained === null ? [] : [baseline("trained router", (own) => routerBeforeAnswering(own, { kind: "trained", outcomes: trained }))]),
    baseline("CascadeServe", (own) => cascadeServe(own)),
    ...(blind === null ? [] : [baseline(COMPLEXITY_BLIND, (own) => cascadeServe(own, blind(own.explorer.input.requestsPerSecond)))]),
    baseline("largest model alone", (own) => standAlone(own, largest)),
    baseline("Sarathi-Serve", smallestWithStepBudget),
  ];
}

interface PlannedFor {
  readonly floor: number;
  readonly requestsPerSecond: number;
}

/** Plans with every gate until some has a plan, and from then on with the gate of the fastest of those. */
function withOneGate(
  gates: readonly ComparedGate[],
  plan: (gate: ComparedGate, at: PlannedFor) => GatedSystem | null,
): (at: PlannedFor) => readonly GatedSystem[] {
  let kept = gates;
  return (at) => {
    const planned = kept.flatMap((gate) => {
      const found = plan(gate, at);
      return found === null ? [] : [{ gate, found }];
    });
    const [fastest] = planned.sort((a, b) => a.found.plannedSeconds - b.found.plannedSeconds);
    if (fastest !== undefined) kept = [fastest.gate];
    return fastest === undefined ? [] : [fastest.found];
  };
}

/** A rate without a plan is deployed for this share of it, repeatedly, as baselines are. */
const LOWER_RATE = 0.9;

const MOST_LOWER = 6;

/**
 * The planner's best at a rate. Where it has none, which it refuses some way below saturation, the plan for 90 % of the rate, and so on: what
 * somebody would run who has to serve that rate. Every rate is planned once.
 */
export function bestOf(kind: string, plans: (at: PlannedFor) => readonly GatedSystem[], floor: number): RatePlanner {
  const known = new Map<number, GatedSystem | null>();
  const planned = (requestsPerSecond: number): GatedSystem | null => {
    const found = known.get(requestsPerSecond);
    if (found !== undefined) return found;
    const [best = null] = [...plans({ floor, requestsPerSecond })].sort((a, b) => a.plannedSeconds - b.plannedSeconds);
    known.set(requestsPerSecond, best);
    return best;
  };
  return {
    kind,
    plan(requestsPerSecond) {
      let best = planned(requestsPerSecond);
      for (let lower = 1; best === null && lower <= MOST_LOWER; lower += 1) best = planned(requestsPerSecond * LOWER_RATE ** lower);
      return best;
    },
  };
}

/** The explorer of the profiled prompts at any rate: its bound and routings do not depend on it. */
function profiledExplorer(context: ComparisonContext, rows: Int32Array): (requestsPerSecond: number) => Explorer {
  const { input } = explorerAt(context, 1);
  const { outcomes } = context.request.situation.workload;
  const own = createExplorer({ ...input, sample: planningSample(outcomes, rows, context.models) });
  return (requestsPerSecond) => ({ ...own, input: { ...own.input, requestsPerSecond } });
}
