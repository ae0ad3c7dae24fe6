import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityDip } from "../preview/planDiff";
import { type PlannedStep, planSteps, type RollOut } from "../steps/planSteps";
import { between, carryOut, deployment, engine, kinds, touched } from "../testing/testRollOuts";

/** Existing engines, and two plans over some of them. */
const given = fc.record({ attached: deployment, before: fc.nat(), after: fc.nat() }).map(({ attached, before, after }) => {
  const chosen = (bits: number) => attached.filter((_, index) => ((bits >> index) & 1) === 1);
  const rollOut = between(chosen(before), chosen(after));
  return { ...rollOut, standing: attached.map((one) => ({ ...one, stopping: false })), topology: "given" as const };
});

describe("planSteps where the topology is given", () => {
  const wanted = (rollOut: RollOut) => rollOut.target.engines.map((one) => one.id).sort();

  it("starts and stops nothing, and ends with requests going to the target's engines alone", () => {
    fc.assert(
      fc.property(given, (rollOut) => {
        const steps = planSteps(rollOut);
        expect(kinds(steps).filter((kind) => !["verify", "switch-policy", "drain"].includes(kind))).toEqual([]);
        const end = carryOut(rollOut, steps);
        expect(end.standing).toEqual(rollOut.standing.map((one) => one.id).sort());
        expect([...end.routing.active].sort()).toEqual(wanted(rollOut));
        expect(end.routing.cordoned).toEqual([]);
        expect(end.served.every(Boolean)).toBe(true);
        if (rollOut.target.planId !== null) expect(capacityDip(rollOut, steps)).toBe(0);
      }),
    );
  });

  it("touches no engine that both plans share, and none that neither has", () => {
    fc.assert(
      fc.property(given, (rollOut) => {
        const before = new Set(rollOut.routing.active);
        const after = new Set(wanted(rollOut));
        const left = rollOut.standing.map(({ id }) => id).filter((id) => before.has(id) === after.has(id));
        expect(touched(planSteps(rollOut)).filter((id) => left.includes(id))).toEqual([]);
      }),
    );
  });

  it("takes an engine off the gateway's list only once it is cordoned and has nothing in flight", () => {
    fc.assert(
      fc.property(given, (rollOut) => {
        const drained = new Set<string>();
        let { routing } = rollOut;
        for (const { action } of planSteps(rollOut)) {
          if (!("routing" in action)) continue;
          const now = [...action.routing.active, ...action.routing.cordoned];
          for (const id of [...routing.active, ...routing.cordoned]) expect(now.includes(id) || drained.has(id)).toBe(true);
          if (action.kind === "drain") {
            expect(action.routing.cordoned).toContain(action.engineId);
            drained.add(action.engineId);
          }
          routing = action.routing;
        }
      }),
    );
  });

  it("can be planned anew from wherever it was cut off, and then ends the same; done, there is nothing to do", () => {
    fc.assert(
      fc.property(given, fc.nat(), (rollOut, cut) => {
        const steps = planSteps(rollOut);
        const after = (done: readonly PlannedStep[]): RollOut => {
          const routing = done.reduce((found, { action }) => ("routing" in action ? action.routing : found), rollOut.routing);
          return { ...rollOut, routing, inForce: routing.planId === rollOut.target.planId ? rollOut.target : rollOut.inForce };
        };
        const again = after(steps.slice(0, steps.length === 0 ? 0 : cut % (steps.length + 1)));
        expect([...carryOut(again, planSteps(again)).routing.active].sort()).toEqual(wanted(rollOut));
        expect(planSteps(after(steps))).toEqual([]);
      }),
    );
  });

  it("asks for an engine that is not attached before it routes anything, so that the roll-out fails there", () => {
    const steps = planSteps({ ...between([engine("a", [0])], [engine("a", [0]), engine("b", [1])]), topology: "given" });
    expect(steps[0]?.action).toMatchObject({ kind: "verify", engineId: engine("b", [1]).id });
  });

  it("verifies, switches, drains and lets go, in that order", () => {
    const [a, b] = [engine("a", [0]), engine("b", [1])];
    const standing = [a, b].map((one) => ({ ...one, stopping: false }));
    expect(kinds(planSteps({ ...between([a], [b]), standing, topology: "given" }))).toEqual([
      "verify",
      "switch-policy",
      "drain",
      "switch-policy",
    ]);
  });
});
