import type { SlackSteps } from "../plan/planSlack";
import { type PolicyDocument, type SinglesPolicy, singlesPolicyOf, withSinglesPolicy } from "../plan/policySchema";
import { policyRefusal } from "./policyRefusal";

/** Values for the controls of a policy; those left out stay. */
export interface PolicyOverrides {
  /** All of a cascade's. */
  readonly thresholds?: readonly number[] | undefined;
  readonly tau?: number | undefined;
  readonly deltaScore?: number | undefined;
}

export interface PolicyWithOverrides {
  readonly policy: PolicyDocument;
  /** The change in words. */
  readonly change: string;
}

/** A policy with the controls of its plan's own policy. */
export function withPlanControls(policy: PolicyDocument, planned: PolicyDocument): PolicyDocument {
  const [running, own] = [singlesPolicyOf(policy), singlesPolicyOf(planned)];
  if (running === null || own === null) return policy;
  const controls = controlsOf[own.kind].map((control) => [control, (own as PolicyOverrides)[control]]);
  return withSinglesPolicy(policy, { ...running, ...Object.fromEntries(controls) } as SinglesPolicy);
}

/** The controls each kind of policy has; those of a just-in-time policy are of the one for its single requests. */
const controlsOf: { readonly [kind in SinglesPolicy["kind"]]: readonly (keyof PolicyOverrides)[] } = {
  cascade: ["thresholds"],
  slack: ["tau", "deltaScore"],
  fixed: [],
  balanced: [],
};

/**
 * The policy with controls set inside their approved ranges; if it has no such control, or the value is outside of a range, the sentence
 * that says so.
 */
export function policyWithOverrides(
  policy: PolicyDocument,
  { thresholds, tau, deltaScore }: PolicyOverrides,
): PolicyWithOverrides | string {
  const asked = Object.entries({ thresholds, tau, deltaScore }).filter(([, value]) => value !== undefined);
  const singles = singlesPolicyOf(policy);
  const own = singles === null ? [] : controlsOf[singles.kind];
  const foreign = asked.find(([control]) => !own.some((one) => one === control));
  if (foreign !== undefined) return `The policy in force is of the kind ${policy.kind}, which has no control ${foreign[0]}.`;
  if (asked.length === 0 || singles === null) {
    return own.length === 0
      ? `The policy in force is of the kind ${policy.kind}, which has no controls.`
      : `Name a control to set: ${own.join(" or ")}.`;
  }
  // The requested values are controls of this kind of policy.
  const turned = withSinglesPolicy(policy, { ...singles, ...Object.fromEntries(asked) } as SinglesPolicy);
  const refusal = policyRefusal(turned);
  if (refusal !== null) return refusal;
  const was = singles as Readonly<Record<string, unknown>>;
  const change = asked.map(([control, value]) => `${control} from ${said(control, was[control])} to ${said(control, value)}`).join(", ");
  return { policy: turned, change: `Set ${change}` };
}

const said = (control: string, value: unknown): string =>
  control === "thresholds" ? thresholdsText([value].flat().map(Number)) : String(value);

/** Thresholds in words: answers of a stage with the threshold 0 are not judged. */
const thresholdsText = (thresholds: readonly number[]): string =>
  thresholds.map((threshold) => (threshold === 0 ? "0 (not judged)" : String(threshold))).join(", ");

/** The settings of a policy that an operator changes on a running cluster. */
export interface ControlValues {
  readonly thresholds?: readonly number[];
  readonly tau?: number;
  readonly deltaScore?: number;
  /** The slack of the plan's step with these thresholds; left out where no step has them. */
  readonly slack?: number;
}

/**
 * The settings of a policy, named by the plan's slack where they are one of its steps.
 * @param steps of the policy's plan; undefined: it has none.
 */
export function controlValuesOf(policy: PolicyDocument, steps: SlackSteps | undefined): ControlValues {
  const singles = singlesPolicyOf(policy);
  if (singles?.kind === "slack") return { tau: singles.tau, deltaScore: singles.deltaScore };
  if (singles?.kind !== "cascade" || singles.thresholds.length === 0) return {};
  const { thresholds } = singles;
  const step = steps?.kind === "p95" ? steps.steps.find((one) => isSame(one.thresholds, thresholds)) : undefined;
  return { thresholds, ...(step === undefined ? {} : { slack: step.value }) };
}

const isSame = (one: readonly number[] | undefined, other: readonly number[]): boolean =>
  one !== undefined && one.length === other.length && one.every((value, at) => value === other[at]);

/**
 * A change of settings in words: `slack 0 → 20 % (thresholds 84, 56 → 90, 61)`, `tau 0.5 → 1.2`.
 * Settings that are equal are left out; empty where all are.
 */
export function controlChangeText(from: ControlValues, to: ControlValues): string {
  const parts: string[] = [];
  if (to.thresholds !== undefined && !isSame(from.thresholds, to.thresholds)) {
    const thresholds = `thresholds ${from.thresholds === undefined ? "unknown" : thresholdsText(from.thresholds)} → ${thresholdsText(to.thresholds)}`;
    const slack = slackChangeText(from.slack, to.slack);
    parts.push(slack === null ? thresholds : `${slack} (${thresholds})`);
  }
  if (to.tau !== undefined && from.tau !== to.tau) parts.push(`tau ${from.tau ?? "unknown"} → ${to.tau}`);
  if (to.deltaScore !== undefined && from.deltaScore !== to.deltaScore)
    parts.push(`confidence margin ${from.deltaScore ?? "unknown"} → ${to.deltaScore}`);
  return parts.join(", ");
}

/** null: neither setting is a step of the slack. */
function slackChangeText(from: number | undefined, to: number | undefined): string | null {
  if (from === undefined && to === undefined) return null;
  if (from !== undefined && to !== undefined) return `slack ${percent(from)} → ${percent(to)} %`;
  const each = (slack: number | undefined): string => (slack === undefined ? "set by hand" : `${percent(slack)} %`);
  return `slack ${each(from)} → ${each(to)}`;
}

const percent = (fraction: number): number => Math.round(fraction * 100);
