import { baselineMakers } from "@/solver/baselines/allBaselines";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type ComparisonContext, explorerAt } from "../compare/compareGround";
import { type ComparedGate, type GatedSystem, planAlone, planBeside, planCascade } from "./gatedContext";

export type { ComparedGate } from "./gatedContext";

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
        return made.outcome === "none" ? null : { system: made.system, plannedSeconds: Number.NaN };
      }),
  });
  const planned = plannedOnce(context, floor);
  return [
    bestOf("Weir", (rate) => [...gates.map((gate) => planned.cascade(gate, rate)), planned.alone(judge, rate)]),
    ...cascades.map((own) => cascadePlanner(own, planned)),
    ...(largest === undefined ? [] : [baseline("largest model alone", largest)]),
    ...built.map((maker) => baseline(maker.kind, maker)),
  ];
}

/** The planner's cascade with one gate, or the smallest model alone that meets the floor where that is faster. */
export const gatePlanner = (context: ComparisonContext, gate: ComparedGate, floor: number): RatePlanner =>
  cascadePlanner({ kind: gate.kind, gate }, plannedOnce(context, floor));

const cascadePlanner = ({ kind, gate }: GateCascade, planned: Planned): RatePlanner =>
  bestOf(kind, (rate) => [planned.cascade(gate, rate), planned.alone(gate, rate)]);

/** Plans of a floor. */
interface Planned {
  cascade(gate: ComparedGate, requestsPerSecond: number): GatedSystem | null;
  /** Asks no gate, and is the same with each. */
  alone(gate: ComparedGate, requestsPerSecond: number): GatedSystem | null;
}

/** Plans of a floor, each made once for a rate: systems that share a gate share its plans. */
function plannedOnce(context: ComparisonContext, floor: number): Planned {
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
    alone: (gate, requestsPerSecond) => once("alone", requestsPerSecond, () => planAlone(context, gate, { floor, requestsPerSecond })),
  };
}

/** A rate without a plan is deployed for this share of it, repeatedly, as baselines are. */
const LOWER_RATE = 0.9;

const MOST_LOWER = 6;

/**
 * The planner's best at a rate. Where it has none, which it refuses some way below saturation, the plan for 90 % of the rate, and so on: what
 * somebody would run who has to serve that rate. Every rate is planned once.
 */
export function bestOf(kind: string, plans: (requestsPerSecond: number) => readonly (GatedSystem | null)[]): RatePlanner {
  const known = new Map<number, GatedSystem | null>();
  const planned = (requestsPerSecond: number): GatedSystem | null => {
    const found = known.get(requestsPerSecond);
    if (found !== undefined) return found;
    const [best = null] = plans(requestsPerSecond)
      .filter((plan) => plan !== null)
      .sort((a, b) => a.plannedSeconds - b.plannedSeconds);
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
