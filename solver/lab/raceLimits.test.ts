import fc from "fast-check";
import { expect, test } from "vitest";
import { workflows } from "../workflow/templates";
import { laterStages, type WorkflowStage } from "../workflow/workflow";
import { kairosSystems } from "./kairosSystems";
import type { LabReplicas, LabSystem } from "./labSpec";
import { engineFill, mostSideBySide, placeTwins, raceLimits } from "./raceLimits";

const engine = (change: Partial<LabReplicas> = {}): LabReplicas => ({
  ...{ model: "m", gpu: "l40s", precision: "bf16", tp: 1, pp: 1, count: 1 },
  ...change,
});
const systems: readonly LabSystem[] = kairosSystems((order, place) => ({ kind: "fixed", model: "m", order, place }), 100).map(
  ({ about: _, ...system }) => system,
);
const coder = [{ workflow: "coder", share: 1 }];

const stage = { role: "a", part: "helps", instructionTokens: 1, lengthRatio: 1, lengthSpread: 0 } as const;
/** Stages that read some of the earlier ones. */
const graphs = fc
  .array(fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), { minLength: 1, maxLength: 7 })
  .map((reads) =>
    reads.map((of, at): WorkflowStage => ({ ...stage, reads: Array.from({ length: at }, (_, on) => on).filter((on) => of[on]) })),
  );

test("no set of stages of which none waits for another is larger than what is said of requests side by side", () => {
  fc.assert(
    fc.property(graphs, (stages) => {
      const later = laterStages({ stages });
      for (let set = 1; set < 2 ** stages.length; set += 1) {
        const chosen = stages.map((_, at) => at).filter((at) => set & (1 << at));
        if (chosen.some((at) => chosen.some((other) => later[at]?.includes(other)))) continue;
        expect(mostSideBySide({ stages })).toBeGreaterThanOrEqual(chosen.length);
      }
    }),
    { numRuns: 40 },
  );
  const widths = Object.fromEntries(workflows.map((workflow) => [workflow.name, mostSideBySide(workflow)]));
  expect(widths).toMatchObject({
    coder: 1,
    "planner-coder-qa-coder": 1,
    voting: 4,
    decomposition: 3,
    "code-with-feedback": 1,
    "qa-router": 1,
  });
});

test("engines hold all that programs have under way until there are more programs, wider ones, or fewer requests at once", () => {
  const fits = (programs: number, replicas: readonly LabReplicas[], mix = coder): boolean => engineFill({ mix, programs }, replicas).fits;
  expect(fits(512, [engine({ count: 2 })])).toBe(true);
  expect(fits(513, [engine({ count: 2 })])).toBe(false);
  expect(fits(512, [engine({ count: 2, maxSequences: 255 })])).toBe(false);
  expect(fits(512, [engine({ maxSequences: 500 }), engine({ model: "n", maxSequences: 12 })])).toBe(true);
  const half = [...coder, { workflow: "voting", share: 1 }];
  expect(fits(204, [engine({ count: 2 })], half)).toBe(true);
  expect(fits(206, [engine({ count: 2 })], half)).toBe(false);
});

test("systems that differ in their place alone are named together where each of their models has one engine", () => {
  const named = (replicas: readonly LabReplicas[]) =>
    placeTwins(systems, replicas).map((group) => group.map((index) => systems[index]?.name));
  const twins = [
    ["Parrot", "Kairos, no priority"],
    ["Kairos", "Kairos, no packing"],
  ];
  expect(named([engine()])).toEqual(twins);
  expect(named([engine(), engine({ model: "n", count: 8 })])).toEqual(twins);
  expect(named([engine({ count: 2 })])).toEqual([]);
  expect(named([engine(), engine({ tp: 2 })])).toEqual([]);
  // Its own number of engines instead of the run's.
  const own = systems.map((system) => (system.name === "Kairos" ? { ...system, replicas: [engine({ count: 2 })] } : system));
  expect(placeTwins(own, [engine()])).toEqual([[0, 3]]);
});

test("what a race cannot tell is said before it is run, and nothing where it can", () => {
  const said = (programs: number, replicas: readonly LabReplicas[]): string =>
    raceLimits({ systems, mix: coder, programs, replicas }).join("\n");
  expect(said(200, [engine({ count: 2 })])).toMatch(
    /^200 programs have at most about 200 requests under way, and the engines run 512 at once.*more programs, or fewer requests at once/,
  );
  expect(said(2000, [engine()])).toMatch(
    /^With one engine of each model.*: Parrot; Kairos, no priority, and likewise Kairos; Kairos, no packing\. Give a model two engines/,
  );
  expect(said(200, [engine()]).split("\n")).toHaveLength(2);
  expect(said(2000, [engine({ count: 2 })])).toBe("");
});
