import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { JustInTimePolicy, OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "../buildPolicy";
import type { ReplicaView, WaitingWork } from "../core/policy";
import { justInTime } from "../testing/testJustInTime";
import { anyForecast } from "../testing/worldOfContract";

const MODEL = "large";
const SEATS = 4;

const anyTurn = fc.record({
  seconds: fc.integer({ min: 0, max: 8 }).map((quarters) => quarters / 4),
  arrivals: fc.array(fc.record({ inputTokens: fc.integer({ min: 1, max: 1500 }), forecast: fc.option(anyForecast, { nil: undefined }) }), {
    maxLength: 4,
  }),
  /** The requests in flight that end, as indices modulo their number. */
  ends: fc.array(fc.nat(20), { maxLength: 3 }),
  kvUse: fc.double({ min: 0, max: 1, noNaN: true }),
});

// No request ages here: a queue of one model looks for aged requests after each release, rounds once a decision.
const orders: readonly OrderDocument[] = [{ kind: "fcfs" }, { kind: "workflow", agingThreshold: 100_000 }];
const places: readonly PlaceDocument[] = [{ kind: "least-load" }, { kind: "lowest-kv" }, { kind: "time-slots" }];

const selections: readonly JustInTimePolicy["selection"][] = [
  { kind: "beam", width: 4 },
  { kind: "worth", rightSeconds: 0, delayWeight: 1 },
  // With one model a price moves nothing.
  {
    ...{ kind: "worth", rightSeconds: 0, delayWeight: 1 },
    price: { models: [{ model: MODEL, secondsPerToken: 0.5, waiting: 0 }], dampingSeconds: 1 },
  },
];
const cases = selections.flatMap((selection) => orders.flatMap((order) => places.map((place) => ({ selection, order, place }))));

for (const { selection, order, place } of cases)
  it(`rounds over one model send what its own queue sends, in the same order to the same replicas: by ${"price" in selection ? "worth with a price" : selection.kind}, ${order.kind}, ${place.kind}`, () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 40 }), (turns) => {
        const throughput = [
          { batch: 1, tokensPerSecond: 10 },
          { batch: 2 * SEATS, tokensPerSecond: 40 },
        ];
        const models = [{ model: MODEL, cost: 1, saturationBatch: 2 * SEATS, throughput, meanOutputTokens: 100 }];
        const rounds = buildPolicy(justInTime(selection, { models, workflows: [], order, place }));
        const queue = buildPolicy({ kind: "fixed", model: MODEL, order, place });
        let waiting: WaitingWork[] = [];
        const inFlight: { readonly workId: string; readonly replicaId: string }[] = [];
        let [nowSeconds, came] = [0, 0];
        for (const { seconds, arrivals, ends, kvUse } of turns) {
          nowSeconds += seconds;
          for (const arrival of arrivals) {
            const id = `w${came++}`;
            const times = { programArrivalSeconds: nowSeconds, queuedSinceSeconds: nowSeconds };
            const work: WaitingWork = { id, programId: id, stage: 0, ...times, ...arrival, state: { kind: "queued" } };
            waiting.push(work);
            for (const policy of [rounds, queue]) policy.observe({ kind: "queued", work });
          }
          for (const at of ends) {
            const [gone] = inFlight.splice(at % Math.max(1, inFlight.length), 1);
            for (const policy of gone === undefined ? [] : [rounds, queue])
              policy.observe({ kind: "finished", ...(gone as (typeof inFlight)[number]), nowSeconds, failed: false });
          }
          const replicas = ["a", "b"].map(
            (id): ReplicaView => ({
              ...{ id, model: MODEL, maxInFlight: SEATS, accepting: true, kvTokens: 2000 },
              inFlight: inFlight.filter(({ replicaId }) => replicaId === id).length,
              kvUse: { state: "fresh", value: kvUse, ageSeconds: 0 },
              preemptions: { state: "fresh", value: 0, ageSeconds: 0 },
            }),
          );
          const view = { nowSeconds, waiting, replicas };
          const sent = rounds.decide(view).map((action) => (action.kind === "dispatch" ? { ...action, stage: undefined } : action));
          expect(sent).toEqual(queue.decide(view).map((action) => ({ ...action, stage: undefined })));
          expect(rounds.askAgainSeconds?.()).toEqual(queue.askAgainSeconds?.());
          for (const action of sent) {
            if (action.kind !== "dispatch") continue;
            const { workId, replicaId } = action;
            for (const policy of [rounds, queue]) policy.observe({ kind: "dispatched", workId, programId: workId, replicaId, nowSeconds });
            inFlight.push({ workId, replicaId });
            waiting = waiting.filter(({ id }) => id !== workId);
          }
        }
      }),
    );
  });
