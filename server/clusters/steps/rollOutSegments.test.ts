import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { between, deployment, engine } from "../testing/testRollOuts";
import { type PlannedStep, planSteps, type RollOut } from "./planSteps";
import { rollOutSegments } from "./rollOutSegments";
import { gpuKeys } from "./targetEngines";

const stretchesOf = (rollOut: RollOut) => {
  const steps = planSteps(rollOut);
  return { steps, segments: rollOutSegments(rollOut, steps) };
};
const routes = ({ action }: PlannedStep): boolean => "routing" in action;

describe("rollOutSegments", () => {
  it("puts every step into one segment, in order, and begins one only where routing is written", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const { steps, segments } = stretchesOf(between(before, after));
        expect(segments.flatMap(({ fromStep, toStep }) => steps.slice(fromStep, toStep + 1))).toEqual(steps);
        for (const { fromStep } of segments.slice(1)) expect(routes(steps[fromStep]!)).toBe(true);
      }),
    );
  });

  it("sends to engines of either plan only, never two on a GPU, and never more of a model than both plans have", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const count = (engines: readonly { model: string }[], model: string) => engines.filter((one) => one.model === model).length;
        const both = [...new Map([...before, ...after].map((one) => [one.id, one])).values()];
        for (const { engines, models } of stretchesOf(between(before, after)).segments) {
          const gpus = engines.flatMap(gpuKeys);
          expect(new Set(gpus).size).toBe(gpus.length);
          for (const model of models) expect(count(engines, model)).toBeLessThanOrEqual(count(both, model));
          for (const { id } of engines) expect(both.map((one) => one.id)).toContain(id);
        }
      }),
    );
  });

  it("ends with all engines of the target under its policy", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const last = stretchesOf(between(before, after)).segments.at(-1);
        if (last === undefined || after.length === 0) return;
        expect(last.planId).toBe("new");
        expect(last.engines.map(({ id }) => id).sort()).toEqual(after.map(({ id }) => id).sort());
      }),
    );
  });

  it("tells when a model has no engine, where its only one makes room for the next", () => {
    const { segments } = stretchesOf(between([engine("a", [0, 1, 2, 3])], [engine("a", [0, 1])]));
    expect(segments.some(({ models, engines }) => models.includes("a") && engines.length === 0)).toBe(true);
  });
});
