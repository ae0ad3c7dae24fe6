import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { type AnswerEvidence, answerWords, createGate } from "@/solver/gates/gates";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { gateCandidates } from "./gateCandidates";
import { isRefused } from "./gateRefusal";
import { type StageGate, stageGate } from "./stageGate";
import { tableScores, trainTableScorer } from "./tableScorer";
import { withColumns } from "./testing/gateColumns";

const modelled = withColumns(generatedWorkload({ prompts: 300, seed: 5 }), { samples: 4 });
const workload: Workload = { ...modelled, judge: { kind: "measured" } };
const [small, ...larger] = workload.outcomes.models.map(({ model }) => model);
if (small === undefined) throw new Error("a ladder has models");

/** An answer to a prompt as the gateway sees it: its least sure token, and samples of which as many agree as the table says. */
function evidenceOf({ outcomes }: Workload, prompt: number): AnswerEvidence {
  const own = outcomes.models[0];
  const agreeing = Math.round(((own?.agreement?.[prompt] ?? 0) / 100) * 4);
  return {
    ...{ prompt: "", answer: "1", endedByLength: false },
    inputTokens: outcomes.inputTokens[prompt] ?? 0,
    outputTokens: own?.outputTokens[prompt] ?? 0,
    tokens: { texts: ["a", "b"], logProbabilities: Float64Array.of(0, Math.log((own?.confidence?.[prompt] ?? 0) / 100)) },
    others: Array.from({ length: 4 }, (_, at) => (at < agreeing ? "1" : "2")),
    judgedScore: own?.judged[prompt] ?? null,
  };
}

function scored(document: GateDocument, of = workload): StageGate {
  const gate = stageGate(of, small ?? "", document);
  if (isRefused(gate)) throw new Error(gate.kind);
  return gate;
}

/** Scorers that have read answers with a hedge where they are wrong by the labels of `said`. */
function withWords(of: Workload, said = of): Workload {
  const models = of.outcomes.models.slice(0, -1).map((own, at) => {
    const labels = said.outcomes.models[at]?.label ?? [];
    const words = Array.from(labels, (label) => answerWords("user: how many", label > 50 ? "certainly so" : "perhaps so"));
    const scorer = trainTableScorer(of, own, words);
    return { own, scorer, scores: tableScores(of, own, { scorer, words }) };
  });
  return {
    ...of,
    outcomes: {
      ...of.outcomes,
      models: of.outcomes.models.map((own, at) => ({ ...own, ...(models[at] === undefined ? {} : { scorer: models[at].scores }) })),
    },
    origin: { ...of.origin, scorers: Object.fromEntries(models.map(({ own, scorer }) => [own.model, scorer])) },
  };
}

const planned = gateCandidates(workload, [small, ...larger], () => true);

describe("gates on a workload's prompts", () => {
  it("give the scores that the gateway gives the same answers by the same documents", () => {
    expect(planned.map(({ kind }) => kind)).toEqual(["judge", "confidence", "agreement", "scorer", "sequence"]);
    for (const { kind, documents } of planned) {
      // A scorer's scores of planning prompts are cross-fitted: see below.
      if (kind === "scorer") continue;
      const document = documents?.[small] ?? { kind: "judge" };
      const { scores } = scored(document);
      for (const [prompt, score] of scores.entries()) {
        const reading = createGate(document).score(evidenceOf(workload, prompt));
        // The gateway compares thresholds with hundredths.
        expect(reading.kind === "scored" && Math.round(reading.score * 100) / 100, `${kind}, prompt ${prompt}`).toBeCloseTo(score, 1);
      }
    }
  });

  it("hold no sequence where the judge's scores are modelled, as no real judge fits a calibration to them", () => {
    expect(modelled.judge.kind).toBe("modelled");
    const kinds = gateCandidates(modelled, [small, ...larger], () => true).map(({ kind }) => kind);
    expect(kinds).toEqual(["judge", "confidence", "agreement", "scorer"]);
  });

  it("ask the judge in a sequence for just those answers that the gate before it is not sure of", () => {
    const document = planned.find(({ kind }) => kind === "sequence")?.documents?.[small];
    if (document?.kind !== "sequence") throw new Error("no sequence was planned");
    const { judged } = scored(document);
    const gate = createGate(document);
    const asked = Array.from(judged ?? [], (_, prompt) => {
      const { judgedScore: _judged, ...evidence } = evidenceOf(workload, prompt);
      return gate.nextNeed({ ...evidence, judgedScore: null }, new Set()) === "judge" ? 1 : 0;
    });
    expect([...(judged ?? [])]).toEqual(asked);
    expect(asked).toContain(1);
    expect(asked).toContain(0);
  });

  it("never let a higher raw score have a lower one, whatever the labels they were calibrated on", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const other = withColumns(generatedWorkload({ prompts: 120, seed: 5 }), { samples: 4, seed });
        const documents = gateCandidates(other, [small, ...larger], () => true).find(({ kind }) => kind === "confidence")?.documents;
        const { scores } = scored(documents?.[small] ?? { kind: "judge" }, other);
        const confidence = other.outcomes.models[0]?.confidence ?? new Float64Array();
        const ascending = [...confidence.keys()].sort((a, b) => (confidence[a] ?? 0) - (confidence[b] ?? 0));
        for (const [at, row] of ascending.entries())
          if (at > 0) expect(scores[row]).toBeGreaterThanOrEqual(scores[ascending[at - 1] ?? 0] ?? 0);
      }),
      { numRuns: 20 },
    );
  });

  it("score an answer by a scorer that has not seen its label", () => {
    const document = planned.find(({ kind }) => kind === "scorer")?.documents?.[small];
    if (document === undefined) throw new Error("no scorer was planned");
    const before = scored(document).scores;
    const models = workload.outcomes.models.map((own, at) =>
      at === 0 ? { ...own, label: own.label.with(0, 100 - (own.label[0] ?? 0)) } : own,
    );
    expect(scored(document, { ...workload, outcomes: { ...workload.outcomes, models } }).scores[0]).toBe(before[0]);
  });

  it("have the measure of confidence that the workload's column holds, and no other", () => {
    for (const reading of [{ measure: "mean" }, { measure: "last-tokens", lastTokens: 3 }] as const) {
      const other = { ...workload, origin: { ...workload.origin, confidence: reading } };
      const documents = gateCandidates(other, [small, ...larger], () => true).find(({ kind }) => kind === "confidence")?.documents;
      expect(documents?.[small]).toMatchObject({ kind: "confidence", ...reading });
      expect(isRefused(stageGate(other, small, { kind: "confidence", measure: "minimum" }))).toBe(true);
    }
  });

  it("read another input of a scorer where confidence is length-normalised, and none where it is the mean", () => {
    const withMeasure = (measure: "mean" | "length-normalised") =>
      gateCandidates({ ...workload, origin: { ...workload.origin, confidence: { measure } } }, [small, ...larger], () => true);
    const scorer = withMeasure("length-normalised").find(({ kind }) => kind === "scorer")?.documents?.[small];
    expect(scorer?.kind === "scorer" && scorer.weights.map(({ feature }) => feature)).toContain("mean-log-probability");
    expect(withMeasure("mean").map(({ kind }) => kind)).not.toContain("scorer");
  });

  it("have the scores of a scorer that was trained on texts, whose own label none has seen", () => {
    const texted = withWords(workload);
    const document = gateCandidates(texted, [small, ...larger], () => true).find(({ kind }) => kind === "scorer")?.documents?.[small];
    if (document?.kind !== "scorer" || document.words === undefined) throw new Error("no scorer with words was planned");
    expect(scored({ ...document, calibration: undefined }, texted).scores[0]).toBeCloseTo(texted.outcomes.models[0]?.scorer?.[0] ?? -1, 1);
    expect(stageGate(workload, small, document)).toEqual({ kind: "other-words", model: small });
    expect(stageGate(texted, small, { ...document, bias: document.bias + 1 })).toEqual({ kind: "other-words", model: small });
    const turned = workload.outcomes.models.map((own, at) =>
      at === 0 ? { ...own, label: own.label.with(0, 100 - (own.label[0] ?? 0)) } : own,
    );
    const other = withWords({ ...workload, outcomes: { ...workload.outcomes, models: turned } }, workload);
    expect(other.outcomes.models[0]?.scorer?.[0]).toBe(texted.outcomes.models[0]?.scorer?.[0]);
  });

  it("are refused where the workload does not hold what they read", () => {
    const plain = generatedWorkload({ prompts: 60, seed: 5 });
    const { agreement: _, ...origin } = workload.origin;
    const kindOf = (of: Workload, document: GateDocument): string => {
      const gate = stageGate(of, small, document);
      return isRefused(gate) ? gate.kind : "scored";
    };
    expect(kindOf(plain, { kind: "confidence", measure: "minimum" })).toBe("no-column");
    expect(kindOf(workload, { kind: "confidence", measure: "mean" })).toBe("other-measure");
    expect(kindOf(workload, { kind: "agreement", answer: "number", peers: ["gemma-2-9b"] })).toBe("other-answers");
    expect(kindOf({ ...workload, origin }, { kind: "agreement", answer: "whole", samples: { count: 4, temperature: 0.8 } })).toBe(
      "other-answers",
    );
    const length = { feature: "ended-by-length", mean: 0, scale: 1, weight: 1 } as const;
    expect(kindOf(workload, { kind: "scorer", answer: "whole", bias: 0, weights: [length] })).toBe("other-inputs");
    const late = { kind: "agreement", answer: "whole", samples: { count: 4, temperature: 0.8 } } as const;
    const first = { gate: { kind: "confidence", measure: "minimum" }, acceptFrom: 80, escalateBelow: 20 } as const;
    expect(kindOf(workload, { kind: "sequence", first: [first], last: late })).toBe("sequenced-answers");
    expect(gateCandidates(plain, [small, ...larger], () => true).map(({ kind }) => kind)).toEqual(["judge"]);
  });
});
