import { ABSENT, formatPercent, formatShare } from "@/components/ui/format";
import type { DispatchExploration, DispatchPoint } from "@/solver/dispatch/dispatchExploration";
import type { Plan } from "@/solver/plan/plan";
import type { SlackPolicy } from "@/solver/plan/policySchema";

/** One model of slack dispatch. */
interface DispatchModel {
  readonly model: string;
  /** Of the requests, 0..1: the length of its bar. */
  readonly share: number;
  readonly shareText: string;
  /** The confidence that is stated for it, where no score of the request is known; `–` in an estimate. */
  readonly confidence: string;
}

/** Slack dispatch as it is shown: its models, and how it chooses between them. */
export interface DispatchSummary {
  readonly models: readonly DispatchModel[];
  readonly facts: readonly { readonly name: string; readonly value: string; readonly says: string }[];
}

const tauFact = (tau: number) => ({
  name: "τ",
  value: String(Number(tau.toPrecision(3))),
  says: "A model may have this many times more load than the least loaded one and still be preferred.",
});

const confidenceFact = (trained: boolean) => ({
  name: "Confidence",
  value: trained ? "trained predictor" : "stated",
  says: trained ? "Predicted for each prompt." : "The mean quality of each model, the same for every prompt.",
});

/** A planned slack dispatch. */
export function exactDispatch(plan: Pick<Plan, "predictions"> & { readonly policy: SlackPolicy }): DispatchSummary {
  const { policy, predictions } = plan;
  return {
    models: policy.models.map(({ model, confidence }) =>
      modelRow(model, predictions.stages.find((stage) => stage.model === model)?.share ?? 0, formatPercent(confidence)),
    ),
    facts: [
      tauFact(policy.tau),
      {
        name: "Margin",
        value: formatPercent(policy.deltaScore),
        says: "By this much confidence another model must exceed the least loaded one to be preferred.",
      },
      confidenceFact(policy.learnt?.confidence !== undefined),
    ],
  };
}

/** The same by the simulated points alone, until the exact plan arrives. */
export function estimatedDispatch(exploration: DispatchExploration, point: DispatchPoint): DispatchSummary {
  const models = exploration.allocations[point.allocation]?.models ?? [];
  return {
    models: models.map((model, index) => modelRow(exploration.models[model] ?? "?", point.share[index] ?? 0, ABSENT)),
    facts: [tauFact(point.tau), confidenceFact(exploration.confidence === "trained")],
  };
}

const modelRow = (model: string, share: number, confidence: string): DispatchModel => ({
  model,
  share,
  shareText: formatShare(share),
  confidence,
});
