import { expect, it } from "vitest";
import { groundOf } from "@/server/planning/compare/compareGround";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { ratePlanners } from "@/server/planning/rates/ratePlanners";
import { randomInstance } from "@/solver/baselines/randomInstance";
import { cascadiaCases } from "./cases";
import { gatedCascades, judgeGate } from "./gates";
import { type RaceRow, raceLadder } from "./race";
import { caseName } from "./scene";
import source from "./source.json" with { type: "json" };
import { ofCommonSeeds, planTable, ratioTable, seedSentence, targetResults } from "./tables";
import { gateSentence, weirPlanTable } from "./weirPlans";

function row(system: string, seed: number, rate: number | null, name = "one"): RaceRow {
  const at =
    rate === null
      ? null
      : {
          ...{
            requestsPerSecond: rate,
            cascade: "one model",
            gate: "judge",
            startBelow: null,
            gpus: 8,
            gateGpus: 1,
            quality: 81,
            p95Seconds: 1,
          },
          costUsdPerRequest: 1 / rate,
        };
  const scales = [at === null ? null : { ...at, sloScale: 2 }, null];
  return { ladder: "ladder", case: name, floor: 80, seed, system, highest: at, half: at, kept: rate, scales };
}

const rows = [
  ...[1, 2, 3].flatMap((seed) => [row("Weir", seed, 20), row("CascadeServe", seed, 10), row("AutoMix", seed, seed === 2 ? null : 10)]),
  ...[1, 2, 3].flatMap((seed) => [row("Weir", seed, 10, "two"), row("CascadeServe", seed, 20, "two"), row("AutoMix", seed, 5, "two")]),
];

it("compares in the cases where both systems have a rate under every seed, geometrically", () => {
  const [, , weir, cascadeServe, autoMix] = ratioTable(rows).split("\n");
  expect(weir).toContain("| Weir | - | 0 of 2 | - | - |");
  expect(cascadeServe).toContain("| CascadeServe | 1.00 (1.00 to 1.00) | 2 of 2 | 0.50 (two)");
  expect(autoMix).toContain("| AutoMix | 2.00 (2.00 to 2.00) | 1 of 2");
});

it("takes the mean or the least case for a target, as it asks", () => {
  const found = targetResults(rows);
  expect(found.find(({ target }) => target.against === "CascadeServe")?.ratio).toBeCloseTo(1, 9);
  expect(found.find(({ target }) => target.against === "AutoMix")?.ratio).toBeCloseTo(2, 9);
  expect(found.find(({ target }) => target.against === "trained router")).toMatchObject({ ratio: null, detail: "in no case" });
});

it("every case can be told apart", () => {
  for (const { cases } of cascadiaCases.ladders) expect(new Set(cases.map((one) => JSON.stringify(one))).size).toBe(cases.length);
});

it("every target is of a system that is raced", async () => {
  const { workload, cluster, floor } = randomInstance(3);
  const context = groundOf({ situation: { workload, workloadId: "test", cluster }, engine: await loadGlpkEngine() });
  const [ladder] = cascadiaCases.ladders;
  if (ladder === undefined) throw new Error("no ladder");
  const scene = { ladder, seed: 1, workload, context };
  const judge = judgeGate(scene);
  const cascades = gatedCascades(scene, judge);
  const planners = ratePlanners({ context, floor, judge, gates: [], cascades, trained: workload.outcomes });
  const raced = planners.map(({ kind }) => kind);
  expect(new Set(raced).size).toBe(raced.length);
  for (const { against, atLeast } of cascadiaCases.targets) {
    expect(raced.filter((kind) => kind !== "Weir")).toContain(against);
    expect(atLeast).toBeGreaterThanOrEqual(1);
  }
});

it("shows the plan of every system at its highest rate", () => {
  const [, , ...lines] = planTable(rows).trim().split("\n");
  expect(lines).toHaveLength(6);
  expect(lines[0]).toContain("| one | Weir | 20/s | judge | 8 (1) | one model |");
});

function weirRow(seed: number, highest: Partial<NonNullable<RaceRow["highest"]>>): RaceRow {
  const plain = row("Weir", seed, 20);
  return { ...plain, highest: plain.highest && { ...plain.highest, ...highest } };
}

it("shows which gate and router Weir's plan has at its highest rate, under every seed", () => {
  const two = { cascade: "small (1 × tp 1) <0→ large (1 × tp 2)" };
  const own = [
    weirRow(1, { ...two, gate: "judge, trained start", gateGpus: 2, startBelow: [40] }),
    weirRow(2, { ...two, gate: "none", gateGpus: 0, startBelow: [55] }),
    weirRow(3, { gate: "none", gateGpus: 0 }),
  ];
  const [, , ...lines] = weirPlanTable([...own, row("CascadeServe", 1, 10)])
    .trim()
    .split("\n");
  expect(lines).toEqual([
    "| one | 1 | 20/s | small (1 × tp 1) <0→ large (1 × tp 2) | judge | heads, start below 40 | 2 of 8 |",
    "| one | 2 | 20/s | small (1 × tp 1) <0→ large (1 × tp 2) | none: heads alone | heads, start below 55 | 0 of 8 |",
    "| one | 3 | 20/s | one model | none: one model | - | 0 of 8 |",
  ]);
  expect(gateSentence([...own, weirRow(3, {})])).toBe(
    "Gates of the 4 plans of Weir at their highest rates: judge, 2; none: heads alone, 1; none: one model, 1.",
  );
});

it("reads rows that do not say where requests start", () => {
  const older = (gate: string, cascade: string): RaceRow =>
    JSON.parse(JSON.stringify(weirRow(1, { gate, cascade }), (key, value) => (key === "startBelow" ? undefined : value)));
  const table = weirPlanTable([older("agreement, trained start", "a <90→ b"), older("none", "a <0→ b"), older("judge", "a <70→ b")]);
  expect(table).toContain("| agreement | heads, allowed |");
  expect(table).toContain("| none: heads alone | heads |");
  expect(table).toContain("| judge | - |");
});

it("compares all ladders over the seeds that every case has", () => {
  const fewer = [...rows, row("Weir", 1, 5, "three"), row("Weir", 3, 5, "three")];
  expect(seedSentence(ofCommonSeeds(fewer))).toBe("Over 3 cases of 1 ladders, each under the seeds 1, 3.");
  expect(ofCommonSeeds(rows)).toEqual(rows);
});

it("races no seed again whose cases were all kept", async () => {
  const [ladder] = cascadiaCases.ladders;
  if (ladder === undefined) throw new Error("no ladder");
  const before = [...cascadiaCases.seeds]
    .reverse()
    .flatMap((seed) => ladder.cases.map((one) => row("Weir", seed, 9, caseName(ladder, one))));
  const onSeed = (): void => {
    throw new Error("a seed was raced");
  };
  const found = await raceLadder(ladder, "perturbed", { before, onSeed });
  expect(found.map(({ seed }) => seed)).toEqual([...before].reverse().map(({ seed }) => seed));
});

it("every figure of the source says what it is, its unit and where it stands", () => {
  for (const { figure, what, section } of source) expect([figure, what, section].every((text) => text.length > 0)).toBe(true);
  const figures = new Set(source.map(({ figure }) => figure));
  for (const figure of ["5", "6", "7", "8", "9", "10", "11", "T1", "T2", "T3", "T4", "T5", "T6", "T7"]) expect(figures).toContain(figure);
});
