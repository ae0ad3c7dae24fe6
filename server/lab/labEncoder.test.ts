import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { labCells } from "./labCells";
import { makeGround } from "./labGround";
import type { LabTask } from "./labTask";
import { testSpec, testTask, testWorkload } from "./testing/testLab";

const DIMENSIONS = 4;
const models = testWorkload.outcomes.models;

/** Vectors that tell which models answer a prompt well, or that are drawn whatever they do. */
function embeddings(told: boolean): NonNullable<LabTask["embeddings"]> {
  const random = seededRandom(1);
  const values = Float32Array.from({ length: testWorkload.outcomes.promptIds.length * DIMENSIONS }, (_, at) => {
    const label = models[at % DIMENSIONS]?.label[Math.floor(at / DIMENSIONS)];
    return told && label !== undefined ? label / 100 : random.next();
  });
  return { encoder: { name: "test", sha256: "0".repeat(64) }, dimensions: DIMENSIONS, values };
}

function quality(task: LabTask): number {
  const cell = labCells(task, makeGround(task))({ system: 0, rate: 0, seed: 0 });
  return cell.quality ?? Number.NaN;
}

test("confidence that is learnt on vectors is as good as the vectors: those that tell the right model raise the quality of its route", () => {
  const spec = testSpec(["Chimera"]);
  const [system] = spec.systems;
  if (system?.policy.kind !== "slack") throw new Error("no slack dispatch is suggested");
  const wide = { ...system, lengths: "oracle" as const, policy: { ...system.policy, tau: 8 } };
  const task = testTask({ ...spec, rates: [spec.rates[0] ?? 1], seeds: [1], systems: [wide] });
  expect(quality({ ...task, embeddings: embeddings(true) })).toBeGreaterThan(quality({ ...task, embeddings: embeddings(false) }) + 3);
});
