import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Policy, ReplicaView, WaitingWork } from "../core/policy";
import { forecastOf } from "./worldOfContract";

interface AgingUnderTest {
  readonly build: () => Policy;
  readonly agingThreshold: number;
}

/** The arrivals and the possible releases between two decisions. */
interface Turn {
  readonly seconds: number;
  /** Predicted tokens of the requests that arrive. */
  readonly arrivals: readonly number[];
  readonly room: number;
}

interface Waiter {
  readonly work: WaitingWork;
  /** Number of waiting requests when it joined. */
  readonly ahead: number;
  passes: number;
}

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  seconds: fc.integer({ min: 0, max: 2 }),
  arrivals: fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 12 }),
  room: fc.integer({ min: 0, max: 5 }),
});

/** The guarantees of a policy that prefers some work to older work, in addition to the contract of all policies. */
export function agingContract({ build, agingThreshold }: AgingUnderTest): void {
  it("lets at most S + n releases pass over work that n waited before, whatever arrives", () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 80 }), (turns) => {
        for (const { ahead, passes } of passesOf(build(), turns)) expect(passes).toBeLessThanOrEqual(agingThreshold + ahead);
      }),
    );
  });

  it("releases long work within the bound under endless bursts of ever shorter work", () => {
    const long = { seconds: 0, arrivals: [1_000_000, 1_000_000, 1_000_000], room: 0 };
    const burst = { seconds: 1, arrivals: Array.from({ length: 20 }, (_, index) => 20 - index), room: 1 };
    const releases = agingThreshold + 3;
    const waiters = passesOf(build(), [long, ...Array.from({ length: releases }, () => burst)]);
    expect(waiters.filter(({ work, left }) => work.predictedTokens === 1_000_000 && left)).toHaveLength(3);
  });
}

/** Every request of the turns with the releases that passed over it in the first model's queue. */
function passesOf(policy: Policy, turns: readonly Turn[]): (Waiter & { readonly left: boolean })[] {
  const all: Waiter[] = [];
  let waiting: Waiter[] = [];
  let nowSeconds = 0;
  for (const { seconds, arrivals, room } of turns) {
    nowSeconds += seconds;
    for (const predictedTokens of arrivals) {
      const waiter = { work: queuedWork(all.length, { predictedTokens, nowSeconds }), ahead: waiting.length, passes: 0 };
      policy.observe({ kind: "queued", work: waiter.work });
      all.push(waiter);
      waiting.push(waiter);
    }
    for (const action of policy.decide({ nowSeconds, waiting: waiting.map(({ work }) => work), replicas: [withRoom(policy, room)] })) {
      if (action.kind !== "dispatch") continue;
      const { workId, replicaId } = action;
      const released = waiting.find(({ work }) => work.id === workId);
      waiting = waiting.filter((waiter) => waiter !== released);
      for (const waiter of waiting) waiter.passes += 1;
      policy.observe({ kind: "dispatched", workId, programId: released?.work.programId ?? "", replicaId, nowSeconds });
      policy.observe({ kind: "finished", workId, replicaId, nowSeconds: nowSeconds + 1, failed: false });
    }
  }
  return all.map((waiter) => ({ ...waiter, left: !waiting.includes(waiter) }));
}

function queuedWork(index: number, { predictedTokens, nowSeconds }: { predictedTokens: number; nowSeconds: number }): WaitingWork {
  return {
    id: `w${index}`,
    // Long work is of programs that were served before, so that orders by service received put it last as well.
    programId: predictedTokens > 500 ? `long${index % 3}` : `w${index}`,
    stage: 0,
    programArrivalSeconds: nowSeconds,
    queuedSinceSeconds: nowSeconds,
    inputTokens: 10,
    predictedTokens,
    forecast: forecastOf(predictedTokens),
    state: { kind: "queued" },
  };
}

const withRoom = (policy: Policy, room: number): ReplicaView => ({
  id: "r",
  model: policy.modelOfStage(0),
  inFlight: 8 - room,
  maxInFlight: 8,
  accepting: true,
  kvUse: { state: "absent" },
});
