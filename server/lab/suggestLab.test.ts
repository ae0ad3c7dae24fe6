import { expect, test } from "vitest";
import { splitPrompts } from "@/solver/workload/split";
import { suggestLab } from "./suggestLab";
import { testHardware, testWorkload } from "./testing/testLab";

test("what is suggested knows nothing of the prompts that are served", () => {
  const { outcomes, seed } = testWorkload;
  const { heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  const models = outcomes.models.map((model) => ({
    ...model,
    label: model.label.map((label, row) => (heldOut.includes(row) ? 0 : label)),
  }));
  const suggested = (workload: typeof testWorkload) =>
    suggestLab({ workloadId: "w", workload, replicas: null, gpu: "l40s", usdPerGpuHour: 1, ...testHardware });
  expect(suggested({ ...testWorkload, outcomes: { ...outcomes, models } })).toEqual(suggested(testWorkload));
});
