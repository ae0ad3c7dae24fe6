import { formatCounted } from "@/components/ui/format";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Finding } from "./findings";

type Unscored = NonNullable<NonNullable<LiveFrame["gateway"]["routing"]>["unscoredStages"]>[number];

const causes: { readonly [cause in Unscored["cause"]]: { readonly says: string; readonly fix: string } } = {
  "no-log-probabilities": {
    says: "its engines report no log probabilities",
    fix: "Start them so that they report log probabilities, or apply a policy with another gate.",
  },
  "no-other-answers": {
    says: "there were no further answers to compare with",
    fix: "Free engines of the models that the gate compares with, which must stay half empty, or apply a policy with another gate.",
  },
  "no-extractable-answer": {
    says: "no final answer was found in the answers",
    fix: "Check how the gate extracts the final answer.",
  },
};

/** Stages whose gate could not score the latest answers: the policy decides on these without a score. */
export function gateFindings({ gateway }: LiveFrame): readonly Finding[] {
  return (gateway.routing?.unscoredStages ?? []).map(({ model, cause, answers }) => ({
    ...{ cause: `gate ${cause}`, kind: "stage", subject: model, tone: "warn", word: "gate gives no score", when: null, nextTryAtMs: null },
    reason: `${formatCounted(answers, "answer")} in a row: ${causes[cause].says}`,
    action: `Answers are accepted or escalated without a score, as the plan sets. ${causes[cause].fix}`,
  }));
}
