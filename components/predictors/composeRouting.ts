import type { LabSuggestion } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import type { OrderDocument, PolicyDocument } from "@/solver/plan/policySchema";

export const orders = ["fcfs", "sjf", "stjf"] as const;

/** Default number of releases after which a waiting request goes first, whatever its predicted length, where no suggested order sets it. */
const AGING_THRESHOLD = 1000;

/** The routing of a plan with predictors. */
export interface RoutingForm {
  /** `slack`: between the models that have engines; `same`: unchanged. */
  readonly route: "same" | "slack";
  readonly tau: number;
  /**
   * Margin in confidence by which another model must exceed the least loaded one to be preferred; at 0 only the order of confidences
   * counts.
   */
  readonly margin: number;
  readonly order: (typeof orders)[number];
  /** Predictors by their hashes; empty: none. */
  readonly lengths: string;
  readonly confidence: string;
}

/** The policy of a form on a plan's engines, or the reason in a sentence why there is none. */
export function composeRouting(
  { route, tau, margin, order: kind, lengths, confidence }: RoutingForm,
  plan: Pick<Plan, "policy">,
  suggested: Pick<LabSuggestion, "systems"> | null,
): { readonly policy: PolicyDocument } | { readonly refused: string } {
  if (lengths === "" && confidence === "") return { refused: "Choose a predictor for it to use." };
  const slack = suggested?.systems.map(({ policy }) => policy).find((policy) => policy.kind === "slack");
  if (route === "slack" && slack?.kind !== "slack")
    return { refused: "Slack dispatch chooses between models; this plan has engines of only one model, or their figures are unknown." };
  const isSlack = route === "slack" || plan.policy.kind === "slack";
  if (confidence !== "" && !isSlack) return { refused: "Only slack dispatch uses confidence." };
  if (lengths !== "" && !isSlack && kind === "fcfs") return { refused: "First come, first served uses no lengths: choose another order." };
  const aging = suggested?.systems.map(({ policy }) => policy.order).find((each) => "agingThreshold" in each);
  const agingThreshold = aging !== undefined && "agingThreshold" in aging ? aging.agingThreshold : AGING_THRESHOLD;
  const order: OrderDocument = kind === "fcfs" ? { kind } : { kind, agingThreshold };
  const learnt = { ...(lengths === "" ? {} : { lengths }), ...(confidence === "" ? {} : { confidence }) };
  const { learnt: _, ...own } = plan.policy;
  if (route === "same" || slack?.kind !== "slack") return { policy: { ...own, order, learnt } };
  const approvedRanges = { ...slack.approvedRanges, tau: { min: 0, max: Math.max(tau, slack.approvedRanges.tau.max) } };
  return { policy: { ...slack, tau, deltaScore: margin, approvedRanges, order, place: plan.policy.place, learnt } };
}
