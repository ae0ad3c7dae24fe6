import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EngineRequest } from "@/server/contracts/emulatorAdmin";
import type { EngineOrder } from "@/server/contracts/engineOrder";
import { capacityDip } from "./capacityDip";
import { type PlannedStep, planSteps, type RollOut } from "./planSteps";
import { engineId, gpuKeys } from "./targetEngines";

const engine = (model: string, gpus: readonly number[], node = "n1"): EngineOrder => {
  const shape = { tp: gpus.length, pp: 1 };
  const placements = [{ node, gpus: [...gpus] }];
  return { id: engineId({ model, precision: "bf16" }, shape, placements), model, precision: "bf16", gpu: "l40s", ...shape, placements };
};
const modelsOf = (engines: readonly EngineOrder[]) => [...new Set(engines.map((one) => one.model))];

/** A roll-out from a deployment in force to another. */
const between = (before: readonly EngineOrder[], after: readonly EngineOrder[]): RollOut => ({
  standing: before.map((one) => ({ ...one, stopping: false })),
  routing: { planId: before.length === 0 ? null : "old", active: before.map((one) => one.id), cordoned: [] },
  inForce: { planId: before.length === 0 ? null : "old", models: modelsOf(before) },
  target: { planId: after.length === 0 ? null : "new", models: modelsOf(after), engines: after },
  loadOutcomes: null,
});
const kinds = (steps: readonly PlannedStep[]) => steps.map((step) => step.action.kind);
const touched = (steps: readonly PlannedStep[]) =>
  steps.flatMap(({ action }) => (action.kind === "start" ? [action.engine.id] : "engineId" in action ? [action.engineId] : []));

/** Cuts a node's GPUs into engines of sizes 1, 2 and 4 of some models, leaving some GPUs free. */
const deployment = fc
  .array(fc.record({ model: fc.constantFrom("a", "b", "c", null), size: fc.constantFrom(1, 2, 4) }), { minLength: 1, maxLength: 8 })
  .map((cuts) => {
    const engines: EngineOrder[] = [];
    let next = 0;
    for (const { model, size } of cuts) {
      if (next + size > 8) break;
      const gpus = Array.from({ length: size }, (_, index) => next + index);
      if (model !== null) engines.push(engine(model, gpus));
      next += size;
    }
    return engines;
  });

/** Carries the steps out on a model of the cluster; throws where a real one would refuse. */
function carryOut(rollOut: RollOut, steps: readonly PlannedStep[]) {
  const standing = new Map<string, EngineRequest>(rollOut.standing.map((one) => [one.id, one]));
  const verified = new Set(rollOut.routing.active);
  let routing = rollOut.routing;
  const served: boolean[] = [];
  for (const { action } of steps) {
    if (action.kind === "start") {
      const taken = new Set([...standing.values()].flatMap(gpuKeys));
      if (gpuKeys(action.engine).some((key) => taken.has(key))) throw new Error(`${action.engine.id} would share a GPU`);
      standing.set(action.engine.id, action.engine);
    }
    if (action.kind === "verify") verified.add(action.engineId);
    if ("routing" in action) {
      routing = action.routing;
      for (const id of routing.active) {
        if (!verified.has(id)) throw new Error(`${id} gets requests before it is verified`);
        if (!standing.has(id)) throw new Error(`${id} gets requests but does not stand`);
      }
      const models = routing.planId === rollOut.target.planId ? rollOut.target.models : rollOut.inForce.models;
      served.push(models.every((model) => routing.active.some((id) => standing.get(id)?.model === model)));
    }
    if (action.kind === "stop") {
      if (routing.active.includes(action.engineId)) throw new Error(`${action.engineId} is stopped while it gets requests`);
      standing.delete(action.engineId);
      verified.delete(action.engineId);
    }
  }
  return { standing: [...standing.keys()].sort(), routing, served };
}

describe("planSteps", () => {
  it("ends with exactly the target, all of it routed, and never two engines on one GPU", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const rollOut = between(before, after);
        const end = carryOut(rollOut, planSteps(rollOut));
        expect(end.standing).toEqual(after.map((one) => one.id).sort());
        if (before.length > 0 || after.length > 0) {
          expect([...end.routing.active].sort()).toEqual(after.map((one) => one.id).sort());
          expect(end.routing.cordoned).toEqual([]);
        }
      }),
    );
  });

  it("touches no engine that both plans share", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const shared = before.filter((one) => after.some((other) => other.id === one.id)).map((one) => one.id);
        const steps = planSteps(between(before, after));
        expect(touched(steps).filter((id) => shared.includes(id))).toEqual([]);
      }),
    );
  });

  it("keeps every model served, with no dip, where every new engine fits on free GPUs", () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const moved = after.map((one) =>
          engine(
            one.model,
            one.placements.flatMap((placement) => placement.gpus),
            "n2",
          ),
        );
        const rollOut = between(before, moved);
        const steps = planSteps(rollOut);
        const stopsAt = kinds(steps).indexOf("stop");
        expect(stopsAt === -1 || !kinds(steps).slice(stopsAt).includes("start")).toBe(true);
        if (moved.length === 0) return;
        expect(carryOut(rollOut, steps).served.every(Boolean)).toBe(true);
        expect(capacityDip(rollOut, steps)).toBe(0);
      }),
    );
  });

  it("can be planned anew from wherever it was cut off, and then ends the same", () => {
    fc.assert(
      fc.property(deployment, deployment, fc.nat(), (before, after, cut) => {
        const rollOut = between(before, after);
        const steps = planSteps(rollOut);
        const done = steps.slice(0, steps.length === 0 ? 0 : cut % (steps.length + 1));
        const standing = new Map(rollOut.standing.map((one) => [one.id, one]));
        let { routing } = rollOut;
        for (const { action } of done) {
          if (action.kind === "start") standing.set(action.engine.id, { ...action.engine, stopping: false });
          if (action.kind === "stop") standing.delete(action.engineId);
          if ("routing" in action) routing = action.routing;
        }
        const inForce = routing.planId === rollOut.target.planId ? rollOut.target : rollOut.inForce;
        const again: RollOut = { ...rollOut, standing: [...standing.values()], routing, inForce };
        expect(carryOut(again, planSteps(again)).standing).toEqual(after.map((one) => one.id).sort());
      }),
    );
  });

  it("brings up, verifies, switches, drains and stops, in that order, when GPUs are spare", () => {
    const steps = planSteps(between([engine("a", [0])], [engine("a", [2, 3])]));
    expect(kinds(steps)).toEqual(["start", "verify", "switch-policy", "drain", "stop"]);
  });

  it("only switches the policy when the engines stay", () => {
    const same = [engine("a", [0]), engine("b", [1])];
    expect(kinds(planSteps(between(same, same)))).toEqual(["switch-policy"]);
  });

  it("has nothing to do when the plan is in force already", () => {
    const same = between([engine("a", [0])], [engine("a", [0])]);
    const rollOut = { ...same, target: { ...same.target, planId: "old" } };
    expect(planSteps(rollOut)).toEqual([]);
  });

  it("drains first where no GPU is spare, one engine at a time, and says how much is out meanwhile", () => {
    const rollOut = between([engine("a", [0, 1]), engine("a", [2, 3])], [engine("a", [0, 1, 2, 3])]);
    expect(capacityDip(rollOut, planSteps(rollOut))).toBe(1);
    const halves = between(
      [engine("a", [0, 1]), engine("a", [2, 3])],
      [engine("a", [0]), engine("a", [1]), engine("a", [2]), engine("a", [3])],
    );
    const steps = planSteps(halves);
    expect(carryOut(halves, steps).served.every(Boolean)).toBe(true);
    expect(capacityDip(halves, steps)).toBe(0.5);
  });

  it("gives up an engine that nobody needs before the last one of a model in force", () => {
    const rollOut = between([engine("a", [0]), engine("b", [1]), engine("b", [2])], [engine("b", [0]), engine("b", [1, 2])]);
    const steps = planSteps(rollOut);
    expect(carryOut(rollOut, steps).standing).toEqual(["b-bf16-tp1-pp1-n1-0", "b-bf16-tp2-pp1-n1-1-2"]);
    expect(capacityDip(rollOut, steps)).toBeLessThan(1);
  });

  it("stops everything, requests finished first, on a rollback to nothing", () => {
    const steps = planSteps(between([engine("a", [0]), engine("b", [1])], []));
    expect(kinds(steps)).toEqual(["switch-policy", "drain", "stop", "drain", "stop"]);
  });

  it("waits for an engine that is stopping before it starts its like again", () => {
    const rollOut = between([], [engine("a", [0])]);
    const steps = planSteps({ ...rollOut, standing: [{ ...engine("a", [0]), stopping: true }] });
    expect(kinds(steps)).toEqual(["stop", "start", "verify", "switch-policy"]);
  });

  it("starts an engine of the plan in force again after it died, and lists it anew", () => {
    const engines = [engine("a", [0]), engine("a", [1])];
    const rollOut = between(engines, engines);
    const steps = planSteps({ ...rollOut, standing: rollOut.standing.slice(1), target: { ...rollOut.target, planId: "old" } });
    expect(kinds(steps)).toEqual(["start", "verify", "switch-policy"]);
  });

  it("verifies an engine that was left behind unproved before it sends requests there", () => {
    const rollOut = between([], [engine("a", [0])]);
    const steps = planSteps({ ...rollOut, standing: [{ ...engine("a", [0]), stopping: false }] });
    expect(kinds(steps)).toEqual(["verify", "switch-policy"]);
  });
});
