import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readPlan } from "@/server/planning/planner/readPlan";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { createGate } from "@/solver/gates/gates";
import { gatesOf, type PolicyDocument, policySchema, type SinglesPolicy, withSinglesPolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { gateTournament } from "@/solver/tournament/gateTournament";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { type GateChoice, writeGates } from "./writeGates";

const folder = mkdtempSync(join(tmpdir(), "weir-write-gates-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ladder = ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"];
const options = { share: 0.5, judgeSeconds: null };
const choice: GateChoice = { measure: "minimum", answer: "whole" };

/** Confidence separates right from wrong answers but for every tenth; agreement does not. */
function gatedWorkload(): Workload {
  const workload = generatedWorkload({ prompts: 300, ladder, seed: 1 });
  const models = workload.outcomes.models.map((model) => ({
    ...model,
    confidence: model.label.map((label, at) => ((label === 100) === at % 10 > 0 ? 90 : 40)),
    agreement: model.label.map((_, at) => (at % 2) * 100),
  }));
  return { ...workload, outcomes: { ...workload.outcomes, models } };
}
const workload = gatedWorkload();

function figuresOf(of: Workload) {
  const compared = tournamentFigures(of, options);
  if (!compared.ok) throw new Error(compared.message);
  return compared.tournament;
}
const tournament = figuresOf(workload);
const measured = figuresOf({ ...workload, judge: { kind: "measured" } });

function cascade(change: Partial<Extract<PolicyDocument, { kind: "cascade" }>> = {}): PolicyDocument {
  const thresholds = change.thresholds ?? [60, 60];
  return {
    ...examplePlanDraft().policy,
    stages: ladder.map((model) => ({ model })),
    thresholds,
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
    ...change,
  };
}

let files = 0;
function fileOf(document: unknown): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
  return path;
}

const gatesIn = (path: string): readonly GateDocument[] => {
  const policy = policySchema.parse(JSON.parse(readFileSync(path, "utf8")));
  return policy.kind === "cascade" ? (policy.gates ?? []) : [];
};

describe("writeGates", () => {
  it("puts the gate that the tournament chooses into every stage where none is named", () => {
    const path = fileOf(cascade());
    expect(writeGates(path, tournament, choice).ok).toBe(true);
    const best = tournament.stages.map(({ verdict }) => (verdict.kind === "no-gates" ? undefined : verdict.gate));
    expect(gatesIn(path).map(({ kind }) => kind)).toEqual(best);
  });

  it("writes the comparison of agreement that the workload states, and refuses flags that deny it", () => {
    const agreement = { answer: "number" as const, peers: ["gemma-2-2b"] };
    const stated = figuresOf({ ...workload, origin: { ...workload.origin, agreement } });
    const path = fileOf(cascade());
    expect(writeGates(path, stated, { stage: 2, gate: "agreement" })).toMatchObject({ ok: true });
    expect(gatesIn(path)[1]).toMatchObject({ kind: "agreement", ...agreement });
    expect(writeGates(path, stated, { stage: 2, gate: "agreement", peers: ["gemma-2-2b"] })).toMatchObject({ ok: true });
    for (const denied of [{ answer: "choice" as const }, { samples: { count: 2, temperature: 1 } }])
      expect(writeGates(path, stated, { stage: 2, gate: "agreement", ...denied })).toMatchObject({
        message: expect.stringContaining("deny it"),
      });
  });

  it("writes a sequence with the calibrations of its gates and its bounds, and the measure that flags say", () => {
    const path = fileOf(cascade());
    expect(writeGates(path, measured, { gate: "sequence" })).toMatchObject({
      ok: true,
      written: [expect.stringContaining("calibrated on 210 prompts"), expect.any(String)],
    });
    const figures = measured.stages[0]?.gates.find(({ name }) => name === "sequence");
    expect(gatesIn(path)[0]).toEqual(figures?.sequence);
    expect(writeGates(path, measured, { gate: "sequence", measure: "mean" })).toMatchObject({ ok: true });
    expect(gatesIn(path)[0]).toMatchObject({
      kind: "sequence",
      first: [{ gate: { kind: "confidence", measure: "mean" } }],
      last: { kind: "judge" },
    });
    expect(writeGates(fileOf(cascade()), tournament, { gate: "sequence" })).toMatchObject({ ok: false });
  });

  it("puts them into the cascade that serves single requests beside rounds", () => {
    const own = cascade();
    const rounds: PolicyDocument = {
      ...{ kind: "just-in-time", workflows: [], selection: { kind: "beam", width: 4 }, order: own.order, place: own.place },
      models: ladder.map((model) => ({ model, cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 10 }] })),
    };
    const [alone, beside] = [fileOf(own), fileOf(withSinglesPolicy(rounds, own as SinglesPolicy))];
    for (const path of [alone, beside]) expect(writeGates(path, tournament, choice).ok).toBe(true);
    const gates = gatesOf(policySchema.parse(JSON.parse(readFileSync(beside, "utf8"))));
    expect(gates).toEqual(gatesIn(alone));
    expect(writeGates(fileOf(rounds), tournament, choice)).toMatchObject({ message: expect.stringContaining("is just-in-time") });
  });

  it("leaves cascade routing alone, which is fitted to the judge's scores as they are", () => {
    const gate = { calibration: { raw: [0, 100], calibrated: [10, 90] }, levels: [20, 80].map((score) => ({ score, share: 0.5 })) };
    const routed = cascade({
      directStart: { below: [0, 0], router: { kind: "trained", predictor: "ab".repeat(32) } },
      cascadeRouting: {
        pointsPerGpuSecond: 2,
        gpuSeconds: [1, 4, 9],
        heads: [0, 0, 0].map((centre) => ({ centre, slope: 1 })),
        patterns: Array.from({ length: 8 }, () => -2),
        gates: [gate, gate],
      },
    });
    for (const gate of ["confidence", "judge"]) {
      const path = fileOf(routed);
      const refused = writeGates(path, measured, { ...choice, gate });
      expect(refused).toMatchObject({ ok: false, message: expect.stringContaining("fitted to the judge's scores as they are") });
      expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(routed);
    }
  });

  it("calibrates anew the gates that cascade routing is fitted to", () => {
    const calibration = { raw: [0, 100], calibrated: [10, 90] };
    const gate = { kind: "confidence" as const, calibration, levels: [20, 80].map((score) => ({ score, share: 0.5 })) };
    const named = { kind: "confidence" as const, measure: "minimum" as const, calibration };
    const path = fileOf(
      cascade({
        gates: [named, named],
        directStart: { below: [0, 0], router: { kind: "trained", predictor: "ab".repeat(32) } },
        cascadeRouting: {
          pointsPerGpuSecond: 2,
          gpuSeconds: [1, 4, 9],
          heads: [0, 0, 0].map((centre) => ({ centre, slope: 1 })),
          patterns: Array.from({ length: 8 }, () => -2),
          gates: [gate, gate],
        },
      }),
    );
    expect(writeGates(path, measured, { ...choice, gate: "confidence" }).ok).toBe(true);
    expect(gatesIn(path)).toMatchObject([{ calibration: { raw: [40, 90] } }, { calibration: { raw: [40, 90] } }]);
    const other = writeGates(path, measured, { ...choice, gate: "scorer" });
    expect(other).toMatchObject({ ok: false, message: expect.stringContaining("fitted to calibrated scores of confidence") });
  });

  it("puts a named gate of every stage, calibrated, into a policy", () => {
    const path = fileOf(cascade());
    const written = writeGates(path, tournament, { ...choice, gate: "confidence" });
    expect(written).toEqual({
      ok: true,
      written: ladder.slice(0, 2).map((model, at) => `Stage ${at + 1}, ${model}: smallest token probability, calibrated on 210 prompts.`),
    });
    const gates = gatesIn(path);
    expect(gates).toMatchObject([
      { kind: "confidence", measure: "minimum", calibration: { raw: [40, 90] } },
      { kind: "confidence", measure: "minimum", calibration: { raw: [40, 90] } },
    ]);
  });

  it("leaves the other stages' gates as they are", () => {
    const path = fileOf(cascade());
    expect(writeGates(path, tournament, { ...choice, stage: 2, gate: "scorer" }).ok).toBe(true);
    expect(gatesIn(path)).toMatchObject([{ kind: "judge" }, { kind: "scorer", weights: [{}, {}, {}] }]);
    expect(writeGates(path, tournament, { ...choice, stage: 1, gate: "agreement", peers: ["gemma-2-9b"] }).ok).toBe(true);
    expect(gatesIn(path)).toMatchObject([{ kind: "agreement", peers: ["gemma-2-9b"] }, { kind: "scorer" }]);
  });

  it("writes a scorer that gives held-out answers the scores that it had in the tournament", () => {
    const path = fileOf(cascade());
    writeGates(path, tournament, { ...choice, stage: 1, gate: "scorer" });
    const gate = createGate(gatesIn(path)[0] as GateDocument);
    const { inputTokens, models } = workload.outcomes;
    const known = gateTournament(workload, options)?.stages[0]?.gates.find(({ name }) => name === "scorer")?.scores ?? [];
    const { heldOut } = splitPrompts(inputTokens.length, workload.seed);
    const read = Array.from(heldOut, (row) =>
      gate.score({
        ...{ prompt: "", answer: "42", endedByLength: false, others: null, judgedScore: null },
        ...{ inputTokens: inputTokens[row] ?? 0, outputTokens: models[0]?.outputTokens[row] ?? 0 },
        tokens: { texts: ["42"], logProbabilities: Float64Array.of(Math.log((models[0]?.confidence?.[row] ?? 0) / 100)) },
      }),
    );
    expect(known).toHaveLength(90);
    for (const [at, reading] of read.entries())
      expect(reading).toMatchObject({ kind: "scored", score: expect.closeTo(known[at] ?? -1, 6) });
  });

  it("seals a plan again and notes that its figures are not those of its gates", () => {
    const draft = examplePlanDraft();
    const deployment = ladder.slice(0, 2).map((model, at) => ({ ...draft.deployment[at], model }));
    const [threshold] = [60];
    const policy = { ...draft.policy, stages: ladder.slice(0, 2).map((model) => ({ model })), thresholds: [threshold] };
    const plan = sealPlan({ ...draft, deployment, policy } as typeof draft, new Date(0));
    const path = fileOf(plan);
    expect(writeGates(path, tournament, { ...choice, gate: "confidence" }).ok).toBe(true);
    const read = readPlan(JSON.parse(readFileSync(path, "utf8")));
    expect(read).toMatchObject({
      ok: true,
      plan: {
        policy: { gates: [{ kind: "confidence" }] },
        predictions: { notes: [expect.stringContaining("nothing predicts this policy")] },
      },
    });
    expect(read.ok && read.plan.id).not.toBe(plan.id);
  });

  it.each([
    ["no JSON", "no {", choice, "is no JSON file that can be read."],
    ["another document", { kind: "cascade" }, choice, "is neither a plan nor a policy. stages: "],
    [
      "a policy without gates",
      { ...examplePlanDraft().policy, kind: "fixed", model: "small" },
      choice,
      "only a cascade has gates; this policy is fixed.",
    ],
    ["a stage that is the last", cascade(), { ...choice, stage: 3 }, "there is no gate at stage 3: the cascade has 2."],
    [
      "a threshold of 0",
      cascade({ thresholds: [0, 60] }),
      { ...choice, stage: 1 },
      "the threshold of stage 1 is 0, so that no gate is asked there: raise it first.",
    ],
    ["models without a tournament", examplePlanDraft().policy, choice, "no stage with a threshold above 0 is in the tournament."],
    [
      "one of them by its stage",
      examplePlanDraft().policy,
      { ...choice, stage: 1 },
      "the workload has no tournament of the gates of small.",
    ],
    [
      "a gate that has no scores",
      cascade(),
      { ...choice, gate: "router" },
      "stage 1: there is no gate router in the tournament; there are ",
    ],
    [
      "a modelled judge",
      cascade(),
      { ...choice, gate: "judge" },
      "stage 1: the scores of the judge are modelled, and a calibration to them fits no real one",
    ],
    ["agreement with nobody", cascade(), { ...choice, gate: "agreement" }, "The agreement gate of stage 1 names neither samples nor peers"],
  ] as const)("refuses %s in one sentence and leaves the file alone", (_, document, asked, sentence) => {
    const path = fileOf(document);
    const before = readFileSync(path, "utf8");
    const refused = writeGates(path, tournament, asked);
    expect(refused).toEqual({ ok: false, message: expect.stringContaining(sentence) });
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("refuses a scorer of smallest probabilities where the table has another measure", () => {
    const refused = writeGates(fileOf(cascade()), tournament, { ...choice, gate: "scorer", measure: "mean" });
    expect(refused).toEqual({ ok: false, message: expect.stringContaining("smallest token probability, which --measure mean denies.") });
  });

  it("writes the measure that the workload's column holds, and refuses another one", () => {
    const known = figuresOf({ ...workload, origin: { ...workload.origin, confidence: { measure: "last-tokens", lastTokens: 3 } } });
    const path = fileOf(cascade());
    expect(writeGates(path, known, { answer: "whole", gate: "confidence" }).ok).toBe(true);
    expect(gatesIn(path)[0]).toMatchObject({ kind: "confidence", measure: "last-tokens", lastTokens: 3 });
    const refused = writeGates(path, known, { ...choice, gate: "confidence" });
    expect(refused).toEqual({
      ok: false,
      message: expect.stringContaining("is of the measure last-tokens, which --measure minimum denies."),
    });
  });

  it("refuses a plan that was changed after it was sealed", () => {
    const plan = sealPlan(examplePlanDraft(), new Date(0));
    const path = fileOf({ ...plan, policy: { ...plan.policy, thresholds: [51] } });
    expect(writeGates(path, tournament, choice)).toEqual({
      ok: false,
      message: expect.stringContaining("was changed after it was sealed"),
    });
  });
});
