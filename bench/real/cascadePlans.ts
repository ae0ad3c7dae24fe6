import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { FixedJudge } from "@/solver/cascade/explore/situation";
import { arrivals } from "@/solver/engine/arrivals";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { type CascadeFigures, escalatedOf, noFigures, partsOf } from "./cascadeFigures";
import { CORES, type EngineKind, LARGE, SMALL } from "./connections";
import { type Asked, type PredictionContext, planOf, simulatedOf } from "./predictions";

/** Requests per second of the cascade, and of the larger model alone. */
const CASCADE_RATES = [5, 10, 20, 40, 70, 100] as const;
export const ALONE_RATES = [5, 10, 20, 40, 70, 100, 160, 250] as const;

/** Quality that every plan has at least, as a point value on the planning questions. */
export const FLOOR = 93;

/** Cores of either plan: two engines. */
const MOST_CORES = Math.min(2, CORES);

export interface Ask {
  readonly key: string;
  readonly what: "cascade" | "alone";
  readonly rate: number;
}

/** The cascade at its rates, then the larger model alone: engines change once. */
export const asks = (kind: EngineKind): readonly Ask[] =>
  (["cascade", "alone"] as const).flatMap((what) =>
    (what === "cascade" ? CASCADE_RATES : ALONE_RATES).map((rate) => ({ key: `${kind} | ${what} | ${rate}`, what, rate })),
  );

/** What is known before the runs. */
export interface Known {
  readonly outcomes: OutcomeTable;
  readonly judge: FixedJudge;
}

/** A plan with its figures; no plan where the planner refuses. */
export interface Planned {
  readonly plan: (Plan & { readonly policy: CascadePolicy }) | null;
  readonly predicted: CascadeFigures;
}

/** The planner's plan of what is asked at the floor, thresholds and placement its own. */
export async function plannedFor(context: PredictionContext, { what, rate }: Ask, known: Known): Promise<Planned> {
  const asked: Asked = {
    ...{ workload: workloadOf(known), requestsPerSecond: rate, judge: known.judge, qualityFloor: FLOOR },
    ...{ models: what === "cascade" ? [SMALL, LARGE] : [LARGE], mostCores: MOST_CORES, fixed: null },
  };
  const free = await planOf(context, asked);
  if ("refused" in free) return { plan: null, predicted: { ...noFigures, refused: free.refused, chosen: null } };
  if (what === "alone") return { plan: withCascade(free), predicted: { ...figuresOf(context, asked, free), chosen: null } };
  if (stagesOf(free) > 1) return { plan: withCascade(free), predicted: { ...figuresOf(context, asked, free), chosen: "cascade" } };
  // One model alone won: the planner lists the best cascade beside it.
  const rival = free.solver.alternatives.find(({ stages }) => stages.join() === [SMALL, LARGE].join());
  const refused = (reason: string): Planned => ({ plan: null, predicted: { ...noFigures, refused: reason, chosen: "alone" } });
  if (rival === undefined) return refused("no cascade is among the alternatives");
  if (rival.p95Seconds === null || rival.quality < FLOOR) return refused(rival.reason);
  const own: Asked = { ...asked, fixed: { models: rival.stages, thresholds: rival.thresholds } };
  const plan = await planOf(context, own);
  if ("refused" in plan) return refused(plan.refused);
  return { plan: withCascade(plan), predicted: { ...figuresOf(context, own, plan), chosen: "alone" } };
}

const stagesOf = (plan: Plan): number => withCascade(plan).policy.stages.length;

function withCascade(plan: Plan): Plan & { readonly policy: CascadePolicy } {
  const { policy } = plan;
  if (policy.kind !== "cascade") throw new Error(`a cascade was asked, a ${policy.kind} came`);
  return { ...plan, policy };
}

function figuresOf(context: PredictionContext, asked: Asked, plan: Plan): Omit<CascadeFigures, "chosen"> {
  const { p95Seconds, p95Band, meanSeconds, quality } = plan.predictions;
  const { figures, endToEndSeconds } = simulatedOf(context, asked, plan);
  return {
    ...{ mean: meanSeconds, p50: figures.p50, p95: p95Seconds, p99: figures.p99, p95Low: p95Band.low, p95High: p95Band.high },
    ...{ quality, escalated: escalatedOf(plan), requests: endToEndSeconds.length, failed: 0, lateP95: null, refused: null },
    ...partsOf(
      plan,
      targetEngines(plan).map(({ id }) => id),
    ),
  };
}

const KNOWN_ARRIVALS = 12_000;

function workloadOf({ outcomes }: Known): Workload {
  const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: KNOWN_ARRIVALS, requestsPerSecond: 1, seed: 77 });
  const says = "arithmetic questions of one seed, answered by the real engines";
  return {
    ...{ name: "arithmetic", outcomes, arrivalSeconds, judge: { kind: "measured" }, seed: 1 },
    origin: { outcomes: says, arrivals: "Poisson", generated: false },
  };
}
