import { readNumber, readWord } from "@/components/url/readParam";
import type { UrlCodec } from "@/components/url/useUrlView";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { type ConstraintsView, constraintsCodec } from "./constraintsCodec";
import { type FrontierView, frontierCodec } from "./frontierCodec";
import { formatRouting, parseRouting, type RoutingChoice } from "./routingKey";

/** What defines the Plan page's view. null is the default, which the cluster's suggestion fills in. */
export interface PlanView extends ConstraintsView, FrontierView {
  readonly workload: string | null;
  readonly requestsPerSecond: number | null;
  readonly qualityFloor: number | null;
  /** null is off. */
  readonly latencyBudgetSeconds: number | null;
  readonly gpus: number | null;
  readonly kind: Knobs["kind"];
  readonly latency: Knobs["latency"];
  /** Whether the floor holds for the lower confidence bound or for the sample's own value. */
  readonly heldFor: "bound" | "point";
  /** Thresholds set by hand. */
  readonly fixed: RoutingChoice | null;
}

export const RATE_BOUNDS = { min: 0.1, max: 100_000 } as const;
export const FLOOR_BOUNDS = { min: 0, max: 100 } as const;
export const BUDGET_BOUNDS = { min: 0.1, max: 3600 } as const;

const number = (value: number | null) => (value === null ? undefined : String(value));

export const planCodec: UrlCodec<PlanView> = {
  parse: (params) => ({
    ...constraintsCodec.parse(params),
    ...frontierCodec.parse(params),
    workload: params.get("workload"),
    requestsPerSecond: readNumber(params, "rate", RATE_BOUNDS),
    qualityFloor: readNumber(params, "floor", FLOOR_BOUNDS),
    latencyBudgetSeconds: readNumber(params, "budget", BUDGET_BOUNDS),
    gpus: readNumber(params, "gpus", { min: 1, max: 100_000 }),
    kind: readWord(params, "objective", ["quality-under-latency", "cost-under-both"]) ?? "latency-under-quality",
    latency: readWord(params, "latency", ["largest-stage"]) ?? "end-to-end",
    heldFor: readWord(params, "held", ["point"]) ?? "bound",
    fixed: parseRouting(params.get("fixed") ?? ""),
  }),
  format: (view) => ({
    ...constraintsCodec.format(view),
    ...frontierCodec.format(view),
    workload: view.workload ?? undefined,
    rate: number(view.requestsPerSecond),
    floor: number(view.qualityFloor),
    budget: number(view.latencyBudgetSeconds),
    gpus: number(view.gpus),
    objective: view.kind === "latency-under-quality" ? undefined : view.kind,
    latency: view.latency === "end-to-end" ? undefined : view.latency,
    held: view.heldFor === "bound" ? undefined : view.heldFor,
    fixed: view.fixed === null ? undefined : formatRouting(view.fixed),
  }),
};
