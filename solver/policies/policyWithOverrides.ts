import type { PolicyDocument } from "../plan/policySchema";
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

/** The controls each kind of policy has. */
const controlsOf: { readonly [kind in PolicyDocument["kind"]]: readonly (keyof PolicyOverrides)[] } = {
  cascade: ["thresholds"],
  slack: ["tau", "deltaScore"],
  fixed: [],
  balanced: [],
  "just-in-time": [],
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
  const own = controlsOf[policy.kind];
  const foreign = asked.find(([control]) => !own.some((one) => one === control));
  if (foreign !== undefined) return `The policy in force is of the kind ${policy.kind}, which has no control ${foreign[0]}.`;
  if (asked.length === 0) {
    return own.length === 0
      ? `The policy in force is of the kind ${policy.kind}, which has no controls.`
      : `Name a control to set: ${own.join(" or ")}.`;
  }
  // The requested values are controls of this kind of policy.
  const turned = { ...policy, ...Object.fromEntries(asked) } as PolicyDocument;
  const refusal = policyRefusal(turned);
  if (refusal !== null) return refusal;
  const was = policy as Readonly<Record<string, unknown>>;
  const change = asked.map(([control, value]) => `${control} from ${said(was[control])} to ${said(value)}`).join(", ");
  return { policy: turned, change: `Set ${change}` };
}

const said = (value: unknown): string => [value].flat().join(", ");
