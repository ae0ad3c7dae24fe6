import type { SlackStep, SlackSteps } from "@/solver/plan/planSlack";
import type { Explorer } from "../explore/explorer";
import { product } from "../routing/routingGrid";
import { type DeployedRouting, type ThresholdSetting, thresholdSettings } from "./thresholdSettings";

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Slacks for which the best thresholds inside the approved ranges are listed. */
const SLACKS: readonly number[] = Array.from({ length: 21 }, (_, step) => step / 20);

/** Slacks for which the best thresholds beyond them are listed, and the distance up to which those are tried. */
const SLACKS_BEYOND: readonly number[] = [0.1, 0.25, 0.5, 1];
const BEYOND = 20;

/** Maximum number of combinations of thresholds that are tried inside the approved ranges, and with those beyond. */
const MOST_SETTINGS = 200;
const MOST_BEYOND = 64;

/**
 * What other slacks give on the replicas of a plan, by its thresholds alone. For each slack: of the thresholds inside the approved ranges
 * that keep floor, load and budget, those of the highest quality bound within (1 + slack) times the fastest. Slacks with the same thresholds
 * as a smaller one are left out, and the plan's own thresholds are always among the steps. Then some steps beyond the approved ranges
 * that promise more: they need a new plan.
 *
 * @param ranges the approved range of each threshold.
 * @returns null where the cascade has no thresholds, or the tables do not know its replicas.
 */
export function slackSteps(explorer: Explorer, plan: DeployedRouting, ranges: readonly Range[]): SlackSteps | null {
  const { thresholds } = explorer.routing(plan.routing);
  if (thresholds.length === 0) return null;
  // The first mix of several makes their shared table: what is made here must not change later answers.
  const forget = explorer.tables.checkpoint();
  try {
    const settingAt = thresholdSettings(explorer, plan);
    const own = { ...settingAt(thresholds), seconds: () => plan.verifiedSeconds };
    if (!Number.isFinite(settingAt(thresholds).seconds())) return null;
    const kept = (grid: readonly (readonly number[])[]): ThresholdSetting[] =>
      grid.map(settingAt).filter((setting) => setting.keeps() && Number.isFinite(setting.seconds()));
    const inside = [own, ...kept(gridOf(ranges, thresholds, MOST_SETTINGS).filter((at) => !isSame(at, thresholds)))];
    const fastest = Math.min(...inside.map((setting) => setting.seconds()));
    const approved = stepsFor(SLACKS, inside, fastest).map((step) => ({ ...step, approved: true }));
    const steps = withOwn(approved, stepOf(own, own.seconds() / fastest - 1));
    const last = steps.at(-1);
    const outside = gridOf(ranges.map(widened), thresholds, MOST_BEYOND).filter((at) => !isWithin(at, ranges));
    const beyond = kept(outside).filter(({ qualityLow }) => qualityLow > (last?.qualityLow ?? 0));
    const further = stepsFor(SLACKS_BEYOND, beyond, fastest).filter(({ value }) => value > (last?.value ?? 0));
    return { kind: "p95", steps: [...steps, ...further.map((step) => ({ ...step, approved: false }))] };
  } finally {
    forget();
  }
}

/** For each slack the setting of the highest quality bound within it, then the fastest; left out where it is that of the slack before. */
function stepsFor(slacks: readonly number[], settings: readonly ThresholdSetting[], fastest: number): SlackStep[] {
  const steps: SlackStep[] = [];
  for (const slack of slacks) {
    let found: ThresholdSetting | null = null;
    for (const setting of settings) {
      if (setting.seconds() > (1 + slack) * fastest) continue;
      const points = setting.qualityLow - (found?.qualityLow ?? Number.NEGATIVE_INFINITY);
      if (found === null || points > 0 || (points === 0 && setting.seconds() < found.seconds())) found = setting;
    }
    if (found !== null && !isSame(found.thresholds, steps.at(-1)?.thresholds ?? [])) steps.push(stepOf(found, slack));
  }
  return steps;
}

/** The steps with the plan's own among them: at its own slack, in the place of another step of the same slack. */
function withOwn(steps: readonly SlackStep[], own: SlackStep): SlackStep[] {
  if (steps.some(({ thresholds = [] }) => isSame(thresholds, own.thresholds ?? []))) return [...steps];
  return [...steps.filter(({ value }) => value !== own.value), own].sort((a, b) => a.value - b.value);
}

function stepOf({ thresholds, quality, qualityLow, share, seconds }: ThresholdSetting, value: number): SlackStep {
  return { value, thresholds: [...thresholds], quality, qualityLow, p95Seconds: seconds(), share: [...share], approved: true };
}

const widened = ({ min, max }: Range): Range => ({ min: Math.max(0, min - BEYOND), max: Math.min(100, max + BEYOND) });

const isWithin = (thresholds: readonly number[], ranges: readonly Range[]): boolean =>
  ranges.every(({ min, max }, stage) => min <= (thresholds[stage] ?? 0) && (thresholds[stage] ?? 0) <= max);

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((threshold, stage) => threshold === other[stage]);

/** Combinations of thresholds in the ranges, evenly spaced with the ends and the plan's own values: about `most` of them. */
function gridOf(ranges: readonly Range[], own: readonly number[], most: number): number[][] {
  const each = Math.max(2, Math.floor(most ** (1 / ranges.length)));
  return product(
    ranges.map(({ min, max }, stage) => {
      const count = Math.min(each, max - min + 1);
      const even = Array.from({ length: count }, (_, step) => min + Math.round((step * (max - min)) / Math.max(1, count - 1)));
      return [...new Set([...even, own[stage] ?? min])].sort((a, b) => a - b);
    }),
  );
}
