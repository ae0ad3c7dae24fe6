import { expect, it } from "vitest";
import type { DeclaredWorkflow, MixBeside } from "@/server/contracts/studio";
import type { MixPredictions, Plan } from "@/solver/plan/plan";
import { roundChoices } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { classRows, engineRows, type MixForm, mixRequest, mixSays, noEntry } from "./prepareMix";

const declared: readonly DeclaredWorkflow[] = ["one", "two"].map((name) => ({
  document: workflowDocumentSchema.parse({ name, agents: [{ name: "only" }] }),
  ...{ version: 1, createdAt: "2026-01-01T00:00:00Z", actor: "ada", origin: "weir" },
  predictors: name === "one" ? [{ hash: "a".repeat(64), version: 2, workloadName: "w" }] : [],
}));
const form: MixForm = { workloadId: null, singles: { ...noEntry, ticked: true, rate: 5 }, workflows: {}, selection: roundChoices.worth };
const asked = { clusterId: "c", workloadId: "w", declared };

it("asks for what is ticked, with the newest predictor unless none is chosen, and for nothing where nothing is", () => {
  const entry = { ...noEntry, ticked: true, rate: 2, floor: 40 };
  expect(mixRequest({ ...form, workflows: { one: entry, two: entry, gone: entry } }, asked)).toEqual({
    ...{ clusterId: "c", workloadId: "w", selection: roundChoices.worth, singles: { requestsPerSecond: 5, qualityFloor: 50 } },
    workflows: [
      { name: "one", programsPerSecond: 2, qualityFloor: 40, predictor: "a".repeat(64) },
      { name: "two", programsPerSecond: 2, qualityFloor: 40, predictor: null },
    ],
  });
  expect(mixRequest({ ...form, workflows: { one: { ...entry, predictor: "" } } }, asked)?.workflows[0]?.predictor).toBeNull();
  expect(mixRequest({ ...form, singles: noEntry }, asked)).toBeNull();
});

const draft = examplePlanDraft();
const [deployed] = draft.deployment;
const mix: MixPredictions = {
  ...{ factor: 1.5, unserved: 0 },
  classes: [
    {
      name: "single requests",
      perSecond: 5,
      qualityFloor: 50,
      plannedQuality: 55,
      quality: 54.2,
      meanSeconds: 2,
      p95Seconds: 4,
      simulated: 10,
    },
  ],
  models: [{ model: deployed?.model ?? "", load: 0.4, price: 1, busyShare: 0.9 }],
};
const plan = { ...draft, predictions: { ...draft.predictions, mix } } as unknown as Plan;
const served: MixBeside = {
  kind: "served",
  gpus: 4,
  factor: 1.1,
  classes: mix.classes.map((own) => ({ ...own, meanSeconds: 3 })),
  meanSeconds: 3,
  p95Seconds: 4,
  quality: 50,
};

it("sets engines and figures beside those in force, and says what changes and what is not carried", () => {
  const [row] = engineRows(plan, plan);
  expect(row).toMatchObject({ model: deployed?.model, inForce: row?.planned, price: "1.00" });
  expect(engineRows({ ...plan, deployment: [] } as Plan, plan)[0]?.planned).toBe("none");
  expect(classRows(mix, served)[0]).toMatchObject({
    name: "single requests",
    quality: "54.2",
    mean: expect.stringMatching(/^2/),
    meanInForce: expect.stringMatching(/^3/),
  });
  expect(classRows(mix, null)[0]?.meanInForce).toBe("–");
  expect(mixSays(plan, { inForce: plan, beside: served }).join(" ")).toMatch(/0 stop and 0 start\..*rates may rise to 1\.10 times/);
  const refused: MixBeside = { kind: "not-served", gpus: 4, message: "It carries 60 % of these rates at most." };
  expect(mixSays(plan, { inForce: plan, beside: refused }).at(-1)).toContain("It carries 60 %");
  expect(mixSays(plan, { inForce: null, beside: null }).at(-1)).toContain("No plan is in force");
});
