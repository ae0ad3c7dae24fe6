import { ABSENT, formatCount, formatDelta, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import { isBetterHigh, type PlanAxis, type PlanFigures, planAxes } from "@/solver/cascade/explore/paretoFront";
import { startText } from "@/solver/plan/directStart";
import type { PinnedPlan, RoutingChoice } from "../address/routingKey";

/** A plan with its promises, for comparison in the tray. */
export interface ComparedPlan {
  readonly routing: RoutingChoice;
  /** GPUs of each model. */
  readonly gpus: readonly number[];
  /** Mean over the sample; `figures` holds the value that the floor applies to. */
  readonly quality: number;
  readonly figures: PlanFigures;
}

/** The running plan, by its promises. */
export interface RunningPlan extends ComparedPlan {
  /**
   * The traffic it was promised for, where that differs from the traffic planned for here: `at 20/s`. Its figures are then not comparable.
   */
  readonly otherTraffic: string | null;
}

/** A pin; its plan is null where the planner did not evaluate it with these inputs. */
export interface Pin {
  readonly key: string;
  readonly pinned: PinnedPlan;
  readonly plan: ComparedPlan | null;
}

interface CompareCell {
  readonly text: string;
  /** Difference from the reference, signed and with its unit; null for the reference itself. */
  readonly delta: string | null;
  readonly best: boolean;
}

interface CompareColumn {
  readonly key: string;
  /** null: the running plan. */
  readonly pin: Pin | null;
  readonly routing: RoutingChoice;
  /** Per model its threshold and GPUs, in a line. */
  readonly stages: readonly { readonly model: string; readonly threshold: number | null; readonly gpus: number | null }[];
  readonly reference: boolean;
}

export interface Comparison {
  readonly columns: readonly CompareColumn[];
  readonly rows: readonly { readonly axis: PlanAxis; readonly cells: readonly CompareCell[] }[];
  /** The reference of the differences, for the caption. */
  readonly reference: string | null;
}

/**
 * Pinned plans side by side, preceded by the running plan as the reference; where no plan runs, or for other traffic, the reference is
 * the first pin.
 */
export function prepareCompare(pins: readonly Pin[], running: RunningPlan | null): Comparison {
  const each: readonly {
    readonly key: string;
    readonly pin: Pin | null;
    readonly routing: RoutingChoice;
    readonly plan: ComparedPlan | null;
  }[] = [
    ...(running === null ? [] : [{ key: "running", pin: null, routing: running.routing, plan: running }]),
    ...pins.map((pin) => ({ key: pin.key, pin, routing: pin.pinned.routing, plan: pin.plan })),
  ];
  const comparable = each.filter(({ plan }) => plan !== null && (plan !== running || running.otherTraffic === null));
  const reference = comparable[0] ?? null;
  const known = comparable.flatMap(({ plan }) => (plan === null ? [] : [plan]));
  return {
    columns: each.map(({ key, pin, routing, plan }) => ({
      key,
      pin,
      routing,
      stages: routing.models.map((model, index) => ({
        model,
        threshold: routing.thresholds[index] ?? null,
        gpus: plan?.gpus[index] ?? null,
      })),
      reference: key === reference?.key,
    })),
    rows: planAxes.map((axis) => {
      const values = known.map((plan) => figureOf(axis, plan));
      const best = isBetterHigh(axis) ? Math.max(...values) : Math.min(...values);
      const tells = values.some((value) => value !== best);
      return {
        axis,
        cells: each.map(({ key, plan }) => {
          const compared = plan !== null && known.includes(plan);
          return {
            text: plan === null ? ABSENT : valueText(axis, plan),
            delta: !compared || reference?.plan == null || key === reference.key ? null : deltaText(axis, plan, reference.plan),
            best: tells && compared && figureOf(axis, plan) === best,
          };
        }),
      };
    }),
    reference:
      reference === null || known.length < 2 ? null : reference.pin === null ? "the running plan's predictions" : "the first pinned plan",
  };
}

/** The mean of the qualities is compared, because it is the larger figure. */
const figureOf = (axis: PlanAxis, { quality, figures }: ComparedPlan): number => (axis === "quality" ? quality : figures[axis]);

function valueText(axis: PlanAxis, { quality, figures }: ComparedPlan): string {
  switch (axis) {
    case "quality":
      return quality === figures.quality ? formatScore(quality) : `${formatScore(quality)} ≥${formatScoreBound(figures.quality)}`;
    case "latency":
      return formatSeconds(figures.latency);
    case "cost":
      return Number.isFinite(figures.cost) ? formatUsd(figures.cost) : ABSENT;
    case "gpus":
      return figures.gpus === 0 ? ABSENT : formatCount(figures.gpus);
  }
}

function deltaText(axis: PlanAxis, plan: ComparedPlan, reference: ComparedPlan): string | null {
  const delta = figureOf(axis, plan) - figureOf(axis, reference);
  if (!Number.isFinite(delta)) return null;
  switch (axis) {
    case "quality":
      return `${formatDelta(delta, 1)} points`;
    case "latency":
      return `${formatDelta(delta, 2)} s`;
    // In dollars the digits that distinguish two plans are too far behind the point to compare at a glance.
    case "cost":
      return reference.figures.cost === 0 ? null : `${formatDelta((100 * delta) / reference.figures.cost, 0)} %`;
    case "gpus":
      return `${formatDelta(delta, 0)} GPUs`;
  }
}

/** One line per plan, tab-separated with units in the header, for spreadsheets. Figures as computed; empty where unknown. */
export function compareText(
  pins: readonly Pin[],
  running: RunningPlan | null,
  labels: { readonly quality: string; readonly latency: string },
): string {
  const header = [
    "plan",
    "cascade",
    "thresholds",
    "direct start from router score",
    "GPUs per model",
    "GPUs",
    "mean quality (0-100)",
    ...(labels.quality === "quality" ? [] : [`${labels.quality} (0-100)`]),
    labels.latency,
    "cost ($/request)",
  ];
  const line = (name: string, routing: RoutingChoice, plan: ComparedPlan | null): readonly string[] => [
    name,
    routing.models.join(" > "),
    routing.thresholds.join(", "),
    routing.startBelow === undefined ? "" : startText(routing.startBelow),
    plan?.gpus.join(", ") ?? "",
    number(plan?.figures.gpus, 6),
    number(plan?.quality, 6),
    ...(labels.quality === "quality" ? [] : [number(plan?.figures.quality, 6)]),
    number(plan?.figures.latency, 6),
    number(plan?.figures.cost, 6),
  ];
  const lines = [
    header,
    ...(running === null
      ? []
      : [line(`running${running.otherTraffic === null ? "" : `, predicted ${running.otherTraffic}`}`, running.routing, running)]),
    ...pins.map(({ pinned, plan }, index) => line(`pin ${index + 1}`, pinned.routing, plan)),
  ];
  return lines.map((cells) => cells.join("\t")).join("\n");
}

const number = (value: number | undefined, digits: number): string =>
  value === undefined || !Number.isFinite(value) ? "" : String(Number(value.toPrecision(digits)));
