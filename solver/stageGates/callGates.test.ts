import { expect, it } from "vitest";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { justInTime } from "@/solver/policies/testing/testJustInTime";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { generatedWorkload } from "@/solver/workload/generated";
import { withCallGates } from "./gateCandidates";
import { isRefused } from "./gateRefusal";
import { callScores } from "./stageGate";

const plain = generatedWorkload({ prompts: 300, seed: 3 });
const names = plain.outcomes.models.map(({ model }) => model);
const workload = {
  ...plain,
  outcomes: { ...plain.outcomes, models: plain.outcomes.models.map((own) => ({ ...own, confidence: own.judged })) },
};
const [workflow] = workflows.filter(({ name }) => name === "self-refine");
const document = documentOfWorkflow(workflow!);
const base = justInTime({ kind: "beam", width: 4 }, { workflows: [{ workflow: document }] });
const policy = { ...base, models: base.models.map((own, at) => ({ ...own, model: names[at]! })) };
const sample = drawPrograms({
  ...{ outcomes: plain.outcomes, prompts: Int32Array.from({ length: 300 }, (_, row) => row), mix: [{ workflow: workflow!, share: 1 }] },
  ...{ correlation: 0.5, arrivalSeconds: new Float64Array(200), seed: 1 },
});

it("a policy is given calibrated gates of all models but the largest, and what their scores say, where the workload has confidence", () => {
  const scored = withCallGates(policy, { workload, sample })!;
  expect(policyRefusal(scored)).toBeNull();
  expect(scored.callGates!.map(({ model, gate }) => [model, gate.kind])).toEqual(names.slice(0, -1).map((model) => [model, "confidence"]));
  const [smallest] = plain.outcomes.models;
  const right = smallest!.label.reduce((sum, label) => sum + label / 100, 0) / smallest!.label.length;
  expect(scored.callGates![0]!.prior).toBeCloseTo(right, 1);
  const agents = configurationSpace(document, names).agents;
  for (const { agent, rightIfAccurate, rightIfNot } of scored.workflows[0]!.answers!) {
    expect(agents).toContain(agent);
    expect(rightIfAccurate).toBeGreaterThan(rightIfNot);
  }
  expect(withCallGates(policy, { workload: plain, sample })).toBeNull();
});

it("answers have the scores of their rows, those of the largest model none", () => {
  const scored = withCallGates(policy, { workload, sample })!;
  const scores = callScores(scored, workload, sample);
  if (scores === null || isRefused(scores)) throw new Error("There are no scores.");
  expect(scores[0]!.every((score) => score >= 0 && score <= 100)).toBe(true);
  const [row] = sample.row;
  expect(sample.row.every((own, request) => own !== row || scores[0]![request] === scores[0]![0])).toBe(true);
  expect(scores.at(-1)!.every(Number.isNaN)).toBe(true);
  expect(callScores(policy, workload, sample)).toBeNull();
  expect(callScores(scored, plain, sample)).toEqual({ kind: "no-column", model: names[0], column: "confidence" });
});
