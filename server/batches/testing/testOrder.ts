import type { Prompt } from "@/server/contracts/studio";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import { ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";

/** An order of two workers: the first runs two experts one after the other, the second shares one of them. */
export function testOrder(questions: number, promptSetId = "set"): ExpertsOrder {
  const ensemble = ensembleSchema.parse({
    ...{
      name: "vote",
      tau: 1,
      experts: ["qwen2.5-3b", "qwen2.5-7b"],
      expertsPerQuestion: 2,
      quorum: 2,
      deadlineSeconds: 60,
      maxTokens: 512,
    },
    ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, aggregator: { model: "qwen2.5-32b" } },
  });
  const all = Array.from({ length: questions }, (_, at) => at);
  const half = Math.floor(questions / 2);
  return {
    request: {
      ...{ name: "Night run", clusterId: "lab", promptSetId, ensemble: "vote", workers: 2, gpusPerWorker: 1 },
      ...{ maxModelsPerWorker: 2, replicas: "amortised", concurrency: 8, timeoutSeconds: 60, attempts: 2 },
    },
    ...{ ensemble, gpu: "l40s", emulated: false, questions, notes: [], schedules: [] },
    workers: [
      { node: "n1", gpus: [0] },
      { node: "n1", gpus: [1] },
    ],
    sessions: [
      [
        { model: "qwen2.5-3b", positions: all },
        { model: "qwen2.5-7b", positions: all.slice(0, half) },
      ],
      [{ model: "qwen2.5-7b", positions: all.slice(half) }],
    ],
  };
}

export const testPrompt = (at: number, text = `What is ${at} plus ${at}? Say it's "$HOME" if you don't know.`): Prompt => ({
  ...{ id: `p${at}`, category: "", atMs: null, reference: null, test: null },
  body: { messages: [{ role: "user", content: text }], temperature: 0, stream: true, n: 1 },
});
