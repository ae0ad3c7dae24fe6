import type { Plan } from "@/solver/plan/plan";
import type { SlackStep } from "@/solver/plan/planSlack";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { KnobDraft } from "./prepareKnobs";

/** The plan's estimate for a setting, from its tables. */
export type SlackEstimate = Pick<SlackStep, "quality" | "qualityLow" | "p95Seconds" | "share">;

/** One setting of the slack. */
export interface SlackPoint {
  /** On the slider. */
  readonly position: number;
  /** `p95 up to +18 %`, `τ 1.2`. */
  readonly label: string;
  /** Of the single controls. */
  readonly values: KnobDraft;
  readonly estimate: SlackEstimate;
  readonly approved: boolean;
  /** Fraction over the fastest p95, or tau. */
  readonly value: number;
}

/** The slack of a running policy, as one slider over settings of its single controls. */
export interface SlackControl {
  readonly kind: "p95" | "tau";
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** The slider's place; where the controls were set by hand, the nearest one. */
  readonly chosen: SlackPoint;
  /** The setting in force; null: set by hand. */
  readonly inForce: SlackPoint | null;
  /** Whether the chosen controls are those of `chosen`. */
  readonly exact: boolean;
  /** Approved part of the slider, as shares of its length; null: none. */
  readonly approved: { readonly from: number; readonly to: number } | null;
  readonly note: string;
  /** The setting at a position. */
  readonly at: (position: number) => SlackPoint;
}

/** Steps of tau on the slider. */
const TAU_STEP = 0.05;

/**
 * The slack of the policy in force, from the settings that its plan predicts for these replicas.
 * @param draft the operator's unapplied changes.
 * @returns null where the plan predicts none, or none of this policy.
 */
export function prepareSlack(policy: PolicyDocument, plan: Plan | null, draft: KnobDraft): SlackControl | null {
  const predicted = plan?.predictions.slack;
  if (plan === null || predicted === undefined) return null;
  if (predicted.kind === "p95" && policy.kind === "cascade") return cascadeSlack(policy, { planned: plan.policy, draft }, predicted.steps);
  if (predicted.kind === "tau" && policy.kind === "slack") return dispatchSlack(policy, { planned: plan.policy, draft }, predicted.steps);
  return null;
}

interface Drafted {
  readonly planned: PolicyDocument;
  readonly draft: KnobDraft;
}

type Of<Kind extends PolicyDocument["kind"]> = PolicyDocument & { readonly kind: Kind };

function cascadeSlack(
  { thresholds, approvedRanges }: Of<"cascade">,
  { planned, draft }: Drafted,
  steps: readonly SlackStep[],
): SlackControl | null {
  const own = steps.filter((step) => step.thresholds?.length === thresholds.length);
  // Settings with the same thresholds are one place of the slider.
  const distinct = own.filter((step, at) => own.findIndex((other) => isSame(other.thresholds, step.thresholds)) === at);
  const points = distinct.map((step, position): SlackPoint => {
    const set = step.thresholds ?? [];
    const inside = set.every((threshold, stage) => {
      const range = approvedRanges.thresholds[stage];
      return range === undefined || (threshold >= range.min && threshold <= range.max);
    });
    return {
      ...{ position, value: step.value, label: `p95 up to ${slackText(step.value)}`, estimate: step, approved: step.approved && inside },
      values: Object.fromEntries(set.map((threshold, stage) => [`threshold ${stage}`, threshold])),
    };
  });
  const [first] = points;
  if (first === undefined) return null;
  const wanted = thresholds.map((threshold, stage) => draft[`threshold ${stage}`] ?? threshold);
  const placed = (set: readonly number[]): SlackPoint => {
    const distance = (point: SlackPoint): number =>
      set.reduce((sum, threshold, stage) => sum + Math.abs(threshold - (point.values[`threshold ${stage}`] ?? 0)), 0);
    return points.reduce((best, point) => (distance(point) < distance(best) ? point : best), first);
  };
  const isAt = (set: readonly number[]): boolean => set.every((threshold, stage) => placed(set).values[`threshold ${stage}`] === threshold);
  const inForce = isAt(thresholds) ? placed(thresholds) : null;
  const plannedSet = planned.kind === "cascade" && planned.thresholds.length === thresholds.length ? planned.thresholds : null;
  const plannedAt = plannedSet !== null && isAt(plannedSet) ? placed(plannedSet) : null;
  const allowed = points.filter(({ approved }) => approved);
  const last = Math.max(1, points.length - 1);
  const ends = [allowed[0], allowed.at(-1)] as const;
  return {
    ...{ kind: "p95", min: 0, max: points.length - 1, step: 1, inForce, exact: isAt(wanted), chosen: placed(wanted) },
    approved: spanOf(ends[0], ends[1], last),
    note: noteOf(inForce === null ? "set by hand" : slackText(inForce.value), plannedAt === null ? null : slackText(plannedAt.value), [
      ends[0] === undefined ? null : slackText(ends[0].value),
      ends[1] === undefined ? null : slackText(ends[1].value),
    ]),
    at: (position) => points[Math.min(points.length - 1, Math.max(0, Math.round(position)))] ?? first,
  };
}

function dispatchSlack(
  { tau, approvedRanges }: Of<"slack">,
  { planned, draft }: Drafted,
  steps: readonly SlackStep[],
): SlackControl | null {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return null;
  const { min: from, max: to } = approvedRanges.tau;
  const [min, max] = [Math.min(first.value, from), Math.max(last.value, to)];
  const at = (value: number): SlackPoint => ({
    ...{ position: value, value, label: `τ ${tauText(value)}`, values: { tau: value }, estimate: between(steps, value) },
    approved: value >= from && value <= to,
  });
  const length = max - min || 1;
  const plannedTau = planned.kind === "slack" ? planned.tau : null;
  return {
    ...{ kind: "tau", min, max, step: TAU_STEP, inForce: at(tau), exact: true, chosen: at(draft.tau ?? tau), at },
    approved: { from: (from - min) / length, to: (to - min) / length },
    note: noteOf(tauText(tau), plannedTau === null ? null : tauText(plannedTau), [tauText(from), tauText(to)]),
  };
}

/** The estimate at a tau between two steps, on the straight line between theirs; beyond the steps that of the last one. */
function between(steps: readonly SlackStep[], tau: number): SlackEstimate {
  const after = steps.findIndex(({ value }) => value >= tau);
  const high = steps[after === -1 ? steps.length - 1 : after];
  const low = steps[Math.max(0, after - 1)];
  if (high === undefined || low === undefined || after <= 0 || high.value === low.value)
    return high ?? { quality: 0, qualityLow: 0, p95Seconds: 0, share: [] };
  const part = (tau - low.value) / (high.value - low.value);
  const on = (a: number, b: number): number => a + part * (b - a);
  return {
    quality: on(low.quality, high.quality),
    qualityLow: on(low.qualityLow, high.qualityLow),
    p95Seconds: on(low.p95Seconds, high.p95Seconds),
    share: high.share.map((share, model) => on(low.share[model] ?? share, share)),
  };
}

function spanOf(first: SlackPoint | undefined, last: SlackPoint | undefined, length: number): SlackControl["approved"] {
  return first === undefined || last === undefined ? null : { from: first.position / length, to: last.position / length };
}

function noteOf(inForce: string, planned: string | null, [from, to]: readonly [string | null, string | null]): string {
  const approved = from === null || to === null ? [] : [`approved from ${from} to ${to}`];
  return [`in force ${inForce}`, ...(planned === null ? [] : [`planned ${planned}`]), ...approved].join(", ");
}

const slackText = (fraction: number): string => `+${Math.round(100 * fraction)} %`;

const tauText = (tau: number): string => String(Number(tau.toFixed(2)));

const isSame = (one: readonly number[] | undefined, other: readonly number[] | undefined): boolean => String(one) === String(other);
