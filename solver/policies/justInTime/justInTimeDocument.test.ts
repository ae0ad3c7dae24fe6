import { expect, it } from "vitest";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { policySchema } from "@/solver/plan/policySchema";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { policyRefusal } from "../policyRefusal";
import { justInTimeDocument } from "./justInTimeDocument";

const replica = (base: number, maxSequences: number): ReplicaModel => ({
  stepTime: { decodeBaseSeconds: () => base, secondsPerKvToken: 0, mixedStepSeconds: () => base, provenance: [] },
  ...{ kvTokens: 1e6, maxSequences, maxBatchedTokens: 8192, requestSeconds: () => 0 },
});
const requests = { inputTokens: [100, 100, 100, 100], outputTokens: [20, 40, 60, 80], seed: 1 };
const workflow = workflowDocumentSchema.parse({ name: "draft-critic", agents: [{ name: "draft" }, { name: "critic", reads: ["draft"] }] });

it("makes a policy that is one, its models by ascending cost with the curves of their own engines", () => {
  const document = justInTimeDocument({
    models: [
      { model: "large", cost: 70, replica: replica(0.05, 8), requests },
      {
        model: "small",
        cost: 8,
        replica: [{ replica: replica(0.01, 32), count: 1 }, ...[{ replica: replica(0.01, 64), count: 1 }]],
        requests,
      },
    ],
    workflows: [{ workflow }],
    selection: { kind: "beam", width: 4 },
  });
  expect(policySchema.parse(document)).toEqual(document);
  expect(policyRefusal(document)).toBeNull();
  expect(document.models.map(({ model, saturationBatch }) => [model, saturationBatch])).toEqual([
    ["small", 48],
    ["large", 8],
  ]);
  expect(document.models.map(({ endedBy }) => endedBy)).toEqual(["sequences", "sequences"]);
  expect(document.order).toEqual({ kind: "fcfs" });
});
