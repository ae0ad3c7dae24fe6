import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noConstraints } from "../address/constraintsCodec";
import { type ModelRule, ruleOf, withRule } from "./modelRules";

const nodes = fc.uniqueArray(fc.constantFrom("n1", "n2", "n3"), { minLength: 1 });
const placed = fc.oneof(
  fc.constant({ where: "any" as const, nodes: [] }),
  fc.record({ where: fc.constantFrom("only" as const, "never" as const), nodes }),
);
const shape = fc.option(fc.record({ tp: fc.constantFrom(1, 2, 4, 8), pp: fc.constantFrom(1, 2) }));
const rule: fc.Arbitrary<ModelRule> = fc
  .record({ replicas: fc.integer({ min: 0, max: 9 }), shape, placed })
  .map(({ placed: { where, nodes }, ...rest }) => ({ used: true, ...rest, where, nodes }));

describe("the rule of a model", () => {
  it("comes back as it was set, and leaves other models' rules alone", () => {
    fc.assert(
      fc.property(rule, rule, (small, large) => {
        const both = withRule(withRule(noConstraints, "small", small), "large", large);
        expect(ruleOf(both, "small")).toEqual(small);
        expect(ruleOf(both, "large")).toEqual(large);
      }),
    );
  });

  it("asks for nothing when nothing is set", () => {
    expect(withRule(noConstraints, "small", ruleOf(noConstraints, "small"))).toEqual(noConstraints);
  });

  it("of a model that is not used is that alone, so that no two rules of one row conflict", () => {
    fc.assert(
      fc.property(rule, (asked) => {
        const without = withRule(withRule(noConstraints, "small", asked), "small", { ...asked, used: false });
        expect(without).toEqual({ ...noConstraints, excluded: ["small"] });
      }),
    );
  });
});
