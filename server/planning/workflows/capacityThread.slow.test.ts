import { expect, it } from "vitest";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import type { CapacityTask } from "./capacityCurve";
import { inCapacityThread } from "./capacityThread";

const draft = examplePlanDraft();
const workload = generatedWorkload({ prompts: 100, ladder: ["gemma-2-9b", "gemma-2-27b"], seed: 4 });
const workflow = workflowDocumentSchema.parse({ name: "one", agents: [{ name: "only" }] });
const task = (models: readonly string[]): CapacityTask => ({
  ...{ workload, workflow },
  plan: {
    ...draft,
    policy: { kind: "fixed", model: models[0] ?? "none", order: { kind: "fcfs" }, place: { kind: "least-load" } },
    deployment: models.map((model) => ({
      ...{ model, precision: "bf16" as const, gpu: "h100-sxm", gpus: 1 },
      replicas: [{ tp: 1, pp: 1, count: 1, shareEach: 1, placements: [] }],
    })),
  },
});

it("answers out of a thread, refusals as well, and ends with who asked", async () => {
  const never = new AbortController().signal;
  const both = await inCapacityThread(task(["gemma-2-9b", "gemma-2-27b"]), never);
  expect(both.ok && both.curve.points.length).toBe(8);
  expect(await inCapacityThread(task(["gemma-2-9b"]), never)).toMatchObject({
    ok: false,
    message: expect.stringContaining("nothing to choose"),
  });
  const leaving = new AbortController();
  const asked = inCapacityThread(task(["gemma-2-9b", "gemma-2-27b"]), leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await expect(inCapacityThread(task([]), leaving.signal)).rejects.toThrow("gone");
});

it("makes one curve after another, passes over those whose asker left meanwhile, and refuses what would wait for too many", async () => {
  const ended: string[] = [];
  const leaving = new AbortController();
  const never = new AbortController().signal;
  const ask = (name: string, models: readonly string[], signal = never) =>
    inCapacityThread(task(models), signal).then(
      (reply) => void ended.push(reply.ok ? `${name} is there` : `${name} is refused`),
      () => void ended.push(`${name} left`),
    );
  const waiting = [
    ask("long", ["gemma-2-9b", "gemma-2-27b"]),
    ask("gone", ["gemma-2-9b", "gemma-2-27b"], leaving.signal),
    ...Array.from({ length: 8 }, (_, at) => ask(`short-${at}`, ["gemma-2-9b"])),
  ];
  expect(await inCapacityThread(task(["gemma-2-9b"]), never)).toEqual({
    ok: false,
    message: "10 capacity curves are made or wait for their turn: ask again when one is there.",
  });
  leaving.abort();
  await Promise.all(waiting);
  expect(ended).toEqual(["gone left", "long is there", ...Array.from({ length: 8 }, (_, at) => `short-${at} is refused`)]);
  expect((await inCapacityThread(task(["gemma-2-9b", "gemma-2-27b"]), never)).ok).toBe(true);
});
