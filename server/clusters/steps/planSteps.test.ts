import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityDip } from "../preview/planDiff";
import { between, carryOut, deployment, engine, kinds, touched } from "../testing/testRollOuts";
import { planSteps, type RollOut } from "./planSteps";

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

  it("asks nothing of engines that stand and whose model no policy routes to, nor misses them", () => {
    const [used, idle, gone] = [engine("a", [0]), engine("b", [1]), engine("c", [2])];
    const rollOut: RollOut = { ...between([used, idle], [used, idle, gone]), topology: "given" };
    const routed = {
      ...rollOut,
      inForce: { planId: "new", models: ["a"] },
      target: { ...rollOut.target, planId: "new", models: ["a"] },
      routing: { planId: "new", active: [used.id], cordoned: [] },
    };
    expect(planSteps(routed)).toEqual([]);
    expect(
      kinds(planSteps({ ...routed, routing: { planId: null, active: [], cordoned: [] }, inForce: { planId: null, models: [] } })),
    ).toEqual(["verify", "switch-policy"]);
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

  it("starts an engine that died and is still ending again before it takes the last one that serves", () => {
    const [dead, serving, small] = [engine("large", [1]), engine("large", [0]), engine("small", [0])];
    const rollOut = between([serving, dead], [dead, small]);
    const standing = rollOut.standing.map((one) => ({ ...one, stopping: one.id === dead.id }));
    const steps = planSteps({ ...rollOut, standing });
    const at = (kind: string, id: string): number =>
      steps.findIndex(
        ({ action }) => action.kind === kind && ("engine" in action ? action.engine.id : "engineId" in action && action.engineId) === id,
      );
    expect(at("verify", dead.id)).toBeGreaterThan(at("stop", dead.id));
    expect(at("drain", serving.id)).toBeGreaterThan(at("verify", dead.id));
    for (const { action } of steps.slice(0, at("verify", dead.id)))
      if ("routing" in action) expect(action.routing.active).toEqual([serving.id]);
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
