import * as fc from "fast-check";
import { it } from "vitest";
import type { OrderDocument, PlaceDocument, SinglesPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "../buildPolicy";
import { anyTurn, expectSameDecisions, MODELS, routes, SEATS, type Singles } from "../testing/drivenPolicies";
import { justInTime } from "../testing/testJustInTime";

// No request ages here: a queue of one model looks for aged requests after each release, rounds once a decision.
const orders: readonly OrderDocument[] = [
  { kind: "stjf", agingThreshold: 10_000 },
  { kind: "workflow", agingThreshold: 10_000 },
];
const places: readonly PlaceDocument[] = [{ kind: "least-load" }, { kind: "time-slots" }];

const beam = { kind: "beam", width: 4 } as const;
const worth = { kind: "worth", rightSeconds: 0, delayWeight: 1 } as const;
const price = { models: MODELS.map((model, at) => ({ model, secondsPerToken: 0.1 * (at + 1), waiting: at })), dampingSeconds: 1 };
const queueings = orders.flatMap((order) => places.map((place) => ({ order, place })));
const cases = [
  ...Object.entries(routes).flatMap(([name, singles]) => queueings.map((queueing) => ({ name, singles, selection: beam, ...queueing }))),
  // With one candidate each, worth has nothing to choose.
  ...queueings.map((queueing) => ({ name: "one model, by worth", singles: routes["one model"] as Singles, selection: worth, ...queueing })),
  ...queueings.map((queueing) => ({
    ...{ name: "one model, by worth at prices", singles: routes["one model"] as Singles, selection: { ...worth, price }, ...queueing },
  })),
];

for (const { name, singles, selection, order, place } of cases)
  it(`rounds whose single requests have a route decide as that route's own policy: ${name}, ${order.kind}, ${place.kind}`, () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 25 }), (turns) => {
        const throughput = [
          { batch: 1, tokensPerSecond: 10 },
          { batch: 2 * SEATS, tokensPerSecond: 40 },
        ];
        const models = MODELS.map((model) => ({ model, cost: 1, saturationBatch: 2 * SEATS, throughput, meanOutputTokens: 100 }));
        const rounds = buildPolicy(justInTime(selection, { models, workflows: [], order, place, singles }));
        const own = buildPolicy({ ...singles, order, place } as SinglesPolicy);
        expectSameDecisions(turns, [rounds, own]);
      }),
      { numRuns: 60 },
    );
  });
