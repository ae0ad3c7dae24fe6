import type { RoutingFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";

/** A knob of the policy in force that may be turned without a new approval. */
export interface LiveKnob {
  readonly key: string;
  readonly label: string;
  /** In force. */
  readonly current: number;
  /** As the approved plan has it; null where the plan is not at hand or routes in another way. */
  readonly planned: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** What the slider stands at. */
  readonly value: number;
}

/** What an operator has moved and not applied yet, by knob. */
export type KnobDraft = Readonly<Record<string, number>>;

const DECIMAL_STEP = 0.01;

/** The knobs of a policy inside their approved ranges, in the order of its stages; none where requests go to a fixed model or are balanced. */
export function prepareKnobs(policy: PolicyDocument, planned: PolicyDocument | null, draft: KnobDraft): readonly LiveKnob[] {
  const knob = (one: Omit<LiveKnob, "value">): LiveKnob => ({ ...one, value: draft[one.key] ?? one.current });
  switch (policy.kind) {
    case "fixed":
    case "balanced":
    case "just-in-time":
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
        knob({
          key: "deltaScore",
          label: "Confidence margin",
          current: policy.deltaScore,
          planned: before?.deltaScore ?? null,
          ...deltaScore,
          step,
        }),
      ];
    }
  }
}

export interface KnobTurn {
  readonly thresholds?: number[];
  readonly tau?: number;
  readonly deltaScore?: number;
}

/** What to ask the gateway for so that it runs the knobs as they stand; null where that is what it runs. */
export function knobTurn(policy: PolicyDocument, knobs: readonly LiveKnob[]): KnobTurn | null {
  const turned = knobs.filter(({ value, current }) => value !== current);
  if (turned.length === 0) return null;
  if (policy.kind === "cascade") return { thresholds: knobs.map(({ value }) => value) };
  return Object.fromEntries(turned.map(({ key, value }) => [key, value]));
}

/** What moves every knob to where the plan has it; a value outside its range stays out of reach. */
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
