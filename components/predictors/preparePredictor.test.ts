import { describe, expect, it } from "vitest";
import type { Artefact } from "@/server/contracts/studio";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { preparePredictor } from "./preparePredictor";

const training: Artefact["training"] = {
  ...{ workloadId: "w", workloadName: "Support", models: ["small"], workflows: ["planner-coder"], correlation: 0.5, prompts: 420 },
  ...{ requests: 6000, texts: true, encoder: null, source: "modelled programs", emulated: false },
};
const lengths = { model: "small", requestTau: 0.22, remainingTau: 0.1, inputLengthTau: 0.39 };

describe("what is told of a predictor", () => {
  it("tells Kendall tau distances, beside a coin's and that of the input's length", () => {
    const picture = preparePredictor({ kind: "lengths", version: 2, training, heldOut: { prompts: 180, lengths: [lengths] } });
    expect(picture.title).toBe("Lengths v2 of Support");
    expect(picture.trainedOn).toBe("modelled programs of 420 prompts (planner-coder, stages alike by 0.5)");
    expect(picture.rows).toEqual([{ model: "small", figures: ["0.22", "0.10", "0.39"] }]);
    expect(picture.legend).toMatch(/^Kendall tau distance.*0\.50 is a coin.*Measured on 180 prompts it has not seen\.$/);
    expect(picture.warnings).toEqual([]);
  });

  it("says what was emulated, what lacked texts, and what only some gateways can serve", () => {
    const one = { model: "small", auc: 0.64, averagePrecision: 0.71, rightShare: 0.552 };
    const words = preparePredictor({
      ...{ kind: "confidence", version: 1, heldOut: { prompts: 10, confidence: [one] } },
      training: { ...training, texts: false, emulated: true, source: "labelled prompts" },
    });
    expect(words.rows[0]?.figures).toEqual(["0.64", "0.71", "0.55"]);
    // The features used equal the available ones; heads know neither workflow nor stage.
    expect(words.trainedOn).toBe("420 labelled prompts, read by their token counts");
    expect(words.warnings).toHaveLength(2);
    expect(words.warnings.join(" ")).toContain("uses only token counts");
    expect(words.warnings.join(" ")).not.toContain("stage");
    const encoder = preparePredictor({
      ...{ kind: "confidence", version: 1, heldOut: { prompts: 10, confidence: [{ ...one, auc: Number.NaN }] } },
      training: { ...training, encoder: { name: "tiny", sha256: "0123456789abcdef".repeat(4) }, source: "labelled prompts" },
    });
    expect(encoder.rows[0]?.figures[0]).toBe("–");
    expect(encoder.trainedOn).toBe("420 labelled prompts, read by the encoder tiny 01234567");
    expect(encoder.warnings).toEqual([expect.stringMatching(/^It needs a gateway with exactly this encoder/)]);
  });

  it("gives the mean over models, each counted alike, where there are several", () => {
    const model = (name: string, averagePrecision: number) => ({ model: name, auc: 0.6, averagePrecision, rightShare: 0.5 });
    const picture = preparePredictor({
      ...{ kind: "confidence", version: 1, heldOut: { prompts: 10, confidence: [model("small", 0.4), model("large", 0.5)] } },
      training: { ...training, source: "labelled prompts" },
    });
    expect(picture.trainedOn).toBe("420 labelled prompts, read by their words");
    expect(picture.rows.at(-1)).toEqual({ model: "mean of models (macro)", figures: ["0.60", "0.45", "0.50"] });
    expect(picture.legend).toContain("mAP");
  });

  it("names the cluster where it learnt of traffic", () => {
    const of = {
      ...training,
      source: "traffic",
      workloadName: "Attic",
      workflows: [],
      correlation: null,
      prompts: 90,
      requests: 400,
    } as const;
    const picture = preparePredictor({ kind: "lengths", version: 1, training: of, heldOut: { prompts: 1, lengths: [lengths] } });
    expect(picture.title).toBe("Lengths v1 of traffic of Attic");
    expect(picture.trainedOn).toBe("400 remembered requests of 90 programs");
    expect(picture.legend).toContain("1 later program it has not seen");
    const less = { ...of, leftOut: { cutAnswers: 12, longSessions: 1 } };
    const { warnings } = preparePredictor({ kind: "lengths", version: 1, training: less, heldOut: { prompts: 1, lengths: [lengths] } });
    expect(warnings.slice(picture.warnings.length)).toEqual([
      expect.stringMatching(/^12 answers cut at the client's limit left out/),
      expect.stringMatching(/^1 session of more than 1,000 requests left out/),
    ]);
  });

  it("says of configurations what is accepted and lost, and that outcomes are modelled", () => {
    const workflow = workflowDocumentSchema.parse({ name: "voting", agents: [{ name: "voter" }] });
    const of = { ...training, models: ["small", "large"], source: "modelled outcomes", misleads: 0.4, workflow } as const;
    const configurations = { precision: 0.957, recall: 0.031, evaluatedShare: 0.2, meanLoss: -0.44, cheapestLoss: 1.26 };
    const picture = preparePredictor({ kind: "configurations", version: 1, training: of, heldOut: { prompts: 180, configurations } });
    expect(picture.title).toBe("Configurations v1 of voting, Support");
    expect(picture.trainedOn).toBe(
      "modelled outcomes of 420 prompts over small, large (stages alike by 0.5, a wrong answer misleads by 0.4), read by their words",
    );
    expect(picture.rows).toEqual([{ model: "small, large", figures: ["95.7 %", "3.1 %", "20.0 %", "-0.4", "1.3"] }]);
    expect(picture.columns).toHaveLength(5);
    expect(picture.warnings).toEqual([expect.stringMatching(/^Outcomes are modelled/)]);
    const none = { ...configurations, precision: Number.NaN, recall: 0 };
    const blind = preparePredictor({ kind: "configurations", version: 1, training: of, heldOut: { prompts: 180, configurations: none } });
    expect(blind.rows[0]?.figures[0]).toBe("–");
    expect(blind.warnings).toContainEqual(expect.stringMatching(/^It accepts only the largest models/));
  });

  it("says of executed runs so, what of them was left out, and nothing of modelled outcomes", () => {
    const workflow = workflowDocumentSchema.parse({ name: "voting", agents: [{ name: "voter" }] });
    const of: Artefact["training"] = {
      ...{ ...training, workloadName: "runs.jsonl", models: ["small", "large"], correlation: null, source: "executed runs", workflow },
      leftOutRuns: {
        lines: [
          { problem: "models", lines: 1200, firstLine: 40 },
          { problem: "quality", lines: 1, firstLine: 7 },
        ],
        inputs: 1,
        first: { line: 3, lacks: { voter: "large" } },
      },
    };
    const configurations = { precision: 0.957, recall: 0.031, evaluatedShare: 0.2, meanLoss: -0.44, cheapestLoss: 1.26 };
    const told = { kind: "configurations", version: 1, heldOut: { prompts: 180, configurations } } as const;
    const picture = preparePredictor({ ...told, training: of });
    expect(picture.title).toBe("Configurations v1 of voting, executed runs in runs.jsonl");
    expect(picture.trainedOn).toBe("executed runs of 420 inputs (6,000 requests) over small, large, read by their words");
    expect(picture.warnings).toEqual([
      "1 input left out, of which not every configuration was executed: that of line 3 lacks voter on large.",
      "1,200 lines left out that have a model that is not among the chosen ones: line 40 first.",
      "1 line left out that has a quality that is not from 0 to 100: line 7.",
    ]);
    const clean = preparePredictor({ ...told, training: { ...of, leftOutRuns: { lines: [], inputs: 0, first: null } } });
    expect(clean.warnings).toEqual([]);
  });
});
