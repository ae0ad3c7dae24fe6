import { modelsOf, type PolicyDocument, type RoundChoice, singlesPolicyOf } from "@/solver/plan/policySchema";

export const choiceOptions: readonly { readonly value: RoundChoice["kind"]; readonly text: string }[] = [
  { value: "beam", text: "by throughput: what the engines can write most of" },
  { value: "worth", text: "by worth: what is best for each request and those behind it" },
];

/** What a rule does, in a sentence. */
export const choiceSays: Readonly<Record<RoundChoice["kind"], string>> = {
  beam: "A round considers all waiting requests together and takes the assignment that adds most output tokens per second.",
  worth:
    "Requests are considered one after another. Each takes the model with the best balance of a right answer, its own time, the delay that it causes others and what its workflow has still to do, or waits for that model.",
};

/** The choice with a price of tokens, or without. */
export function withPrice(choice: Extract<RoundChoice, { kind: "worth" }>, asked: boolean): RoundChoice {
  const { priced: _, ...weights } = choice;
  return asked ? { ...weights, priced: true } : weights;
}

/** How a just-in-time plan on the engines of another plan serves requests outside declared workflows; empty where that plan is not known. */
export function singlesSays(policy: PolicyDocument | null): string {
  if (policy === null) return "";
  const singles = singlesPolicyOf(policy);
  const who = "Requests outside declared workflows";
  if (singles === null || singles.kind === "balanced") return `${who} go to the largest model.`;
  if (singles.kind === "fixed") return `${who} go to ${singles.model}, as in this plan.`;
  const way = singles.kind === "cascade" ? "cascade" : "slack dispatch";
  return `${who} keep this plan's ${way} over ${modelsOf(singles).join(", ")}, in one queue with the calls of workflows.`;
}
