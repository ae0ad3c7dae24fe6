import type { RoutingFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { cascadeOf, type PolicyDocument, singlesPolicyOf } from "@/solver/plan/policySchema";

/** The operator's unapplied changes, by knob. */
export type KnobDraft = Readonly<Record<string, number>>;

/** A knob of the policy in force that can be changed without a new approval. */
export interface LiveKnob {
  readonly key: string;
  readonly label: string;
  /** In force. */
  readonly current: number;
  /** The approved plan's value; null where the plan is not available or routes in another way. */
  readonly planned: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** The slider's value. */
  readonly value: number;
}

const DECIMAL_STEP = 0.01;

/**
 * The knobs of a policy inside their approved ranges, in the order of its stages; those of a just-in-time policy are of the one for requests
 * outside workflows. None where requests go to a fixed model or are balanced.
 */
export function prepareKnobs(inForce: PolicyDocument, plannedPolicy: PolicyDocument | null, draft: KnobDraft): readonly LiveKnob[] {
  const knob = (one: Omit<LiveKnob, "value">): LiveKnob => ({ ...one, value: draft[one.key] ?? one.current });
  const policy = singlesPolicyOf(inForce);
  const planned = plannedPolicy && singlesPolicyOf(plannedPolicy);
  switch (policy?.kind) {
    case undefined:
    case "fixed":
    case "balanced":
      return [];
    case "cascade":
      return policy.thresholds.map((current, at) => {
        const range = policy.approvedRanges.thresholds[at] ?? { min: current, max: current };
        const before = planned?.kind === "cascade" ? planned.thresholds[at] : undefined;
        const label = `Accept ${policy.stages[at]?.model ?? `stage ${at + 1}`} from`;
        return knob({ key: `threshold ${at}`, label, current, planned: before ?? null, ...range, step: 1 });
      });
    case "slack": {
      const { tau, deltaScore } = policy.approvedRanges;
      const before = planned?.kind === "slack" ? planned : null;
      const step = DECIMAL_STEP;
      return [
        knob({ key: "tau", label: "Slack τ", current: policy.tau, planned: before?.tau ?? null, ...tau, step }),
        // A margin with a single approved value cannot be set.
        ...(deltaScore.min === deltaScore.max
          ? []
          : [
              knob({
                key: "deltaScore",
                label: "Confidence margin",
                current: policy.deltaScore,
                planned: before?.deltaScore ?? null,
                ...deltaScore,
                step,
              }),
            ]),
      ];
    }
  }
}

export interface KnobTurn {
  readonly thresholds?: number[];
  readonly tau?: number;
  readonly deltaScore?: number;
}

/** The request that makes the gateway run the current knobs; null where it runs them already. */
export function knobTurn(policy: PolicyDocument, knobs: readonly LiveKnob[]): KnobTurn | null {
  const turned = knobs.filter(({ value, current }) => value !== current);
  if (turned.length === 0) return null;
  if (cascadeOf(policy) !== null) return { thresholds: knobs.map(({ value }) => value) };
  return Object.fromEntries(turned.map(({ key, value }) => [key, value]));
}

/** The change that resets every knob to the plan's value; a value outside its range cannot be reached. */
export function plannedDraft(knobs: readonly LiveKnob[]): KnobDraft {
  return Object.fromEntries(
    knobs.flatMap(({ key, planned, min, max }) => (planned === null || planned < min || planned > max ? [] : [[key, planned]])),
  );
}

/** Whether the plan in force runs with other knobs than it was planned and approved with. */
export function isTurned(
  routing: Pick<RoutingFrame, "planId" | "policyHash"> | null,
  plan: Pick<Plan, "id" | "policyHash"> | null,
): boolean {
  return routing !== null && plan !== null && plan.id === routing.planId && plan.policyHash !== routing.policyHash;
}
