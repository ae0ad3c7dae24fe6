import { describe, expect, it } from "vitest";
import { gateSchema } from "@/solver/gates/gateDocument";
import { answerWords } from "@/solver/gates/gates";
import { seededRandom } from "@/solver/numeric/random";
import { stageGate } from "@/solver/stageGates/stageGate";
import { tableScores, trainTableScorer } from "@/solver/stageGates/tableScorer";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { gateTournament } from "./gateTournament";

const options = { share: 0.5, judgeSeconds: 0.3 };

/** A generated workload with two columns of the smaller models: a confidence that separates right from wrong, and an agreement that is noise. */
function withColumns(prompts: number): Workload {
  const workload = generatedWorkload({ prompts, seed: 4 });
  const random = seededRandom(8);
  const models = workload.outcomes.models.map((column) => ({
    ...column,
    confidence: column.label.map((label) => Math.max(0, Math.min(100, (label === 100 ? 97 : 85) + 4 * random.normal()))),
    agreement: column.label.map(() => (random.next() < 0.5 ? 0 : 100)),
  }));
  return { ...workload, outcomes: { ...workload.outcomes, models } };
}

function tournamentOf(workload: Workload) {
  const tournament = gateTournament(workload, options);
  if (tournament === null) throw new Error("too few prompts");
  return tournament;
}

describe("gateTournament", () => {
  const { stages, ...rest } = tournamentOf(withColumns(1000));

  it("measures every gate of the table and a trained scorer, at each stage but the last", () => {
    expect(rest).toEqual({ share: 0.5, planningPrompts: 700, heldOutPrompts: 300 });
    expect(stages.map(({ model, next }) => [model, next])).toEqual([
      ["qwen2.5-3b", "qwen2.5-7b"],
      ["qwen2.5-7b", "qwen2.5-32b"],
    ]);
    for (const { gates } of stages)
      expect(gates.map(({ name }) => name).toSorted()).toEqual(["agreement", "confidence", "judge", "scorer"]);
  });

  it("tries a sequence of confidence and judge where both are measured, at the tokens and the time of those answers that are judged", () => {
    const workload = { ...withColumns(1000), judge: { kind: "measured" as const } };
    for (const stage of tournamentOf(workload).stages) {
      const of = (name: string) => stage.gates.find((gate) => gate.name === name);
      const [judge, sequence] = [of("judge"), of("sequence")];
      const { judgedShare = 0, extraTokens, extraSeconds } = sequence?.cost ?? {};
      expect(judgedShare).toBeGreaterThan(0.05);
      expect(judgedShare).toBeLessThan(0.8);
      expect(extraSeconds).toBeCloseTo(0.3 * judgedShare, 9);
      expect(extraTokens).toBeLessThan(judge?.cost.extraTokens ?? 0);
      const document = gateSchema.parse(sequence?.sequence);
      expect(sequence?.calibration).toBeNull();
      // Held-out answers have the scores that the gateway gives them by the document.
      const gate = stageGate(workload, stage.model, document);
      if ("kind" in gate) throw new Error(gate.kind);
      const { heldOut } = splitPrompts(1000, workload.seed);
      expect(sequence?.scores).toEqual(Float64Array.from(heldOut, (row) => gate.scores[row] ?? -1));
      const asked = Array.from(gate.judged ?? []);
      expect(judgedShare).toBeCloseTo(asked.reduce((sum, one) => sum + one, 0) / 1000, 12);
    }
  });

  it("scores planning prompts by a sequence that is calibrated without them: labels that the scores do not know lower no risk", () => {
    const random = seededRandom(11);
    const base = withColumns(400);
    const models = base.outcomes.models.map((column) => ({
      ...column,
      confidence: column.label.map(() => 100 * random.next()),
      judged: column.label.map(() => 100 * random.next()),
    }));
    const workload = { ...base, judge: { kind: "measured" as const }, outcomes: { ...base.outcomes, models } };
    for (const { gates, quality } of tournamentOf(workload).stages) {
      const sequence = gates.find(({ name }) => name === "sequence");
      // The area of scores that know nothing is the mean loss.
      expect(sequence?.planningArea).toBeGreaterThan(0.85 * (100 - quality));
    }
  });

  it("finds the gate that knows more, and that noise knows nothing", () => {
    for (const { gates } of stages) {
      const of = (name: string) => gates.find((gate) => gate.name === name);
      expect(of("confidence")?.auc?.value).toBeGreaterThan(0.95);
      expect(Math.abs((of("agreement")?.auc?.value ?? 1) - 0.5)).toBeLessThan(0.08);
      expect(of("confidence")?.overRandom.value).toBeGreaterThan(of("judge")?.overRandom.value ?? 100);
      expect(gates.at(-1)?.behindBest?.low).toBeGreaterThan(0);
    }
  });

  it("calibrates the overconfident scores on other prompts than it measures them on", () => {
    for (const { gates } of stages) {
      const confidence = gates.find(({ name }) => name === "confidence");
      expect(confidence?.rawCalibrationError).toBeGreaterThan(15);
      expect(confidence?.calibrationError).toBeLessThan(8);
      expect(confidence?.scores).toHaveLength(300);
    }
  });

  it("names no winner between two columns that are the same", () => {
    const workload = withColumns(400);
    const models = workload.outcomes.models.map((column) => ({ ...column, judged: column.confidence ?? column.judged }));
    const [stage] = tournamentOf({ ...workload, outcomes: { ...workload.outcomes, models } }).stages;
    expect(stage?.verdict.kind).toBe("no-difference");
  });

  it("marks a modelled judge, and leaves costs open that a table does not hold", () => {
    const gates = new Map(stages[0]?.gates.map((gate) => [gate.name, gate]));
    expect(gates.get("judge")).toMatchObject({ modelled: true, cost: { extraSeconds: 0.3 } });
    expect(gates.get("agreement")?.cost).toEqual({ extraTokens: null, extraSeconds: null });
    expect(gates.get("confidence")?.cost).toEqual({ extraTokens: 0, extraSeconds: 0 });
  });

  it("counts the tokens of agreement's further answers as it counts the judge's", () => {
    const workload = withColumns(400);
    const costBy = (agreement: Workload["origin"]["agreement"]) => {
      const [stage] = tournamentOf({ ...workload, origin: { ...workload.origin, agreement } }).stages;
      const of = (name: string) => stage?.gates.find((gate) => gate.name === name)?.cost.extraTokens ?? null;
      return { judge: of("judge") ?? 0, agreement: of("agreement") };
    };
    const samples = { answer: "whole" as const, samples: { count: 4, temperature: 1 } };
    const { judge, agreement } = costBy(samples);
    // A sample reads the prompt and writes an answer; so many tokens does the judge read.
    expect(agreement).toBeCloseTo(4 * judge, 6);
    const { inputTokens, models } = workload.outcomes;
    const peer = models[1];
    if (peer === undefined) throw new Error("a ladder has models");
    const mean = (values: Int32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const byPeer = costBy({ answer: "whole", peers: [peer.model] }).agreement;
    expect(byPeer).toBeCloseTo(mean(inputTokens) + mean(peer.outputTokens), 6);
    expect(costBy({ answer: "whole", peers: ["not-in-the-table"] }).agreement).toBeNull();
  });

  it("compares the workload's own scorer, which has read texts, beside that of the columns", () => {
    const workload = withColumns(400);
    const [first] = workload.outcomes.models;
    if (first === undefined) throw new Error("a ladder has models");
    const words = Array.from(first.label, (label) => answerWords("user: how many", label === 100 ? "certainly so" : "perhaps so"));
    const scorer = trainTableScorer(workload, first, words);
    const scores = tableScores(workload, first, { scorer, words });
    const models = workload.outcomes.models.map((column) => (column === first ? { ...column, scorer: scores } : column));
    const origin = { ...workload.origin, scorers: { [first.model]: scorer } };
    const [stage, next] = tournamentOf({ ...workload, origin, outcomes: { ...workload.outcomes, models } }).stages;
    const gate = stage?.gates.find(({ name }) => name === "scorer with words");
    expect(gate).toMatchObject({ kind: "scorer", scorer, cost: { extraTokens: 0, extraSeconds: 0 } });
    expect(gate?.auc?.value).toBeGreaterThan(0.98);
    expect(next?.gates.map(({ name }) => name)).not.toContain("scorer with words");
  });

  it("refuses tables of too few held-out prompts", () => {
    expect(gateTournament(generatedWorkload({ prompts: 65, seed: 1 }), options)).toBeNull();
    expect(gateTournament(generatedWorkload({ prompts: 67, seed: 1 }), options)).not.toBeNull();
  });
});
