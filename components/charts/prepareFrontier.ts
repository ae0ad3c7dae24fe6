import type { Knobs } from "@/solver/cascade/explore/exploration";
import { isBetterHigh, type PlanAxis, type PlanFigures, paretoFront } from "@/solver/cascade/explore/paretoFront";
import type { FrontierAxes } from "./frontierAxes";

/**
 * A plan's relation to the operator's constraints; `unasked`: of a kind of policy that is not asked for. Distinguished by shape and fill,
 * not by colour alone.
 */
type FrontierClass = "frontier" | "dominated" | "infeasible" | "unasked";

/** A plan to draw: a policy on some number of GPUs. Infinite latency: it is overloaded. */
export interface PlottedPlan {
  readonly key: string;
  readonly figures: PlanFigures;
  /** Index of the model that answers alone; null for a cascade and for slack dispatch. */
  readonly standAloneModel: number | null;
  /** For slack dispatch its tau, and whether it is on the line over tau; left out for any other policy. */
  readonly dispatch?: { readonly tau: number; readonly onCurve: boolean };
  /** false: of a kind of policy that is not asked for, so that it is never on the frontier; left out: it is asked for. */
  readonly asked?: boolean;
}

/** A system built by others, drawn next to the plans under its number. */
export interface PlottedBaseline {
  readonly key: string;
  readonly number: number;
  readonly figures: PlanFigures;
}

interface Mark {
  readonly x: number;
  readonly y: number;
}

export interface FrontierPoint extends Mark {
  readonly key: string;
  readonly class: FrontierClass;
  /** Whether it meets floor and budget; a frontier point that does not is drawn hollow. */
  readonly meets: boolean;
  readonly standAloneModel: number | null;
  /** Of slack dispatch; null for any other policy. */
  readonly tau: number | null;
}

/** One or more baselines that coincide, such as different names for one system. */
export interface BaselinePoint extends Mark {
  readonly keys: readonly string[];
  readonly label: string;
}

/** A floor or budget on one of the axes, drawn as a line that can be dragged. */
export interface LimitLine {
  readonly kind: "floor" | "budget";
  readonly along: "x" | "y";
  readonly value: number;
}

export interface FrontierPicture {
  readonly axes: FrontierAxes;
  /** All plans that sustain the rate, in and out of view. */
  readonly points: readonly FrontierPoint[];
  /** By rising x; a step line joins them. */
  readonly frontier: readonly FrontierPoint[];
  /** The frontier point farthest from the line between its ends; null where the frontier has no bend. */
  readonly knee: FrontierPoint | null;
  readonly standAlone: readonly FrontierPoint[];
  /** Slack dispatch on the frontier or on the line over tau, by their marks. */
  readonly dispatch: readonly FrontierPoint[];
  /** Slack dispatch on one allocation by rising tau; a line joins them. */
  readonly curve: readonly FrontierPoint[];
  /** Cascades that are not asked for. */
  readonly unasked: readonly FrontierPoint[];
  readonly dominated: readonly FrontierPoint[];
  readonly infeasible: readonly FrontierPoint[];
  readonly baselines: readonly BaselinePoint[];
  /** The recommended plan. */
  readonly chosen: FrontierPoint | null;
  /** A baseline that is better than it, and recommended instead. */
  readonly better: Mark | null;
  /** The cascade that the operator chose instead. */
  readonly own: Mark | null;
  readonly running: Mark | null;
  readonly limits: readonly LimitLine[];
  readonly xDomain: readonly [number, number];
  readonly yDomain: readonly [number, number];
  readonly counts: {
    readonly evaluated: number;
    readonly feasible: number;
    /** Plans whose load no allocation of their GPUs sustains: they have no latency to draw. */
    readonly overloaded: number;
    /** Points outside the view: much farther off than any useful plan. */
    readonly outside: number;
    readonly drawn: number;
  };
}

/** Symbols of one cloud. More than about this many cannot be distinguished on a panel and cost frames while a knob turns. */
const MAX_CLOUD = 700;
/** Room beyond the farthest point worth seeing. */
const HEADROOM = 1.12;
/** Points farther off than this many times the farthest frontier point are left outside the view: they would flatten the rest. */
const MAX_STRETCH = 4;
/** Share of an axis within which two baselines are drawn as one. */
const SAME_SPOT = 0.02;
/** A bend below this share of the way from the chord to the ideal corner does not count. */
const LEAST_BEND = 0.05;

type Limits = Pick<Knobs, "qualityFloor" | "latencyBudgetSeconds">;

const meetsFloor = ({ quality }: PlanFigures, { qualityFloor }: Limits): boolean => qualityFloor === null || quality >= qualityFloor;
const meetsBudget = ({ latency }: PlanFigures, { latencyBudgetSeconds }: Limits): boolean =>
  latencyBudgetSeconds === null || latency <= latencyBudgetSeconds;

/**
 * Computes everything about the frontier chart: classes, order, caps, lines and axes.
 *
 * A floor or budget that an axis shows is a line, and the frontier continues beyond it, hollow. One that no axis shows is enforced: plans
 * that miss it are not on the frontier; otherwise the cheapest plan would always be the smallest model, whatever the floor.
 */
export function prepareFrontier(input: {
  readonly plans: readonly PlottedPlan[];
  readonly axes: FrontierAxes;
  readonly limits: Limits;
  /** Key of the recommended plan. */
  readonly chosen: string | null;
  /** Key of the cascade that the operator chose instead; null: none is chosen, or it is overloaded. */
  readonly own: PlanFigures | null;
  readonly running: PlanFigures | null;
  readonly baselines: readonly PlottedBaseline[];
  /** Key of a baseline that is better than the recommended plan; left out: there is none. */
  readonly better?: string | null;
}): FrontierPicture {
  const { axes, limits } = input;
  const keepUp = input.plans.filter(({ figures }) => Number.isFinite(figures.latency));
  const shown = (axis: PlanAxis): boolean => axes.x === axis || axes.y === axis;
  const eligible = keepUp.filter(
    ({ figures, asked = true }) =>
      asked && (shown("quality") || meetsFloor(figures, limits)) && (shown("latency") || meetsBudget(figures, limits)),
  );
  const front = paretoFront(
    eligible.map(({ figures }) => figures),
    [axes.x, axes.y],
  );
  const onFrontier = new Set(front.map((index) => eligible[index]?.key));
  const mark = (figures: PlanFigures): Mark => ({ x: figures[axes.x], y: figures[axes.y] });
  const points = keepUp.map(({ key, figures, standAloneModel, dispatch, asked = true }): FrontierPoint => {
    const meets = meetsFloor(figures, limits) && meetsBudget(figures, limits);
    const own = !asked ? "unasked" : onFrontier.has(key) ? "frontier" : meets ? "dominated" : "infeasible";
    return { key, ...mark(figures), class: own, meets, standAloneModel, tau: dispatch?.tau ?? null };
  });
  const onCurve = new Set(keepUp.filter(({ dispatch }) => dispatch?.onCurve === true).map(({ key }) => key));
  const curve = points.filter(({ key }) => onCurve.has(key)).sort((a, b) => (a.tau ?? 0) - (b.tau ?? 0));

  const frontier = points.filter((point) => point.class === "frontier").sort((a, b) => a.x - b.x);
  const standAlone = points.filter((point) => point.standAloneModel !== null);
  const chosen = points.find((point) => point.key === input.chosen) ?? null;
  const own = input.own === null ? null : mark(input.own);
  const running = input.running === null ? null : mark(input.running);
  const baselines = input.baselines
    .map(({ key, number, figures }) => ({ key, number, ...mark(figures) }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  const lines = limitLines(axes, limits);
  const domain = (along: "x" | "y", seen: readonly Mark[]): readonly [number, number] => {
    const held = lines.filter((line) => line.along === along).map((line) => line.value);
    const values = (marks: readonly Mark[]): number[] => marks.map((each) => each[along]);
    if (isBetterHigh(axes[along])) return qualityDomain([...values(seen), ...held]);
    const must = values([...frontier, ...[chosen, own, running].filter((each) => each !== null)]);
    return lossDomain({ must, wanted: [...values([...standAlone, ...curve, ...baselines]), ...held], all: values(points) });
  };
  // Points that a loss axis leaves out must not widen the other axis.
  const loss = { x: isBetterHigh(axes.x) ? null : domain("x", points), y: isBetterHigh(axes.y) ? null : domain("y", points) };
  const inView = ({ x, y }: Mark): boolean => (loss.x === null || x <= loss.x[1]) && (loss.y === null || y <= loss.y[1]);
  const seen = points.filter(inView);
  const seenBaselines = baselines.filter(inView);
  const marks = [...seen, ...seenBaselines, ...[own, running].filter((each) => each !== null)];
  const xDomain = loss.x ?? domain("x", marks);
  const yDomain = loss.y ?? domain("y", marks);
  const marked = ({ key, tau, class: own }: FrontierPoint): boolean => tau !== null && (own === "frontier" || onCurve.has(key));
  const cloud = seen.filter((point) => point.standAloneModel === null && !marked(point));
  const dominated = thin(cloud.filter((point) => point.class === "dominated"));
  const infeasible = thin(cloud.filter((point) => point.class === "infeasible"));
  const unasked = thin(cloud.filter((point) => point.class === "unasked"));
  const better = seenBaselines.find(({ key }) => key === input.better);
  return {
    axes,
    points,
    frontier,
    knee: kneeOf(frontier, axes),
    standAlone: standAlone.filter(inView),
    dispatch: seen.filter(marked),
    curve: curve.filter(inView),
    unasked,
    dominated,
    infeasible,
    baselines: together(seenBaselines, { x: xDomain, y: yDomain }),
    chosen,
    better: better === undefined ? null : { x: better.x, y: better.y },
    own,
    running,
    limits: lines,
    xDomain,
    yDomain,
    counts: {
      evaluated: input.plans.reduce((sum, { asked = true }) => sum + Number(asked), 0),
      feasible: points.reduce((sum, point) => sum + Number(point.meets && point.class !== "unasked"), 0),
      overloaded: input.plans.length - keepUp.length,
      outside: points.length - seen.length + baselines.length - seenBaselines.length,
      drawn: frontier.length + dominated.length + infeasible.length + unasked.length,
    },
  };
}

/** Baselines closer together than the size of their symbols become one point that names all. */
function together(
  baselines: readonly (Mark & { readonly key: string; readonly number: number })[],
  domains: Readonly<Record<"x" | "y", readonly [number, number]>>,
): readonly BaselinePoint[] {
  const apart = (along: "x" | "y", a: Mark, b: Mark): boolean =>
    Math.abs(a[along] - b[along]) > SAME_SPOT * (domains[along][1] - domains[along][0]);
  const found: BaselinePoint[] = [];
  for (const { key, number, x, y } of baselines) {
    const at = found.findIndex((point) => !apart("x", point, { x, y }) && !apart("y", point, { x, y }));
    const known = found[at];
    if (known === undefined) found.push({ keys: [key], label: `${number}`, x, y });
    else found[at] = { ...known, keys: [...known.keys, key], label: `${known.label}, ${number}` };
  }
  return found;
}

function limitLines({ x, y }: FrontierAxes, { qualityFloor, latencyBudgetSeconds }: Limits): readonly LimitLine[] {
  const line = (kind: LimitLine["kind"], axis: PlanAxis, value: number | null): readonly LimitLine[] =>
    value === null || (x !== axis && y !== axis) ? [] : [{ kind, along: x === axis ? "x" : "y", value }];
  return [...line("floor", "quality", qualityFloor), ...line("budget", "latency", latencyBudgetSeconds)];
}

function qualityDomain(values: readonly number[]): readonly [number, number] {
  if (values.length === 0) return [0, 100];
  return [Math.max(0, Math.floor(least(values)) - 1), Math.min(100, Math.ceil(most(values)) + 1)];
}

/** From zero to beyond the required values, and the wanted ones unless they are too far off. */
function lossDomain(values: { readonly must: readonly number[]; readonly wanted: readonly number[]; readonly all: readonly number[] }) {
  const farthest = Math.max(0, most(values.must));
  const wanted = values.wanted.filter((value) => farthest === 0 || value <= farthest * MAX_STRETCH);
  const top = Math.max(farthest, most(wanted)) || Math.max(0, most(values.all)) || 1;
  return [0, (Number.isFinite(top) ? top : 1) * HEADROOM] as const;
}

// Not by spreading into Math.min: thousands of arguments cost more than the loop.
const least = (values: readonly number[]): number => values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
const most = (values: readonly number[]): number => values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY);

/** Every k-th point, so that at most `MAX_CLOUD` remain spread over all. */
function thin(points: readonly FrontierPoint[]): readonly FrontierPoint[] {
  const stride = Math.ceil(points.length / MAX_CLOUD);
  return stride <= 1 ? points : points.filter((_, index) => index % stride === 0);
}

/** With both axes scaled to the frontier's span, the point farthest from the chord on the better side. */
function kneeOf(frontier: readonly FrontierPoint[], axes: FrontierAxes): FrontierPoint | null {
  const [first, last] = [frontier[0], frontier.at(-1)];
  if (first === undefined || last === undefined || frontier.length < 3) return null;
  const scaled = (along: "x" | "y", point: Mark): number => {
    const share = (point[along] - first[along]) / (last[along] - first[along]);
    // 0 at the better end of the axis, in whichever direction the frontier runs.
    return isBetterHigh(axes[along]) === last[along] > first[along] ? 1 - share : share;
  };
  const bend = (point: Mark): number => 1 - scaled("x", point) - scaled("y", point);
  const found = frontier.reduce((best, point) => (bend(point) > bend(best) ? point : best));
  return bend(found) > LEAST_BEND ? found : null;
}

/**
 * The frontier as corners of a step line: a position between two points has the cost, or value, of the one that satisfies it. On an x
 * axis where more is better that is the next point, else the one before. Nothing between computed points is invented.
 */
export function stepCorners(frontier: readonly Mark[], { x }: FrontierAxes): readonly Mark[] {
  return frontier.flatMap((point, index) => {
    const next = frontier[index + 1];
    if (next === undefined) return [point];
    return [point, isBetterHigh(x) ? { x: point.x, y: next.y } : { x: next.x, y: point.y }];
  });
}
