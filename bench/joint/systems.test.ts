import { expect, test } from "vitest";
import { justInTimeOver } from "@/server/lab/aragogRace";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { testHardware, testWorkload } from "@/server/lab/testing/testLab";
import type { LabReplicas } from "@/solver/lab/labSpec";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import { splitPrompts } from "@/solver/workload/split";
import cases from "./cases.json" with { type: "json" };
import { cheapestCascade, cheapestModel } from "./singles";
import { ALONE, jointSystems, PAIRS } from "./systems";

const replicas = cases.engines.map(
  ({ model, tp, count }): LabReplicas => ({
    model,
    gpu: "h100-sxm",
    precision: "bf16",
    tp,
    pp: 1,
    count,
    maxSequences: cases.maxSequences,
  }),
);
const mix = [...cases.workflows, cases.ensemble.workflow].map((workflow) => ({ workflow, share: 1 }));
const outcomes = tableOf(
  testWorkload,
  replicas.map(({ model }) => model),
);
const sample = planningPrograms({ mix, correlation: 0.5, misleads: 0.5 }, testWorkload, outcomes, 100);
const policy = justInTimeOver({ engines: enginesByModel(replicas, testHardware), sample, workflows: drawnDocuments(mix), ...testHardware });
const { planning } = splitPrompts(testWorkload.outcomes.promptIds.length, testWorkload.seed);
const ground = { outcomes, planning, costs: policy.models.map(({ cost }) => cost) };
const systems = jointSystems({
  ...{ policy, planned: sample, quality: [40, 50, 60] },
  loads: replicas.map(({ model, count }) => ({ model, load: 0.8, replicas: count })),
  ...{ cascade: cheapestCascade(ground, 50), model: cheapestModel(ground, 50) },
});

test("every pair of the systems is raced", () => {
  const pairs = ALONE.flatMap((one, at) => ALONE.slice(at + 1).map((other) => [one, other].sort().join(" and ")));
  expect([...PAIRS].sort()).toEqual(pairs.sort());
});

test.each([...ALONE, ...PAIRS])("%s is a system that the lab can race, and differs from all others", (name) => {
  const own = systems.filter((system) => system.name === name);
  expect(own.map((system) => systemRefusal(system, replicas))).toEqual([null]);
  const told = systems.map(({ name: _, ...system }) => JSON.stringify(system));
  const { name: _, ...system } = own[0]!;
  expect(told.filter((other) => other === JSON.stringify(system))).toHaveLength(1);
});

test("seeds of the fresh mixes are those of no mix that was tuned on or measured before", () => {
  const fresh = [...cases.fresh.mixes, ...cases.fresh.withRecordedRuns];
  const all = [...cases.mixes, ...cases.tuning.mixes, ...fresh];
  expect(new Set(all).size).toBe(all.length);
});
