import { expect, it } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import type { MixTask } from "./mixTask";
import { planMixInThread } from "./mixThread";

const workload = generatedWorkload({ prompts: 200, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const nodes = [{ name: "node1", gpus: 2 }];
const task = (qualityFloor: number): MixTask => ({
  situation: {
    ...{ workload, workloadId: "abc" },
    cluster: { id: "described", name: "2 x l40s", kind: "described", gpu: "l40s", usdPerGpuHour: 1, nodes },
  },
  mix: { singles: { requestsPerSecond: 2, qualityFloor }, workflows: [], selection: { kind: "beam", width: 4 } },
});

it("plans for a mix in a thread that says what it does, and ends with who asked", async () => {
  const phases: string[] = [];
  const never = new AbortController().signal;
  const made = await planMixInThread(task(20), { signal: never, onPhase: (phase) => phases.push(phase) });
  expect(made).toMatchObject({ ok: true, plan: { kind: "Plan", id: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  expect(phases).toEqual(["candidates", "engines", "simulation"]);
  expect(await planMixInThread(task(100), { signal: never })).toMatchObject({ ok: false, kind: "floor" });
  const leaving = new AbortController();
  const asked = planMixInThread(task(20), { signal: leaving.signal });
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
});
