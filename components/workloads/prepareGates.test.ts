import { describe, expect, it } from "vitest";
import { type TournamentFigures, tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { generatedWorkload } from "@/solver/workload/generated";
import { prepareReliability, prepareRiskCoverage, reliabilityRows, riskRows } from "./prepareGateCharts";
import { hasColumns, markOf, modelledText, noGatesText, prepareGates } from "./prepareGates";

/** A tournament on a generated workload; with a column of confidence that knows the labels, where asked for. */
function tournamentOf({ confidence }: { readonly confidence: boolean }): TournamentFigures {
  const workload = generatedWorkload({ prompts: 400, seed: 3 });
  const models = workload.outcomes.models.map((model) =>
    confidence ? { ...model, confidence: model.label.map((label) => (label >= 50 ? 95 : 60)) } : model,
  );
  const compared = tournamentFigures({ ...workload, outcomes: { ...workload.outcomes, models } }, { share: 0.4, judgeSeconds: null });
  if (!compared.ok) throw new Error(compared.message);
  return compared.tournament;
}

const alone = tournamentOf({ confidence: false });
const withConfidence = tournamentOf({ confidence: true });
const usual = { gate: null, judgeSeconds: null };

describe("the mark of a gate", () => {
  it("differs between a scorer that reads words and one that does not", () => {
    const none = { buckets: [], idf: [], weights: [] };
    const scorer = { bias: 0, weights: [{ feature: "log-answer-tokens" as const, mean: 0, scale: 1, weight: 1 }] };
    const [plain, words] = [scorer, { ...scorer, words: { prompt: none, answer: none } }].map((learnt) =>
      markOf({ kind: "scorer", modelled: false, scorer: learnt }),
    );
    expect([plain?.letter, words?.letter]).toEqual(["S", "W"]);
    expect(plain?.hue).not.toBe(words?.hue);
  });
});

describe("prepareGates", () => {
  it("has a stage for each model but the last, with a row for each gate, the chosen one first", () => {
    const { stages, heldOut } = prepareGates(withConfidence, usual);
    expect(heldOut).toContain("calibrated on 280 prompts, measured on 120 others");
    expect(heldOut).toContain("The cheapest of the best gates is chosen on the first alone, and tested on the others.");
    expect(stages.map(({ title }) => title)).toEqual([
      "Answers of qwen2.5-3b, sent on to qwen2.5-7b",
      "Answers of qwen2.5-7b, sent on to qwen2.5-32b",
    ]);
    for (const { rows, verdict, about } of stages) {
      expect(rows.map(({ name }) => name).toSorted()).toEqual(["confidence", "judge", "scorer"]);
      expect(rows[0]).toMatchObject({
        name: "confidence",
        auc: expect.stringMatching(/^1\.00 \(0\.9\d to 1\.00\)$/),
        cost: "nothing",
        chosen: true,
        dash: "",
      });
      // The scorer reads the confidence too.
      expect(verdict).toEqual({ text: "No difference is shown between confidence, scorer.", tone: "neutral" });
      expect(about).toContain("120 held-out answers");
    }
  });

  it("shows a measured gate that is better as good, and calls a modelled one modelled", () => {
    const verdictFor = (gate: string) => {
      const stages = withConfidence.stages.map((stage) => ({ ...stage, verdict: { kind: "winner", gate } as const }));
      return prepareGates({ ...withConfidence, stages }, usual).stages[0]?.verdict;
    };
    expect(verdictFor("confidence")).toEqual({ text: "Best: confidence.", tone: "good" });
    expect(verdictFor("judge")).toEqual({ text: "Best: judge (modelled).", tone: "hatched" });
    const other = { kind: "not-confirmed", gate: "scorer", better: ["judge"] } as const;
    const [first] = withConfidence.stages.map((stage) => ({ ...stage, verdict: other }));
    expect(first && prepareGates({ ...withConfidence, stages: [first] }, usual).stages[0]?.verdict).toEqual({
      text: "The choice is not confirmed: scorer was the best on the planning prompts, and on the others it is worse than judge (modelled).",
      tone: "neutral",
    });
  });

  it("marks a modelled judge, and gives its time where one is known", () => {
    const judge = (seconds: number | null) =>
      prepareGates(alone, { gate: null, judgeSeconds: seconds }).stages[0]?.rows.find(({ name }) => name === "judge");
    expect(judge(0.27)).toMatchObject({ modelled: true, dash: "4 4", cost: expect.stringMatching(/^\d+ tokens, 0\.27 s$/) });
    expect(judge(null)?.cost).toMatch(/tokens, time not known$/);
  });

  it("gives a sequence the judge's time for the answers that it is asked about", () => {
    const [stage] = withConfidence.stages;
    const [judge] = stage?.gates.filter(({ kind }) => kind === "judge") ?? [];
    if (stage === undefined || judge === undefined) throw new Error("a stage with a judge is expected");
    const cost = { extraTokens: 40, extraSeconds: null, judgedShare: 0.25 };
    const sequence = { ...judge, kind: "sequence", name: "sequence", modelled: false, cost } as const;
    const tournament = { ...withConfidence, stages: [{ ...stage, gates: [sequence] }] };
    const costAt = (judgeSeconds: number | null) => prepareGates(tournament, { gate: null, judgeSeconds }).stages[0]?.rows[0]?.cost;
    expect([costAt(2), costAt(null)]).toEqual(["40 tokens, 0.50 s", "40 tokens, time not known"]);
  });

  it("draws the gate that the address names, and the best one where a stage lacks it", () => {
    const chosen = (gate: string) => prepareGates(withConfidence, { ...usual, gate }).stages.map((stage) => stage.chosen?.name);
    expect(chosen("scorer")).toEqual(["scorer", "scorer"]);
    expect(chosen("agreement")).toEqual(["confidence", "confidence"]);
  });
});

describe("the sentences about what is missing", () => {
  it("say why there is no comparison: one model, or too few prompts", () => {
    const summary = (models: number, prompts: number, heldOutPrompts: number) => ({
      models: Array.from({ length: models }, () => ({ model: "m", tableName: "m", meanLabel: 50, meanOutputTokens: 10 })),
      ...{ prompts, heldOutPrompts },
    });
    expect(noGatesText(summary(2, 67, 20))).toBeNull();
    expect(noGatesText(summary(2, 65, 19))).toMatch(/^65 prompts are too few/);
    expect(noGatesText(summary(1, 1000, 300))).toMatch(/this workload has one/);
  });

  it("call a modelled judge modelled, and a measured one nothing", () => {
    expect(modelledText({ kind: "modelled", auc: 0.8 })).toContain("modelled: its scores are drawn from the labels with an AUC of 0.80");
    expect(modelledText({ kind: "measured", auc: null })).toBeNull();
  });

  it("know a workload that has no scores but a judge's and a scorer's", () => {
    expect([hasColumns(alone), hasColumns(withConfidence)]).toEqual([false, true]);
  });
});

describe("the charts of a stage", () => {
  const [stage] = withConfidence.stages;
  if (stage === undefined) throw new Error("a stage is expected");

  it("draw a line for each gate and one for accepting at random, on linear axes", () => {
    const picture = prepareRiskCoverage(stage);
    expect(picture?.lines.map(({ key }) => key)).toEqual(["random", ...stage.gates.map(({ name }) => name)]);
    expect(picture?.y.title).not.toContain("logarithmic");
    expect(picture?.x.ticks.map(({ text }) => text)).toContain("100\u00a0%");
    // Accepting everything is the same whatever the gate.
    const all = picture?.points.filter(({ x }) => x === 1).map(({ y }) => y.toFixed(6));
    expect(all).toHaveLength(4);
    expect(new Set(all).size).toBe(1);
  });

  it("have the same figures as tables: risks in the order of the gates, and bins before and after calibration", () => {
    const rows = riskRows(stage);
    expect(rows).toHaveLength(20);
    expect(rows.at(-1)).toEqual({ coverage: "100\u00a0%", risks: stage.gates.map(() => (100 - stage.quality).toFixed(1)) });
    const confidence = stage.gates.find(({ name }) => name === "confidence");
    if (confidence === undefined) throw new Error("a gate is expected");
    const bins = reliabilityRows(confidence);
    expect(bins.map(({ scores }) => scores)).toEqual(["0 to 10", "60 to 70", "90 to 100"]);
    expect(bins[1]).toMatchObject({ raw: { score: "60.0", quality: "0.0" }, calibrated: { answers: "0", quality: "–" } });
    expect(bins[0]).toMatchObject({ raw: { answers: "0" }, calibrated: { score: "0.0", quality: "0.0" } });
  });

  it("mark the bins of the reliability diagram, not its diagonal", () => {
    const [gate] = stage.gates;
    const picture = gate === undefined ? null : prepareReliability(gate);
    expect(picture?.lines.map(({ key }) => key)).toEqual(["equal", "raw", "calibrated"]);
    expect(new Set(picture?.points.map(({ line }) => line))).toEqual(new Set(["raw", "calibrated"]));
  });
});
