import fc from "fast-check";
import { expect, it } from "vitest";
import { scoredAnswersOf, scoreShift } from "@/solver/policies/justInTime/scoreShift";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { justInTime } from "@/solver/policies/testing/testJustInTime";
import { accurateAfter, addConfiguration, configurationMargins, emptySet, fullSet } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { generatedWorkload } from "@/solver/workload/generated";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { withCallGates } from "./gateCandidates";
import { isRefused } from "./gateRefusal";
import { callScores } from "./stageGate";

const plain = generatedWorkload({ prompts: 300, seed: 3 });
const names = plain.outcomes.models.map(({ model }) => model);
/** The workload with a column of confidence. */
const withConfidence = (of: Workload, column: (own: ModelOutcomes) => Float64Array): Workload => ({
  ...of,
  outcomes: { ...of.outcomes, models: of.outcomes.models.map((own) => ({ ...own, confidence: column(own) })) },
});
const workload = withConfidence(plain, ({ judged }) => judged);
const [workflow] = workflows.filter(({ name }) => name === "self-refine");
const document = documentOfWorkflow(workflow!);
const base = justInTime({ kind: "beam", width: 4 }, { workflows: [{ workflow: document }] });
const policy = { ...base, models: base.models.map((own, at) => ({ ...own, model: names[at]! })) };
const sample = drawPrograms({
  ...{ outcomes: plain.outcomes, prompts: Int32Array.from({ length: 300 }, (_, row) => row), mix: [{ workflow: workflow!, share: 1 }] },
  ...{ correlation: 0.5, arrivalSeconds: new Float64Array(200), seed: 1 },
});

function scoredOf(of: Workload) {
  const made = withCallGates(policy, { workload: of, sample });
  if (!made.ok) throw new Error(made.message);
  return made.policy;
}

it("a policy is given calibrated gates of all models but the largest, and what their scores say, where the workload has confidence", () => {
  const scored = scoredOf(workload);
  expect(policyRefusal(scored)).toBeNull();
  expect(scored.callGates.map(({ model, gate }) => [model, gate.kind])).toEqual(names.slice(0, -1).map((model) => [model, "confidence"]));
  const [smallest] = plain.outcomes.models;
  const right = smallest!.label.reduce((sum, label) => sum + label / 100, 0) / smallest!.label.length;
  expect(scored.callGates[0]!.prior).toBeCloseTo(right, 1);
  const agents = configurationSpace(document, names).agents;
  for (const { agent, rightIfAccurate, rightIfNot } of scored.workflows[0]!.answers!) {
    expect(agents).toContain(agent);
    expect(rightIfAccurate).toBeGreaterThan(rightIfNot);
  }
});

it("says in a sentence why scores cannot be had: no predictor, no column, too few answers, no log probabilities, or nothing that they say", () => {
  const refused = (own: Partial<Parameters<typeof withCallGates>[1]>, of = policy) => {
    const made = withCallGates(of, { workload, sample, ...own });
    return made.ok ? "" : made.message;
  };
  expect(refused({ isPredicted: () => false })).toMatch(/^No workflow has a predictor of its accurate configurations/);
  expect(refused({}, { ...policy, workflows: [] })).toMatch(/^No workflow has a predictor/);
  expect(refused({ workload: plain })).toBe(
    `The workload ${plain.name} has no column of confidence for the answers of ${names.slice(0, -1).join(", ")}: profile it with confidence, or import the column.`,
  );
  const half = workload.outcomes.models.map(({ confidence, ...own }, at) => (at === 0 && confidence ? { ...own, confidence } : own));
  expect(refused({ workload: { ...workload, outcomes: { ...workload.outcomes, models: half } } })).toContain(
    `no column of confidence for the answers of ${names.slice(1, -1).join(", ")}`,
  );
  const few = withConfidence(generatedWorkload({ prompts: 40, seed: 3 }), ({ judged }) => judged);
  expect(refused({ workload: few })).toContain("too few labelled answers");
  expect(refused({ silent: [names[0]!, names.at(-1)!] })).toBe(
    `The engines of ${names[0]} report no log probabilities, as a profile found, and the scores read them.`,
  );
  expect(refused({ silent: [names.at(-1)!] })).toBe("");
  expect(refused({}, { ...policy, models: policy.models.slice(-1) })).toContain("scores would change nothing");
});

it("answers of a workflow without a predictor are not scored", () => {
  const both = { ...policy, workflows: [...policy.workflows, { workflow: { ...document, name: "unpredicted" } }] };
  const made = withCallGates(both, { workload, sample, isPredicted: (declared) => declared.workflow.name === document.name });
  if (!made.ok) throw new Error(made.message);
  expect(made.policy.workflows[0]!.answers).not.toHaveLength(0);
  expect(made.policy.workflows[1]).toEqual(both.workflows[1]);
});

it("with one equal score for all answers exactly the configurations count as accurate that count without gates", () => {
  const space = configurationSpace(document, names);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100 }),
      fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: space.size - 1, maxLength: space.size - 1 }),
      fc.array(fc.nat(names.length - 1), { minLength: space.agents.length, maxLength: space.agents.length }),
      (score, logits, chosen) => {
        const equal = withConfidence(plain, ({ label }) => label.map(() => score));
        const scored = scoredOf(equal);
        const scores = callScores(scored, equal, sample);
        if (scores === null || isRefused(scores)) throw new Error("There are no scores.");
        const said = scoredAnswersOf(scored, 0, space.agents);
        const shiftAt = (scoreOf: (model: number) => number) =>
          chosen.reduce((sum, model, agent) => {
            const answered = said[agent]?.[model] ?? null;
            return answered === null ? sum : sum + scoreShift(scoreOf(model), answered);
          }, 0);
        const accurate = emptySet(space.size);
        for (const [configuration, logit] of [...logits, Number.POSITIVE_INFINITY].entries())
          if (logit >= 0) addConfiguration(accurate, configuration);
        const after = (shift: number) =>
          accurateAfter({ accurate, margins: configurationMargins(logits, 0), shift, agreeing: fullSet(space.size) });
        expect(after(shiftAt((model) => scores[model]![0]!))).toEqual(accurate);
        // Another score than the equal one does change what is left.
        const isScored = chosen.some((model, agent) => said[agent]?.[model] != null);
        if (isScored) expect(shiftAt(() => 0)).toBeLessThan(0);
      },
    ),
    { numRuns: 15 },
  );
});

it("answers have the scores of their rows, those of the largest model none", () => {
  const scored = scoredOf(workload);
  const scores = callScores(scored, workload, sample);
  if (scores === null || isRefused(scores)) throw new Error("There are no scores.");
  expect(scores[0]!.every((score) => score >= 0 && score <= 100)).toBe(true);
  const [row] = sample.row;
  expect(sample.row.every((own, request) => own !== row || scores[0]![request] === scores[0]![0])).toBe(true);
  expect(scores.at(-1)!.every(Number.isNaN)).toBe(true);
  expect(callScores(policy, workload, sample)).toBeNull();
  expect(callScores(scored, plain, sample)).toEqual({ kind: "no-column", model: names[0], column: "confidence" });
});
