import { type Brush, inBrush } from "@/components/charts/frontierBrush";
import type { FrontierPicture, PlottedBaseline } from "@/components/charts/prepareFrontier";
import { formatDelta, formatUsd } from "@/components/ui/format";
import { MAX_PINS } from "../address/frontierCodec";
import type { PlanEstimate } from "../planning/recommend";
import type { FrontierPlan, PlottedPolicy } from "./frontierPlans";

/** Frontier rows shown at first. Neighbours differ by one threshold step and look alike; the trade-off shows over the whole range. */
const BRIEF_FRONTIER_ROWS = 6;
const BRIEF_BRUSHED_ROWS = 8;
/** Maximum rows of a table: more are not read, and each costs time on every hover. */
const MAX_ROWS = 200;

type Role = "chosen" | "frontier" | "alone" | "dispatch" | "other";

export interface FrontierRow {
  /** Key of its plan. */
  readonly key: string;
  readonly policy: PlottedPolicy;
  readonly gpus: readonly number[];
  readonly candidate: PlanEstimate;
  readonly role: Role;
  /** Whether its kind of policy is asked for. */
  readonly asked: boolean;
  /** Whether it misses the floor or the budget. */
  readonly misses: boolean;
  /** Its number among the pins; null: not pinned. */
  readonly pin: number | null;
  /** Whether it is the cascade that the operator chose. */
  readonly own: boolean;
  /** Whether the running plan routes like this. */
  readonly runs: boolean;
  /** Whether it is shown before the whole frontier is requested. */
  readonly brief: boolean;
  /** Differences from the running plan, in words; null where no plan runs, or for other traffic. */
  readonly delta: { readonly quality: string; readonly p95Seconds: string } | null;
}

/** The running plan: its routing key, and its promises where they are for the same traffic. */
export interface Promised {
  readonly key: string;
  readonly figures: { readonly quality: number; readonly p95Seconds: number } | null;
}

export interface FrontierRows<Baseline extends PlottedBaseline> {
  readonly rows: readonly FrontierRow[];
  /** Rows left out over `MAX_ROWS`. */
  readonly cut: number;
  readonly baselines: readonly Baseline[];
  /** Whether a request's cost distinguishes rows; where every plan uses all GPUs it does not. */
  readonly costsDiffer: boolean;
}

/**
 * Prepares the rows below the chart: pinned plans first, the recommended one, then the frontier along the first axis, then single
 * models. With a brush exactly the plans in its rectangle.
 */
export function prepareFrontierTable<Baseline extends PlottedBaseline>(input: {
  readonly plans: readonly FrontierPlan[];
  readonly picture: FrontierPicture;
  readonly brush: Brush | null;
  readonly pins: readonly string[];
  /** Key of the cascade that the operator chose; null: none. */
  readonly own: string | null;
  /** Key of the best slack dispatch; null: none meets floor and budget, or none is asked for. */
  readonly dispatch: string | null;
  readonly running: Promised | null;
  readonly baselines: readonly Baseline[];
}): FrontierRows<Baseline> {
  const { picture, brush, running } = input;
  const promised = running?.figures ?? null;
  const inside = ({ figures }: Pick<FrontierPlan, "figures">): boolean => brush === null || inBrush(figures, picture.axes, brush);
  const planOf = new Map(input.plans.map((plan) => [plan.key, plan]));
  const spreadOut = spread(picture.frontier);
  const found: { readonly row: FrontierRow; readonly x: number }[] = [];
  for (const point of picture.points) {
    const plan = planOf.get(point.key);
    if (plan === undefined || !inside(plan)) continue;
    const { key, candidate } = plan;
    const pin = input.pins.includes(key) ? input.pins.indexOf(key) + 1 : null;
    const runs = running?.key === key;
    const own = input.own === key;
    const chosen = picture.chosen?.key === key;
    // For a single model only what the objective would deploy: on every number of GPUs they would fill the table.
    const alone = plan.standAloneModel !== null && !key.includes("*");
    const onCurve = plan.dispatch?.onCurve === true;
    const told = pin !== null || own || runs || chosen || alone || input.dispatch === key;
    if (!told && !onCurve && point.class !== "frontier" && brush === null) continue;
    const row: FrontierRow = {
      key,
      policy: plan.policy,
      gpus: candidate.gpus,
      candidate,
      role: chosen
        ? "chosen"
        : point.class === "frontier"
          ? "frontier"
          : plan.standAloneModel !== null
            ? "alone"
            : onCurve
              ? "dispatch"
              : "other",
      asked: point.class !== "unasked",
      misses: !point.meets,
      pin,
      own,
      runs,
      brief: told || spreadOut.has(key),
      delta:
        promised === null
          ? null
          : {
              quality: formatDelta(candidate.quality - promised.quality, 1),
              p95Seconds: formatDelta(candidate.latencySeconds - promised.p95Seconds, 1),
            },
    };
    found.push({ row, x: point.x });
  }
  found.sort((a, b) => rank(a.row) - rank(b.row) || a.x - b.x);
  const rows = found.slice(0, MAX_ROWS).map(({ row }, index) => (brush === null ? row : { ...row, brief: index < BRIEF_BRUSHED_ROWS }));
  const baselines = input.baselines.filter(inside);
  const costs = [...rows.map((row) => row.candidate.costUsdPerRequest), ...baselines.map(({ figures }) => figures.cost)];
  return { rows, cut: found.length - rows.length, baselines, costsDiffer: new Set(costs.map(formatUsd)).size > 1 };
}

/** Pins in their order, then by role. */
const rank = ({ pin, role }: FrontierRow): number =>
  pin ?? MAX_PINS + 1 + ["chosen", "frontier", "other", "alone", "dispatch"].indexOf(role);

/** Keys of the points nearest to places evenly spread along the frontier's first axis, both ends among them. */
function spread(frontier: FrontierPicture["frontier"]): ReadonlySet<string> {
  const [first, ...rest] = frontier;
  if (first === undefined) return new Set();
  const step = ((frontier.at(-1)?.x ?? first.x) - first.x) / (BRIEF_FRONTIER_ROWS - 1);
  const places = Array.from({ length: BRIEF_FRONTIER_ROWS }, (_, row) => first.x + row * step);
  const nearest = (place: number) =>
    rest.reduce((best, each) => (Math.abs(each.x - place) < Math.abs(best.x - place) ? each : best), first);
  return new Set(places.map((place) => nearest(place).key));
}
