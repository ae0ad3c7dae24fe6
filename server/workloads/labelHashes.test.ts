import { expect, it } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import { labelHashes } from "./labelHashes";

const { outcomes } = generatedWorkload({ prompts: 30, seed: 1 });
const [first, ...others] = outcomes.models;
const hashesOf = (table: typeof outcomes) => labelHashes(table).map(({ labels }) => labels);

it("depends on the prompts, and by model on its labels only", () => {
  const own = hashesOf(outcomes);
  expect(new Set(own).size).toBe(outcomes.models.length);
  const relabelled = { ...first!, label: first!.label.map((label, row) => (row === 4 ? 100 - label : label)) };
  const [changed, ...same] = hashesOf({ ...outcomes, models: [relabelled, ...others] });
  expect(changed).not.toBe(own[0]);
  expect(same).toEqual(own.slice(1));
  const judged = { ...first!, judged: first!.judged.map(() => 1), outputTokens: first!.outputTokens.map(() => 1) };
  expect(hashesOf({ ...outcomes, models: [judged, ...others] })).toEqual(own);
  for (const table of [
    { ...outcomes, promptIds: outcomes.promptIds.toReversed() },
    { ...outcomes, inputTokens: outcomes.inputTokens.toReversed() },
  ])
    for (const [at, hash] of hashesOf(table).entries()) expect(hash).not.toBe(own[at]);
});
