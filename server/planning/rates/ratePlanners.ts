import { baselineMakers } from "@/solver/baselines/allBaselines";
import { busiestLoad } from "@/solver/baselines/measure";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type ComparisonContext, explorerAt } from "../compare/compareGround";
import { type ComparedGate, type GatedSystem, planAlone, planBeside, planCascade } from "./gatedContext";

export { type ComparedGate, type GatedSystem, planBeside } from "./gatedContext";

/** A kind of system that is planned anew at every rate. */
export interface RatePlanner {
  readonly kind: string;
  /** The system for a rate, and where it cannot sustain it the one to keep; null where there is none at all. */
  plan(requestsPerSecond: number): GatedSystem | null;
}

interface PlannersInput {
  readonly context: ComparisonContext;
  readonly floor: number;
  /** The judge that baselines ask. Its engines take GPUs of the cluster, as those of other gates do. */
  readonly judge: ComparedGate;
  /** Gates that Weir chooses among at every rate. */
  readonly gates: readonly ComparedGate[];
  /** Cascades with one gate and the planner's own search, each a system of its own. */
  readonly cascades: readonly GateCascade[];
  /** The table with trained heads' out-of-fold scores; null: there are none, and no router is compared. */
  readonly trained: OutcomeTable | null;
  /** Rows that the complexity-blind CascadeServe was profiled on; left out: as many planning prompts of each category. */
  readonly profiled?: Int32Array;
}

/** The planner's cascade with one gate, as a system. */
export interface GateCascade {
  readonly kind: string;
  readonly gate: ComparedGate;
}

/** The baselines that can really be built, in this order: no modelled router, no oracle, and no ablation of the plan. */
const BUILT = ["trained router", "CascadeServe", "CascadeServe, complexity-blind", "Sarathi-Serve"];

/** No baseline here is made from a plan. */
const NO_PLAN = { stages: [], thresholds: [], startBelow: 0 } as const;

/** Weir first, then cascades with other gates, then baselines. */
export function ratePlanners({ context, floor, judge, gates, cascades, trained, profiled }: PlannersInput): readonly RatePlanner[] {
  const makers = baselineMakers(context.models.length, trained ?? "No heads were trained.");
  const largest = makers[context.shapes.findLastIndex((own) => own.length > 0)];
  const built = BUILT.flatMap((kind) => makers.filter((maker) => maker.kind === kind));
  const baseline = (kind: string, { make }: (typeof makers)[number]): RatePlanner => ({
    kind,
    plan: (requestsPerSecond) =>
      planBeside(context, judge, requestsPerSecond, (beside) => {
        const { workload, cluster } = beside.request.situation;
        const explorer = explorerAt(beside, requestsPerSecond);
        const own = { explorer, floor, nodes: cluster.nodes, outcomes: workload.outcomes, planning: beside.planning };
        const made = make({ ...own, ...(profiled === undefined ? {} : { profiled }) }, NO_PLAN);
        return made.outcome === "none" ? null : { system: made.system, plannedSeconds: Number.NaN, isNearSaturation: false };
      }),
  });
  const planned = plannedOnce(context, floor, judge);
  return [
    bestOf("Weir", {
      plansAt: (rate) => [...gates.map((gate) => planned.cascade(gate, rate)), planned.alone(rate)],
      loadOf: planned.loadOf,
    }),
    ...cascades.map((own) => cascadePlanner(own, planned)),
    ...(largest === undefined ? [] : [baseline("largest model alone", largest)]),
    ...built.map((maker) => baseline(maker.kind, maker)),
  ];
}

/** The planner's cascade with one gate, or the smallest model alone that meets the floor where that is faster. */
export const gatePlanner = (context: ComparisonContext, gate: ComparedGate, floor: number): RatePlanner =>
  cascadePlanner({ kind: gate.kind, gate }, plannedOnce(context, floor, gate));

const cascadePlanner = ({ kind, gate }: GateCascade, planned: Planned): RatePlanner =>
  bestOf(kind, { plansAt: (rate) => [planned.cascade(gate, rate), planned.alone(rate)], loadOf: planned.loadOf });

/** Plans of a floor. */
interface Planned {
  cascade(gate: ComparedGate, requestsPerSecond: number): GatedSystem | null;
  /** Asks no gate, and is the same with each. */
  alone(requestsPerSecond: number): GatedSystem | null;
  /** Of the busiest stage, or of the gate's engines, on planning prompts: 1 saturates it. */
  readonly loadOf: PlansOf["loadOf"];
}

/** Plans of a floor, each made once for a rate: systems that share a gate share its plans. @param any gate, which a model alone does not ask. */
function plannedOnce(context: ComparisonContext, floor: number, any: ComparedGate): Planned {
  const byGate = new Map<ComparedGate | "alone", Map<number, GatedSystem | null>>();
  const once = (key: ComparedGate | "alone", requestsPerSecond: number, make: () => GatedSystem | null): GatedSystem | null => {
    const known = byGate.get(key) ?? new Map<number, GatedSystem | null>();
    byGate.set(key, known);
    const found = known.get(requestsPerSecond);
    if (found !== undefined) return found;
    const made = make();
    known.set(requestsPerSecond, made);
    return made;
  };
  return {
    cascade: (gate, requestsPerSecond) => once(gate, requestsPerSecond, () => planCascade(context, gate, { floor, requestsPerSecond })),
    alone: (requestsPerSecond) => once("alone", requestsPerSecond, () => planAlone(context, any, { floor, requestsPerSecond })),
    loadOf: ({ system, outcomes, gateRate }, requestsPerSecond) => {
      const { models, shapes, planning: rows } = context;
      return Math.max(busiestLoad(system, { outcomes, rows }, { models, shapes, requestsPerSecond }), requestsPerSecond / gateRate);
    },
  };
}

/** A rate without a plan is deployed for this share of it, repeatedly, as baselines are. */
const LOWER_RATE = 0.9;

const MOST_LOWER = 6;

/** Plans of a system for a rate, and how loaded one of them is there by the planner's model: the share of what its busiest stage carries. */
interface PlansOf {
  plansAt(requestsPerSecond: number): readonly (GatedSystem | null)[];
  loadOf(planned: GatedSystem, requestsPerSecond: number): number;
}

/**
 * The planner's fastest at a rate, of those that are not near saturation if there is one. Where it has none, which it refuses some way below
 * saturation, the least loaded of its plans for 90 % of the rate, and so on: what somebody would run who has to serve that rate. Every rate is
 * planned once.
 */
export function bestOf(kind: string, { plansAt, loadOf }: PlansOf): RatePlanner {
  const known = new Map<number, GatedSystem | null>();
  const least = (plans: readonly (GatedSystem | null)[], figure: (planned: GatedSystem) => number): GatedSystem | null => {
    const found = plans.flatMap((planned) => (planned === null ? [] : [{ planned, value: figure(planned) }]));
    return found.sort((a, b) => a.value - b.value)[0]?.planned ?? null;
  };
  const planned = (requestsPerSecond: number): GatedSystem | null => {
    const plans = plansAt(requestsPerSecond);
    const reliable = plans.filter((plan) => plan?.isNearSaturation === false);
    const fastest = (of: typeof plans): GatedSystem | null => least(of, ({ plannedSeconds }) => plannedSeconds);
    let best = fastest(reliable) ?? fastest(plans);
    for (let lower = 1; best === null && lower <= MOST_LOWER; lower += 1) {
      const rate = requestsPerSecond * LOWER_RATE ** lower;
      best = least(plansAt(rate), (one) => loadOf(one, rate));
    }
    return best;
  };
  return {
    kind,
    plan(requestsPerSecond) {
      const found = known.get(requestsPerSecond);
      if (found !== undefined) return found;
      const best = planned(requestsPerSecond);
      known.set(requestsPerSecond, best);
      return best;
    },
  };
}
