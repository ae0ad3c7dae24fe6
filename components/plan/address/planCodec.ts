import { codecOf, named, number, text, type ViewOf, whole, withDefault, word } from "@/components/url/addressFields";
import type { UrlCodec } from "@/components/url/useUrlView";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { gateChoices } from "@/solver/plan/planGates";
import { MOST_TAU, policyChoices } from "@/solver/plan/planSlack";
import { type ConstraintsView, constraintsCodec } from "./constraintsCodec";
import { type FrontierView, frontierCodec } from "./frontierCodec";
import { formatRouting, parseRouting, type RoutingChoice } from "./routingKey";

export const RATE_BOUNDS = { min: 0.1, max: 100_000 } as const;
export const FLOOR_BOUNDS = { min: 0, max: 100 } as const;
export const BUDGET_BOUNDS = { min: 0.1, max: 3600 } as const;
/** In per cent. */
export const SLACK_BOUNDS = { min: 0, max: 100 } as const;
export const TAU_BOUNDS = { min: 0, max: MOST_TAU } as const;

/** The page's objectives: the planner's at the rate of the page, and `highest-rate`, which searches for the rate. */
const objectives = ["latency-under-quality", "quality-under-latency", "cost-under-both", "highest-rate"] as const satisfies readonly (
  | Knobs["kind"]
  | "highest-rate"
)[];
const latencies = ["end-to-end", "largest-stage"] as const satisfies readonly Knobs["latency"][];

/** null is the default, which the cluster's suggestion fills in. */
const settingsCodec = codecOf({
  workload: text(),
  requestsPerSecond: named("rate", number(RATE_BOUNDS)),
  qualityFloor: named("floor", number(FLOOR_BOUNDS)),
  /** null is off. */
  latencyBudgetSeconds: named("budget", number(BUDGET_BOUNDS)),
  gpus: number({ min: 1, max: 100_000 }),
  kind: named("objective", withDefault(word(objectives), "latency-under-quality")),
  /** The kinds of policies that are planned; "any": the best of all. */
  policy: withDefault(word(policyChoices), "any"),
  /** What scores the answers of a cascade; "any": the best of what the workload's columns allow. */
  gateChoice: named("gate", withDefault(word(gateChoices), "any")),
  /** Per cent by which the p95 may exceed that of the fastest plan at the floor; null is off. */
  slack: whole(SLACK_BOUNDS),
  /** Of slack dispatch; null: the planner chooses it. */
  tau: number(TAU_BOUNDS),
  latency: withDefault(word(latencies), "end-to-end"),
  /** Whether the floor holds for the lower confidence bound or for the sample's value. */
  heldFor: named("held", withDefault(word(["bound", "point"]), "bound")),
  /** Thresholds set by hand. */
  fixed: {
    parse: (fixed) => parseRouting(fixed ?? ""),
    format: (fixed: RoutingChoice | null) => (fixed === null ? undefined : formatRouting(fixed)),
  },
});

/** What is planned: the part of a view that can be undone. */
export type PlanSettings = ConstraintsView & ViewOf<typeof settingsCodec>;

/** What defines the Plan page's view. */
export type PlanView = PlanSettings & FrontierView;

export const planCodec: UrlCodec<PlanView> = {
  parse: (params) => ({ ...constraintsCodec.parse(params), ...frontierCodec.parse(params), ...settingsCodec.parse(params) }),
  format: (view) => ({ ...constraintsCodec.format(view), ...frontierCodec.format(view), ...settingsCodec.format(view) }),
};

/** The settings of a view, without how its frontier is displayed. */
export function settingsOf({
  xAxis: _x,
  yAxis: _y,
  brush: _brush,
  baselines: _baselines,
  pins: _pins,
  ...settings
}: PlanView): PlanSettings {
  return settings;
}
