import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { constraintLimits } from "@/solver/plan/constraintLimits";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import {
  type ConstraintsView,
  constraintsCodec,
  formatConstraints,
  noConstraints,
  parseConstraints,
  routerNamed,
} from "./constraintsCodec";

/** Names as the planner takes them, with the characters that mean something in an address. */
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,11}$/);
const many = (max: number) => fc.integer({ min: 1, max });
const { replicas, parallel, gpus, usdPerHour } = constraintLimits;
const constraints = fc.record({
  pinned: fc.uniqueArray(fc.record({ model: name, replicas: many(replicas) }), { maxLength: 3, selector: ({ model }) => model }),
  shapes: fc.uniqueArray(fc.record({ model: name, tp: many(parallel), pp: many(parallel) }), {
    maxLength: 3,
    selector: ({ model }) => model,
  }),
  excluded: fc.uniqueArray(name, { maxLength: 3 }),
  nodes: fc.uniqueArray(
    fc.record(
      { model: name, only: fc.array(name, { minLength: 1, maxLength: 3 }), never: fc.array(name, { maxLength: 3 }) },
      { requiredKeys: ["model", "never"] },
    ),
    { maxLength: 3, selector: (rule) => JSON.stringify(rule) },
  ),
  minReplicasPerModel: fc.option(many(replicas)),
  surviveNodeLoss: fc.boolean(),
  maxUsdPerHour: fc.option(fc.double({ min: 0, max: usdPerHour, noNaN: true }).map((usd) => usd + 0)),
  maxGpus: fc.option(many(gpus)),
  maxChangedReplicas: fc.option(fc.integer({ min: 0, max: replicas })),
  idleGpus: fc.boolean(),
});
const view: fc.Arbitrary<ConstraintsView> = fc.record({
  constraints,
  judge: fc.option(
    fc.record({ model: name, rubricTokens: fc.integer({ min: 0, max: 100_000 }), outputTokens: fc.integer({ min: 1, max: 10_000 }) }),
  ),
  judgeSeconds: fc.option(fc.double({ ...JUDGE_SECONDS_BOUNDS, noNaN: true, noDefaultInfinity: true })),
  router: fc.option(
    fc.oneof(fc.constant("trained" as const), fc.constant(routerNamed("0f".repeat(32))), fc.double({ min: 0.5, max: 1, noNaN: true })),
  ),
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
    expect(untouched).toEqual({ constraints: planConstraintsSchema.parse({}), judge: null, judgeSeconds: null, router: null });
    expect(writeView(constraintsCodec, new URLSearchParams(), untouched).toString()).toBe("");
  });

  it("drops what is none rather than failing on a typed address", () => {
    const typed = new URLSearchParams({
      constraints: "pin*a pin*a*0 shape*a*2 without nodes each*x usd* usd*-1 usd*NaN gpus*0 changes*-1 %E0 nothing without*%E0",
      judge: "m*-1*5",
      "judge-seconds": "-1",
      router: "0.2",
    });
    expect(constraintsCodec.parse(typed)).toEqual(constraintsCodec.parse(new URLSearchParams()));
  });

  it("drops what is larger than the planner takes, and what is said twice", () => {
    const line = `pin*a*${replicas + 1} shape*a*${parallel + 1}*1 each*${replicas + 1} usd*${usdPerHour + 1} gpus*${gpus + 1} changes*${replicas + 1}`;
    expect(parseConstraints(line)).toEqual(noConstraints);
    expect(parseConstraints("without*a without*a pin*b*1 pin*b*2 nodes*b*n*  nodes*b*n*")).toEqual(
      parseConstraints("without*a pin*b*1 nodes*b*n*"),
    );
  });

  it("stays short", () => {
    const line = formatConstraints({ ...noConstraints, excluded: ["llama-3.1-8b"], surviveNodeLoss: true, maxUsdPerHour: 90 });
    expect(line).toBe("without*llama-3.1-8b survive usd*90");
    expect(new URLSearchParams({ constraints: line }).toString()).toBe("constraints=without*llama-3.1-8b+survive+usd*90");
  });
});
