import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { ReplicaView, WaitingWork } from "../core/policy";
import type { Place } from "../core/policyParts";
import { declared, justInTime, selections } from "../testing/testJustInTime";
import { MOST_PASSES } from "../waiting/heldWork";
import { choosingRounds } from "./choosingRounds";

const SEATS = 4;
const single = declared("single", [{ name: "only" }]);
const MODELS = ["small", "medium", "large"];

/** Sends work to a replica with a free seat; large work to an idle one only. */
const roomy: Place = {
  kind: "roomy",
  needs: [],
  choose: ({ inFlight, capacity }, { inputTokens }) =>
    inFlight.findIndex((held, at) => held < (capacity[at] ?? 0) && (inputTokens < 100 || held === 0)),
  askAgainSeconds: (nowSeconds) => nowSeconds + 1,
};

const callOf = (id: string, inputTokens: number, models: number): WaitingWork => ({
  ...{ id, programId: id, stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens, state: { kind: "queued" } },
  ...{ call: { workflow: "single", agent: "only" }, accurate: Uint32Array.of(models) },
});

for (const selection of [
  ...selections,
  { kind: "worth", rightSeconds: 0, delayWeight: 0 } as const,
  { kind: "worth", rightSeconds: 0, delayWeight: 8 } as const,
].filter(({ kind }) => kind !== "fixed"))
  it(`work that several models hold back goes after a bounded number of later calls: ${JSON.stringify(selection)}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ arrives: fc.integer({ min: 1, max: 7 }), ends: fc.array(fc.nat(MODELS.length - 1), { minLength: 1 }) }), {
          minLength: 150,
          maxLength: 150,
        }),
        (steps) => {
          const rounds = choosingRounds(justInTime(selection, { workflows: [{ workflow: single }] }), {
            ...{ order: { kind: "fcfs", needs: [] }, place: roomy, route: null },
          });
          const inFlight = MODELS.map(() => SEATS - 1);
          let waiting: WaitingWork[] = [callOf("large", 100, 0b111)];
          const since = MODELS.map(() => 0);
          let [passes, due] = [0, false];
          for (const [at, { arrives, ends }] of steps.entries()) {
            for (const model of ends) inFlight[model] = Math.max(0, (inFlight[model] ?? 0) - 1);
            waiting.push(callOf(`${at}`, 1, arrives));
            const replicas = MODELS.map(
              (model, index): ReplicaView => ({
                ...{ id: model, model, inFlight: inFlight[index] ?? 0, maxInFlight: SEATS, accepting: true },
                kvUse: { state: "absent" },
              }),
            );
            const actions: Parameters<typeof rounds.dispatch>[1] = [];
            rounds.dispatch({ nowSeconds: at, waiting, replicas }, actions);
            const sent = actions.flatMap((action) => (action.kind === "dispatch" ? [action] : []));
            for (const { replicaId } of sent) inFlight[MODELS.indexOf(replicaId)] = (inFlight[MODELS.indexOf(replicaId)] ?? 0) + 1;
            waiting = waiting.filter(({ id }) => !sent.some(({ workId }) => workId === id));
            if (sent.some(({ workId }) => workId === "large")) return;
            if (due) {
              // Its kept replica gets no other call: each end there brings it nearer.
              for (const { replicaId } of sent) since[MODELS.indexOf(replicaId)] = 1;
              expect(since).toContain(0);
              continue;
            }
            passes += sent.length;
            due = [...(rounds.due?.() ?? [])].includes("large");
            expect(passes).toBeLessThanOrEqual(MOST_PASSES + MODELS.length * SEATS);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
