import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planConstraintsSchema } from "@/solver/deployment/constraints";
import { writeView } from "../url/useUrlView";
import { type ConstraintsView, constraintsCodec, formatConstraints, noConstraints, parseConstraints } from "./constraintsCodec";

const name = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.oneof(fc.constantFrom(..."*,: ~%+&=é"), fc.string({ minLength: 1, maxLength: 1 })),
});
const many = fc.integer({ min: 1, max: 999_999 });
const constraints = fc.record({
  pinned: fc.array(fc.record({ model: name, replicas: many }), { maxLength: 3 }),
  shapes: fc.array(fc.record({ model: name, tp: many, pp: many }), { maxLength: 3 }),
  excluded: fc.array(name, { maxLength: 3 }),
  nodes: fc.array(
    fc.record(
      { model: name, only: fc.array(name, { minLength: 1, maxLength: 3 }), never: fc.array(name, { maxLength: 3 }) },
      { requiredKeys: ["model", "never"] },
    ),
    { maxLength: 3 },
  ),
  minReplicasPerModel: fc.option(many),
  surviveNodeLoss: fc.boolean(),
  maxUsdPerHour: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }).map((usd) => usd + 0)),
  maxGpus: fc.option(many),
  maxChangedReplicas: fc.option(fc.integer({ min: 0, max: 999_999 })),
  idleGpus: fc.boolean(),
});
const view: fc.Arbitrary<ConstraintsView> = fc.record({
  constraints,
  judge: fc.option(
    fc.record({ model: name, rubricTokens: fc.integer({ min: 0, max: 100_000 }), outputTokens: fc.integer({ min: 1, max: 10_000 }) }),
  ),
  routerAuc: fc.option(fc.double({ min: 0.5, max: 1, noNaN: true })),
});

describe("constraintsCodec", () => {
  it("brings every constraint back from the address, whatever models and nodes are called", () => {
    fc.assert(
      fc.property(view, (asked) => {
        const address = writeView(constraintsCodec, new URLSearchParams(), asked).toString();
        expect(constraintsCodec.parse(new URLSearchParams(address))).toEqual(asked);
      }),
    );
  });

  it("writes only what the planner takes", () => {
    fc.assert(
      fc.property(constraints, (asked) => {
        const parsed = parseConstraints(formatConstraints(asked));
        expect(planConstraintsSchema.parse(parsed)).toEqual(parsed);
      }),
    );
  });

  it("asks for nothing by default, as the planner's empty document does, and then takes no room in the address", () => {
    const untouched = constraintsCodec.parse(new URLSearchParams());
    expect(untouched).toEqual({ constraints: planConstraintsSchema.parse({}), judge: null, routerAuc: null });
    expect(writeView(constraintsCodec, new URLSearchParams(), untouched).toString()).toBe("");
  });

  it("drops what is none rather than failing on a typed address", () => {
    const typed = new URLSearchParams({
      constraints: "pin*a pin*a*0 shape*a*2 without nodes each*x usd* usd*-1 usd*NaN gpus*0 changes*-1 %E0 nothing without*%E0",
      judge: "m*-1*5",
      router: "0.2",
    });
    expect(constraintsCodec.parse(typed)).toEqual(constraintsCodec.parse(new URLSearchParams()));
  });

  it("stays short", () => {
    const line = formatConstraints({ ...noConstraints, excluded: ["llama-3.1-8b"], surviveNodeLoss: true, maxUsdPerHour: 90 });
    expect(line).toBe("without*llama-3.1-8b survive usd*90");
    expect(new URLSearchParams({ constraints: line }).toString()).toBe("constraints=without*llama-3.1-8b+survive+usd*90");
  });
});
