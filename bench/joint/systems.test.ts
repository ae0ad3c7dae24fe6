import { expect, test } from "vitest";
import { justInTimeOver } from "@/server/lab/aragogRace";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { testHardware, testWorkload } from "@/server/lab/testing/testLab";
import type { LabReplicas } from "@/solver/lab/labSpec";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import { withCallGates } from "@/solver/stageGates/gateCandidates";
import { splitPrompts } from "@/solver/workload/split";
import { withModelledConfidence } from "../lib/modelledConfidence";
import { ALL_TERMS, allTermsSystems, LEFT_OUT } from "./allTerms";
import cases from "./cases.json" with { type: "json" };
import { cheapestCascade, cheapestModel } from "./singles";
import { ALONE, BASELINES, jointSystems, PAIRS, VARIANTS } from "./systems";

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
/** So low that a cascade which keeps it ends before the largest model. */
const FLOOR = 30;
const scored = withCallGates(policy, { workload: withModelledConfidence(testWorkload, 0.75), sample });
if (!scored.ok) throw new Error(scored.message);
const parts = {
  ...{ policy, scored: scored.policy, planned: sample, quality: [40, 50, 60] },
  loads: replicas.map(({ model, count }) => ({ model, load: 0.8, replicas: count })),
  ...{ cascade: cheapestCascade(ground, FLOOR), model: cheapestModel(ground, FLOOR) },
};
const raced = { jointSystems: jointSystems(parts), allTermsSystems: allTermsSystems(parts) };

test("every pair of the systems is raced", () => {
  const pairs = ALONE.flatMap((one, at) => ALONE.slice(at + 1).map((other) => [one, other].sort().join(" and ")));
  expect([...PAIRS].sort()).toEqual(pairs.sort());
});

const named = {
  jointSystems: [...BASELINES, ...ALONE, ...PAIRS, ...Object.values(VARIANTS)],
  allTermsSystems: [ALL_TERMS, ...Object.values(LEFT_OUT), ...ALONE],
};

test.each((["jointSystems", "allTermsSystems"] as const).flatMap((from) => named[from].map((name) => [from, name] as const)))(
  "of %s, %s is a system that the lab can race, and differs from all others",
  (from, name) => {
    const systems = raced[from];
    const own = systems.filter((system) => system.name === name);
    // The lab refuses rounds that know of no configuration: here they show what knowing of some is worth.
    const isAblation = own[0]?.configurations === "none";
    expect(own.map((system) => systemRefusal(system, replicas))).toEqual([isAblation ? expect.stringContaining("accurate") : null]);
    const told = systems.map(({ name: _, ...system }) => JSON.stringify(system));
    const { name: _, ...system } = own[0]!;
    expect(told.filter((other) => other === JSON.stringify(system))).toHaveLength(1);
  },
);

test("no mix that is measured was tuned on", () => {
  const all = [...cases.mixes, ...cases.tuning.mixes, ...cases.withRecordedRuns, ...cases.unseen.mixes];
  expect(new Set(all).size).toBe(all.length);
});
