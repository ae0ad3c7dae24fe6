import { describe, expect, it } from "vitest";
import { type PriorityUse, priorityFor, priorityUseOfAnswer, readPriorityUse } from "./priorityUse";

describe("what an engine says of priorities", () => {
  const sglang = {
    enable_priority_scheduling: true,
    schedule_low_priority_values_first: false,
    default_priority_value: null,
    version: "0.5.9",
  };

  it("is read from SGLang's settings, which order higher first unless told otherwise", () => {
    expect(readPriorityUse(sglang)).toEqual({ kind: "ordered", lowerFirst: false, unsetLast: true });
    expect(readPriorityUse({ ...sglang, schedule_low_priority_values_first: true })).toMatchObject({ lowerFirst: true });
    expect(readPriorityUse({ ...sglang, default_priority_value: 0 })).toMatchObject({ unsetLast: false });
    expect(readPriorityUse({ ...sglang, enable_priority_scheduling: false })).toEqual({ kind: "unused" });
    // Releases before the two later settings.
    expect(readPriorityUse({ enable_priority_scheduling: true })).toEqual({ kind: "ordered", lowerFirst: false, unsetLast: true });
  });

  it("is read from vLLM's settings where it shows them", () => {
    const vllm = (policy: string) => ({ vllm_config: { scheduler_config: { policy } } });
    expect(readPriorityUse(vllm("priority"))).toEqual({ kind: "ordered", lowerFirst: true, unsetLast: false });
    expect(readPriorityUse(vllm("fcfs"))).toEqual({ kind: "unused" });
  });

  it.each([null, 5, {}, [], { enable_priority_scheduling: "yes" }, { vllm_config: "VllmConfig(policy='priority')" }])(
    "is unknown where %j answers",
    (settings) => {
      expect(readPriorityUse(settings)).toBeNull();
    },
  );

  it("is not taken for an order where a request with a priority was merely answered", () => {
    expect(priorityUseOfAnswer(200)).toEqual({ kind: "taken" });
    expect(priorityUseOfAnswer(400)).toEqual({ kind: "unused" });
    expect([401, 404, 429, 500, 503].map(priorityUseOfAnswer)).toEqual([null, null, null, null, null]);
  });
});

describe("a priority for an engine", () => {
  const ordered = (lowerFirst: boolean, unsetLast = false): PriorityUse => ({ kind: "ordered", lowerFirst, unsetLast });

  it("keeps its order whichever way the engine counts", () => {
    const asked = [-7, 0, 3, 1000];
    const sent = (use: PriorityUse) => asked.map((priority) => priorityFor(priority, use).value);
    expect(sent(ordered(true))).toEqual([-7, 0, 3, 1000]);
    expect(sent(ordered(false))).toEqual([7, 0, -3, -1000]);
    expect(priorityFor(-7, ordered(true)).priority).toBe("passed");
    expect(priorityFor(-7, ordered(false)).priority).toBe("negated");
  });

  it("is 0 for a request without one where the engine would put that last", () => {
    expect(priorityFor(null, ordered(false, true))).toEqual({ priority: null, value: 0 });
    expect(priorityFor(null, ordered(false))).toEqual({ priority: null, value: null });
  });

  it("is left out where the engine does not use it, or nothing is known of it", () => {
    expect(priorityFor(4, { kind: "unused" })).toEqual({ priority: "stripped", value: null });
    expect(priorityFor(4, null)).toEqual({ priority: "stripped", value: null });
    expect(priorityFor(4, { kind: "taken" })).toEqual({ priority: "offered", value: 4 });
    expect([null, { kind: "taken" } as const, { kind: "unused" } as const].map((use) => priorityFor(null, use).value)).toEqual([
      null,
      null,
      null,
    ]);
  });
});
