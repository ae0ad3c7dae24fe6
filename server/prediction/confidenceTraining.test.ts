import { describe, expect, it } from "vitest";
import { labelHashes } from "@/server/workloads/labelHashes";
import { seededRandom } from "@/solver/numeric/random";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { scoreRows } from "@/solver/prediction/confidence";
import { confidenceRowsOf } from "@/solver/prediction/programRows";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { trainedConfidence } from "./confidenceTraining";
import { sketchesOf } from "./trainingContext";

const PROMPTS = 200;
const random = seededRandom(3);
const base = generatedWorkload({ prompts: PROMPTS, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 3 });
const isHard = Array.from({ length: PROMPTS }, () => random.next() < 0.5);
const texts = isHard.map((hard) => `please ${hard ? "prove" : "name"} number ${random.int(1000)}`);
const models = base.outcomes.models.map((model, rank) => ({
  ...model,
  label: Float64Array.from(isHard, (hard) => (random.next() < (hard ? 0.2 + 0.4 * rank : 0.9) ? 100 : 0)),
}));
const workload = { ...base, outcomes: { ...base.outcomes, models } };
const split = splitPrompts(PROMPTS, workload.seed);
const said: string[] = [];
const { bytes, scores, heldOut } = trainedConfidence({ workload, texts, split, tell: (doing) => said.push(doing) });

/** The scores of the trained artefact for some rows. */
function ownScores(rows: Int32Array): Float32Array {
  const artefact = decodeArtefact(bytes);
  if (artefact.kind !== "confidence") throw new Error(artefact.kind);
  return scoreRows(artefact, confidenceRowsOf(workload.outcomes, rows, sketchesOf(workload.outcomes.inputTokens, texts)));
}
const kept = (rows: Int32Array): number[] => Array.from(rows).flatMap((row) => [...scores.scores.slice(2 * row, 2 * row + 2)]);

describe("training of confidence", () => {
  it("scores held-out prompts by the artefact, and planning prompts by heads that were not trained on them", () => {
    expect(scores.models).toEqual(labelHashes(workload.outcomes));
    expect(scores.scores).toHaveLength(2 * PROMPTS);
    expect(kept(split.heldOut)).toEqual([...ownScores(split.heldOut)]);
    const own = ownScores(split.planning);
    const outOfFold = kept(split.planning);
    expect(outOfFold.filter((score, at) => score === own[at])).toEqual([]);
  });

  it("reports how well unseen and out-of-fold scores tell right from wrong, which is less than the artefact does on its own prompts", () => {
    const [small] = heldOut.outOfFold ?? [];
    expect(heldOut.outOfFold?.map(({ model }) => model)).toEqual(["qwen2.5-3b", "qwen2.5-7b"]);
    expect(small?.auc).toBeGreaterThan(0.7);
    expect(small?.auc).toBeLessThan(1);
    expect(heldOut.confidence?.[0]?.auc).toBeGreaterThan(0.7);
    expect(said.some((doing) => doing.includes("heads that have not seen them"))).toBe(true);
  });
});
