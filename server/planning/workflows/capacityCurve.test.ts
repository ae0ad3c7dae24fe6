import { expect, it } from "vitest";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { type CapacityTask, capacityCurve } from "./capacityCurve";

const models = ["gemma-2-9b", "gemma-2-27b"];
const workload = generatedWorkload({ prompts: 600, ladder: models, seed: 4 });
const workflow = workflowDocumentSchema.parse({
  name: "vote",
  agents: [{ name: "one" }, { name: "two" }, { name: "three" }, { name: "tally", reads: ["one", "two", "three"], part: "votes" }],
});
const draft = examplePlanDraft();
const task: CapacityTask = {
  workload,
  workflow,
  plan: {
    ...draft,
    policy: { kind: "fixed", model: "gemma-2-27b", order: { kind: "fcfs" }, place: { kind: "least-load" } },
    deployment: models.map((model) => ({
      ...{ model, precision: "bf16" as const, gpu: "h100-sxm", gpus: 1 },
      replicas: [{ tp: 1, pp: 1, count: 1, shareEach: 1, placements: [] }],
    })),
  },
};

it("trades accuracy against capacity: with less admitted fewer programs a second, and never less quality than where inaccurate ones are admitted", () => {
  const made = capacityCurve(task);
  if (!made.ok) throw new Error(made.message);
  const { points, largest, notes } = made.curve;
  const [all, none] = [points[0]!, points.at(-1)!];
  expect(all.admitted).toBe(1);
  expect(none.admitted).toBe(1 / 2 ** 4);
  const admitted = points.map((point) => point.admitted);
  expect(admitted).toEqual([...admitted].sort((a, b) => b - a));
  expect(all.programsPerSecond).toBeGreaterThan(1.3 * none.programsPerSecond);
  expect(largest).toEqual({ programsPerSecond: none.programsPerSecond, quality: none.quality });
  // Every accurate configuration has the quality of the largest models.
  for (const { quality } of points.slice(3)) expect(quality).toBeGreaterThanOrEqual(largest.quality - 1e-9);
  expect(all.quality).toBeLessThan(largest.quality);
  expect(notes.join(" ")).toContain("Modelled");
});

it("of twice the engines is twice the capacity whenever it is made", () => {
  const short = { ...task, workflow: { ...workflow, agents: workflow.agents.slice(0, 2) } };
  const deployment = task.plan.deployment.map((one) => ({ ...one, replicas: one.replicas.map((group) => ({ ...group, count: 2 })) }));
  const [once, twice] = [capacityCurve(short), capacityCurve({ ...short, plan: { ...task.plan, deployment } })];
  if (!once.ok || !twice.ok) throw new Error("refused");
  const of = ({ points }: typeof once.curve) => points.map(({ programsPerSecond }) => programsPerSecond);
  expect(of(twice.curve)).toEqual(of(once.curve).map((rate) => 2 * rate));
  expect(twice.curve.notes.at(-1)).toContain("one in 2 of them");
});

it("is refused where there is nothing to choose", () => {
  const lone = { ...task, plan: { ...task.plan, deployment: task.plan.deployment.slice(1) } };
  expect(capacityCurve(lone)).toMatchObject({ ok: false, message: expect.stringContaining("nothing to choose") });
});
