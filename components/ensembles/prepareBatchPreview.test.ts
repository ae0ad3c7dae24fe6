import { expect, it } from "vitest";
import { identifyModels } from "../ui/modelIdentity";
import { prepareBatchPreview } from "./prepareBatchPreview";
import { testPlacement } from "./testEnsembles";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b"]);
const gpus = [
  { node: "node1", gpus: [0, 1] },
  { node: "node2", gpus: [7] },
];

it("says which GPUs are taken, when experts would be done, and what the best of the others takes", () => {
  const { says, gantt } = prepareBatchPreview({ schedules: testPlacement().schedules, gpus, questions: 2000, notes: [] }, identities);
  expect(says.replaceAll("\u00a0", " ")).toBe(
    "2,000 questions. Takes 3 free GPUs (node1 0, 1; node2 7) until the last answer. Experts would be done after 500 s, 480 s by list scheduling, the best of the others.",
  );
  expect(gantt?.drawings).toHaveLength(1);
});

it("tells what is taken where nothing was timed", () => {
  const { says, gantt } = prepareBatchPreview({ schedules: [], gpus: gpus.slice(1), questions: 1, notes: [] }, identities);
  expect(says).toBe("1 question. Takes 1 free GPU (node2 7) until the last answer.");
  expect(gantt).toBeNull();
});
