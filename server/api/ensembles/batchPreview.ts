import { gpusByNode } from "@/server/batches/freeWorkers";
import type { BatchPreview } from "@/server/contracts/studio/batches";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";

/** What starting a batch would do, of what it is settled to. */
export function previewOf(order: BatchOrder): BatchPreview {
  const { schedules, workers, questions, notes } = order;
  const gpus = [...gpusByNode(workers)].map(([node, taken]) => ({ node, gpus: taken }));
  return { schedules, gpus, questions, aggregator: aggregatorOf(order), notes };
}

function aggregatorOf({ ensemble, aggregators, aggregatorPredicted }: BatchOrder): BatchPreview["aggregator"] {
  const { loadSeconds, points, expected } = aggregatorPredicted;
  return {
    ...{ model: ensemble.aggregator.model, tp: aggregators[0]?.gpus.length ?? 0, copies: aggregators.length, loadSeconds },
    allSeconds: secondsAtShare(points, 1),
    expected: expected && { ...expected, seconds: secondsAtShare(points, expected.share) },
  };
}
