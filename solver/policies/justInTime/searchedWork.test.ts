import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "../buildPolicy";
import type { Action, Policy, ReplicaView, WaitingWork } from "../core/policy";
import { justInTime } from "../testing/testJustInTime";

/** One agent, which may use either model: one configuration for each. */
const single = workflowDocumentSchema.parse({ name: "single", agents: [{ name: "solver" }] });
const throughput = [
  { batch: 1, tokensPerSecond: 10 },
  { batch: 4, tokensPerSecond: 40 },
];
const models = [
  { model: "small", cost: 1, saturationBatch: 4, throughput, meanOutputTokens: 100 },
  { model: "large", cost: 3, saturationBatch: 4, throughput, meanOutputTokens: 100 },
];
const BOTH = Uint32Array.of(0b11);

const selections: readonly JustInTimePolicy["selection"][] = [
  { kind: "beam", width: 4 },
  { kind: "exhaustive" },
  { kind: "cheapest" },
  { kind: "quickest", when: "arrival" },
  { kind: "worth", rightSeconds: 0, delayWeight: 1 },
];

const policyOf = (selection: JustInTimePolicy["selection"]): Policy =>
  buildPolicy(justInTime(selection, { models, workflows: [{ workflow: single }] }));

const replicas = (room: number): readonly ReplicaView[] =>
  models.map(({ model }) => ({
    ...{ id: model, model, inFlight: 4 - room, maxInFlight: 4, accepting: true },
    kvUse: { state: "absent" },
  }));

const workOf = (id: string, at: number, searching: boolean): WaitingWork => ({
  ...{ id, programId: id, stage: 1, programArrivalSeconds: at, queuedSinceSeconds: at, inputTokens: 100 },
  ...{ call: { workflow: "single", agent: "solver" }, state: { kind: "queued" } },
  ...(searching ? { searching: true } : { accurate: BOTH }),
});

const sent = (actions: readonly Action[]): readonly string[] =>
  actions.flatMap((action) => (action.kind === "dispatch" ? [action.workId] : []));

for (const selection of selections) {
  const name = selection.kind === "quickest" ? `${selection.kind} at ${selection.when}` : selection.kind;

  it(`work whose search still runs is not sent and bars nobody: ${name}`, () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), (searching) => {
        const policy = policyOf(selection);
        const waiting = searching.map((runs, at) => workOf(`w${at}`, at, runs));
        for (const work of waiting) policy.observe({ kind: "queued", work });
        const known = waiting.filter((work) => work.searching !== true).map(({ id }) => id);
        expect(sent(policy.decide({ nowSeconds: 10, waiting, replicas: replicas(4) })).toSorted()).toEqual(known);
      }),
    );
  });

  it(`work keeps its turn while its search runs, and goes where one goes that was searched before it came: ${name}`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), (count, room) => {
        const [beside, before] = [policyOf(selection), policyOf(selection)];
        const searched = Array.from({ length: count }, (_, at) => workOf(`w${at}`, at, false));
        const waiting = searched.map(({ accurate: _, ...work }): WaitingWork => ({ ...work, searching: true }));
        for (const work of waiting) beside.observe({ kind: "queued", work });
        for (const work of searched) before.observe({ kind: "queued", work });
        expect(beside.decide({ nowSeconds: 10, waiting, replicas: replicas(0) })).toEqual([]);
        // The searches end in the opposite order.
        for (const work of waiting.toReversed()) {
          Object.assign(work, { accurate: BOTH, searching: undefined });
          beside.observe({ kind: "searched", work });
        }
        const view = { nowSeconds: 11, replicas: replicas(room) };
        expect(beside.decide({ ...view, waiting })).toEqual(before.decide({ ...view, waiting: searched }));
      }),
    );
  });
}

it("work of which nothing is found goes to the largest model", () => {
  const policy = policyOf({ kind: "beam", width: 4 });
  const work = workOf("w", 0, true);
  policy.observe({ kind: "queued", work });
  Object.assign(work, { searching: undefined });
  policy.observe({ kind: "searched", work });
  expect(policy.decide({ nowSeconds: 1, waiting: [work], replicas: replicas(4) })).toMatchObject([
    { kind: "dispatch", replicaId: "large" },
  ]);
});
