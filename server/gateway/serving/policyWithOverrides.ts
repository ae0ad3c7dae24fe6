import type { KnobsRequest } from "@/server/contracts/gateway/gatewayControls";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";

type Knobs = Pick<KnobsRequest, "thresholds" | "tau" | "deltaScore">;

interface PolicyWithOverrides {
  readonly policy: PolicyDocument;
  /** What changes, in words. */
  readonly change: string;
}

/** The knobs each kind of policy has. */
const knobsOf: { readonly [kind in PolicyDocument["kind"]]: readonly (keyof Knobs)[] } = {
  cascade: ["thresholds"],
  slack: ["tau", "deltaScore"],
  fixed: [],
  balanced: [],
  "just-in-time": [],
};

/** The policy with knobs turned inside their approved ranges; where it has no such knob, or a range ends before, the sentence that says so. */
export function policyWithOverrides(policy: PolicyDocument, { thresholds, tau, deltaScore }: Knobs): PolicyWithOverrides | string {
  const asked = Object.entries({ thresholds, tau, deltaScore }).filter(([, value]) => value !== undefined);
  const own = knobsOf[policy.kind];
  const foreign = asked.find(([knob]) => !own.some((one) => one === knob));
  if (foreign !== undefined) return `The policy in force is of the kind ${policy.kind}, which has no control ${foreign[0]}.`;
  if (asked.length === 0) {
    return own.length === 0
      ? `The policy in force is of the kind ${policy.kind}, which has no controls.`
      : `Name a control to set: ${own.join(" or ")}.`;
  }
  // What was asked are knobs of this kind of policy.
  const turned = { ...policy, ...Object.fromEntries(asked) } as PolicyDocument;
  const refusal = policyRefusal(turned);
  if (refusal !== null) return refusal;
  const was = policy as Readonly<Record<string, unknown>>;
  const change = asked.map(([knob, value]) => `${knob} from ${said(was[knob])} to ${said(value)}`).join(", ");
  return { policy: turned, change: `Set ${change}` };
}

const said = (value: unknown): string => [value].flat().join(", ");
