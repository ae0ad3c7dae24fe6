import type { Batch } from "@/server/contracts/batches";
import type { BatchOrder } from "@/server/store/batchOrder";
import { secondsAtShare } from "@/solver/ensemble/aggregatorStage";

/** What was predicted of a batch's aggregator at the share of questions that it is sent. @param sent null: not known before all experts are through. */
export function aggregatorPrediction(
  { aggregatorPredicted, questions }: Pick<BatchOrder, "aggregatorPredicted" | "questions">,
  sent: number | null,
): Batch["aggregatorPredicted"] {
  const { loadSeconds, points } = aggregatorPredicted;
  const share = (sent ?? questions) / questions;
  return {
    ...{ share, seconds: secondsAtShare(points, share), loadSeconds: share === 0 ? 0 : loadSeconds },
    says:
      sent === null
        ? `Predicted as if all ${count(questions)} questions were sent to the aggregator: how many are is known when the experts are through.`
        : `Predicted for the ${count(sent)} of ${count(questions)} questions that the gate sends to the aggregator.`,
  };
}

const count = (questions: number): string => questions.toLocaleString("en-GB");
