import { expect, test } from "vitest";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { cardOf, noUserCards } from "@/solver/hardware/catalogue";
import { labRunId } from "./labRunId";
import { testHardware, testSpec, testTask } from "./testing/testLab";

const task = testTask(testSpec(["vLLM balancing", "STJF oracle"]));
const learning = testTask(testSpec(["LTR"]));
const id = labRunId(task, null);

test("a run has the same name wherever all that its figures depend on is the same", () => {
  expect(labRunId(structuredClone(task), null)).toBe(id);
  expect(id).toMatch(/^[0-9a-f]{64}$/);
});

test("another profile, other cards of its engines and other texts are another run; what it does not read is not", () => {
  const own = { ...engineProfiles.vllm, name: "fitted" };
  expect(labRunId({ ...task, engineProfile: own }, null)).not.toBe(id);
  const withGpu = (id: string) => {
    const found = cardOf(testHardware.catalogue.gpus, id);
    if (found === undefined) throw new Error(`no card of ${id}`);
    const { usdPerGpuHour: _, price: __, provenance: ___, ...card } = found;
    return { ...task, userCards: { ...noUserCards, gpus: [{ ...card, memoryBytesPerSecond: 1e12, source: "measured" }] } };
  };
  expect(labRunId(withGpu("l40s"), null)).not.toBe(id);
  expect(labRunId(withGpu("h100-sxm"), null)).toBe(id);
  const priced = { ...noUserCards, prices: { l40s: { usdPerGpuHour: 9, asOf: "2026-11-22" } } };
  expect(labRunId({ ...task, userCards: priced }, null)).toBe(id);
  expect(labRunId(task, "texts")).toBe(id);
  expect(labRunId(learning, "texts")).not.toBe(labRunId(learning, null));
  expect(labRunId(learning, "texts")).not.toBe(labRunId(learning, "other texts"));
});

test("recorded runs, and their share of the programs, are part of what a run is", () => {
  const withRuns = (share?: number) =>
    labRunId({ ...task, recorded: { id: "runs", runs: [], ...(share !== undefined && { share }) } }, null);
  expect(new Set([id, withRuns(), withRuns(0.2), withRuns(0.3)]).size).toBe(4);
});
