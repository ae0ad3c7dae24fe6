import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { PlaceTask } from "../ensembles/placeEnsemble";

const cards = catalogueOf(noUserCards);

function lengths(model: string, meanTokens: number) {
  const random = seededRandom(mixSeed(1, model));
  const outputTokens = Int32Array.from({ length: 400 }, () => Math.max(1, Math.min(8000, meanTokens * random.lognormal(-0.18, 0.6))));
  return { inputTokens: new Int32Array(400).fill(200), outputTokens };
}

/** Three experts with short answers and a reasoning one on four A100s, and a large aggregator. */
export function testPlaceTask(changed: Partial<PlaceTask> = {}): PlaceTask {
  const experts = ["gemma-2-9b", "deepseek-r1-distill-qwen-7b", "qwen2.5-7b", "exaone-3.5-7.8b", "glm-4-9b"];
  return {
    ensemble: {
      ...{ name: "exam", experts, expertsPerQuestion: 3, extraction: { kind: "choice" }, confidence: { kind: "plurality" } },
      ...{ tau: 2 / 3, aggregator: { model: "qwen2.5-72b" }, quorum: 2, deadlineSeconds: 60 },
    },
    ...{ gpu: "a100-sxm-80g", gpusPerWorker: 1, workers: 4, gpusByNode: [4], maxModelsPerWorker: 2, replicas: "amortised" },
    ...{ storage: "local-nvme", questions: 1000, prompts: [900, 700, 600, 500, 300] },
    lengths: Object.fromEntries([
      ...experts.map((model) => [model, lengths(model, model.startsWith("deepseek") ? 2500 : 200)]),
      ["qwen2.5-72b", lengths("qwen2.5-72b", 400)],
    ]),
    ...{
      ownLimits: [],
      lengthsSource: "drawn for a test",
      aggregated: null,
      sessionRows: [],
      engineProfile: vllmProfile,
      cards,
      concurrency: null,
    },
    ...changed,
  };
}
