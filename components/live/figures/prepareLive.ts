import { type Doubt, extrapolated } from "@/components/plan/result/prepareStages";
import { formatCounted } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { LiveFrame, StageFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { promisedBy } from "../charts/promisedBy";

/** A stage of the plan with its current measurements. Either half may be missing. */
export interface StageRow {
  readonly model: string;
  readonly identity: ModelIdentity | undefined;
  readonly measured: StageFrame | null;
  readonly predictedP95Seconds: number | null;
  readonly predictedShare: number | null;
  /** The mark of a prediction that extrapolates beyond the fitted step times. */
  readonly doubt: Doubt | null;
}

/** Stages in the order in which requests reach them: the plan's, or, without a plan, those the gateway reports. */
export function stageRows(frame: LiveFrame, plan: Plan | null, identities: ReadonlyMap<string, ModelIdentity>): readonly StageRow[] {
  const models = plan === null ? frame.gateway.stages.map((stage) => stage.model) : modelsOf(plan.policy);
  const promised = promisedBy(plan);
  return models.map((model) => {
    const predicted = promised?.stages.find((stage) => stage.model === model);
    return {
      model,
      identity: identities.get(model),
      measured: frame.gateway.stages.find((stage) => stage.model === model) ?? null,
      predictedP95Seconds: predicted?.p95Seconds ?? null,
      predictedShare: predicted?.share ?? null,
      doubt: predicted === undefined ? null : extrapolated([predicted]),
    };
  });
}

/**
 * Requests that wait for the next free model; null where it is not known, and where there are none and the policy in force has no such
 * queue.
 */
export function lineOf({ gateway: { queuedForAny, routing } }: LiveFrame): number | null {
  const chooses = routing?.policy.kind === "just-in-time" || routing?.controls?.canary?.candidate.policy.kind === "just-in-time";
  return chooses || (queuedForAny ?? 0) > 0 ? queuedForAny : null;
}

/** The text about them. */
export const lineWords = (line: number): string =>
  `${formatCounted(line, "request")} ${line === 1 ? "waits" : "wait"} for any model with capacity; the stages count only requests for their own model.`;

/** Seconds at the end of the common scale of all stages: some room beyond the longest measured or predicted time. */
export function stageScale(rows: readonly StageRow[]): number {
  const longest = Math.max(
    0,
    ...rows.flatMap(({ measured, predictedP95Seconds }) => [measured?.p95Seconds ?? 0, predictedP95Seconds ?? 0]),
  );
  return longest * 1.25 || 1;
}
