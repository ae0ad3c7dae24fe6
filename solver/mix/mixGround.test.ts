import { expect, it } from "vitest";
import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { type MixTraffic, mixGround } from "./mixGround";

const ladder = ["qwen2.5-3b", "qwen2.5-7b"];
const { outcomes, seed } = generatedWorkload({ prompts: 400, ladder, seed: 5 });
const { models, gpus } = catalogueOf(noUserCards);
const shapes = ladder.map((model) => {
  const [card, gpu] = [cardOf(models, model), cardOf(gpus, "l40s")];
  return card === undefined || gpu === undefined
    ? []
    : feasibleReplicas(card, gpu, { gpusPerNode: 2, maxGpus: 2 }).filter(({ shape }) => shape.pp === 1);
});
const vote = (agents: object) => workflowDocumentSchema.parse({ name: "vote", agents });
const traffic: MixTraffic = {
  ...{ outcomes, seed, shapes, planning: splitPrompts(outcomes.promptIds.length, seed).planning },
  singles: { requestsPerSecond: 5, floor: 0, judgeSeconds: 0.2 },
  workflows: [],
};

it("makes single models and cascades candidates of single requests, of which those below the floor are left out", () => {
  const { classes, routes, models: own } = mixGround(traffic);
  const [singles] = classes;
  expect(singles?.divisible).toBe(false);
  expect(routes[0]).toContainEqual({ kind: "cascade", stages: [0], thresholds: [] });
  // The smallest shape does one unit of work a second when it is saturated, a larger one more.
  expect(own.map((model) => model.shapes[0]?.curve.at(-1)?.workPerSecond)).toEqual([expect.closeTo(1, 6), expect.closeTo(1, 6)]);
  expect(own[1]?.shapes[1]?.curve.at(-1)?.workPerSecond).toBeGreaterThan(1.1);
  const best = Math.max(
    ...(mixGround({ ...traffic, singles: { requestsPerSecond: 5, floor: 100, judgeSeconds: 0 } }).classes[0]?.candidates ?? []).map(
      ({ quality }) => quality,
    ),
  );
  const floored = mixGround({ ...traffic, singles: { requestsPerSecond: 5, floor: best - 2, judgeSeconds: 0.2 } });
  const kept = floored.classes[0]?.candidates ?? [];
  expect(kept.every(({ quality }) => quality >= best - 2)).toBe(true);
  expect(kept.some(({ otherSeconds }) => otherSeconds > 0)).toBe(true);
});

it("compares configurations of a workflow: the cheapest at some prices that keep the floor, and each program's own where they are predicted", () => {
  const workflow = vote([{ name: "a" }, { name: "b" }, { name: "c" }, { name: "tally", reads: ["a", "b", "c"], part: "votes" }]);
  const own = { workflow, programsPerSecond: 1, floor: 0 };
  const of = (predicted: boolean) => mixGround({ ...traffic, workflows: [{ ...own, predicted }] }).classes[1];
  const [all, each] = [of(false), of(true)];
  expect([all?.divisible, each?.divisible]).toEqual([false, true]);
  const best = Math.max(...(all?.candidates ?? []).map(({ quality }) => quality));
  // Every accurate configuration is as good as the largest models, for less work of these.
  for (const { quality } of each?.candidates ?? []) expect(quality).toBeGreaterThan(best - 3);
  const largest = mixGround({
    ...traffic,
    workflows: [{ ...own, workflow: vote(workflow.agents.map((agent) => ({ ...agent, models: ["qwen2.5-7b"] }))), predicted: false }],
  });
  const worked = largest.classes[1]?.candidates[0]?.work[1] ?? 0;
  expect(Math.min(...(each?.candidates ?? []).map(({ work }) => work[1] ?? 0))).toBeLessThan(0.8 * worked);
});

it("counts an ensemble's aggregator only where its experts disagree", () => {
  const experts = ["a", "b"].map((name) => ({ name, models: ["qwen2.5-3b"] }));
  const tally = { name: "tally", reads: ["a", "b"], part: "votes", models: ["qwen2.5-7b"] };
  const work = (agents: object): readonly number[] => {
    const { classes } = mixGround({
      ...traffic,
      singles: null,
      workflows: [{ workflow: vote(agents), programsPerSecond: 1, floor: 0, predicted: false }],
    });
    expect(classes[0]?.candidates).toHaveLength(1);
    return classes[0]?.candidates[0]?.work ?? [];
  };
  const always = work([...experts, tally]);
  const skipped = work([...experts, { ...tally, skip: { extraction: { kind: "choice" }, tau: 1 } }]);
  expect(skipped[0]).toBeCloseTo(always[0] ?? 0, 6);
  expect(skipped[1]).toBeLessThan(0.9 * (always[1] ?? 0));
  expect(skipped[1]).toBeGreaterThan(0);
});
