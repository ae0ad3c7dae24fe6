import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Policy, ReplicaView, View, WaitingWork } from "../core/policy";
import { anyForecast, anyView, roomAndWork } from "./worldOfContract";

interface HoldingUnderTest {
  readonly build: () => Policy;
  /** The model that serves a request of each stage. */
  readonly models: readonly string[];
}

interface Turn {
  readonly seconds: number;
  readonly arrivals: readonly Pick<WaitingWork, "inputTokens" | "forecast">[];
  /** The requests in flight that end, as indices modulo their number. */
  readonly ends: readonly number[];
  readonly preemptions: number;
  readonly kvUse: number;
}

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  seconds: fc.integer({ min: 0, max: 8 }).map((quarters) => quarters / 4),
  arrivals: fc.array(fc.record({ inputTokens: fc.integer({ min: 1, max: 1500 }), forecast: fc.option(anyForecast, { nil: undefined }) }), {
    maxLength: 4,
  }),
  ends: fc.array(fc.nat(20), { maxLength: 3 }),
  preemptions: fc.nat(1),
  kvUse: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** The guarantees of a policy that may hold work back although there is room, in addition to the contract of all policies. */
export function holdingContract({ build, models }: HoldingUnderTest): void {
  it("sends something to every replica with room that has none of its work, and says when to ask again where it holds the rest back", () => {
    fc.assert(
      fc.property(anyView(models), (view) => {
        const policy = build();
        const actions = policy.decide(view);
        let holds = false;
        for (const model of new Set(models)) {
          const { room, roomy, queued, sent } = roomAndWork(view, { models, model, actions });
          expect(sent).toBeLessThanOrEqual(Math.min(room, queued));
          expect(sent).toBeGreaterThanOrEqual(Math.min(roomy, queued));
          holds ||= sent < Math.min(room, queued);
        }
        const again = policy.askAgainSeconds?.() ?? null;
        if (holds) expect(again).toBeGreaterThan(view.nowSeconds);
        else expect(again).toBeNull();
      }),
    );
  });

  it("loses nothing, sends nothing twice and holds nothing for ever while what is in flight keeps ending", () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 30 }), (turns) => {
        const came = turns.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
        const sent = sentIn(build(), models[0] ?? "", turns);
        expect(new Set(sent).size).toBe(sent.length);
        expect(sent).toHaveLength(came);
      }),
    );
  });

  it("changes nothing by saying what it expects of the memory, and does next what it said", () => {
    fc.assert(
      fc.property(anyView(models), anyView(models), (first, second) => {
        const [asked, other] = [build(), build()];
        expect(asked.decide(first)).toEqual(other.decide(first));
        const forecast = asked.memory?.(second);
        expect(asked.memory?.(second)).toEqual(forecast);
        const actions = asked.decide(second);
        expect(actions).toEqual(other.decide(second));
        // Which model a request waits for is decided by a round alone.
        if (asked.choosesModel) return;
        for (const model of new Set(models)) {
          const queued = new Set(second.waiting.filter((work) => models[work.stage] === model).map(({ id }) => id));
          const next = forecast?.next.filter(({ workId }) => queued.has(workId)) ?? [];
          const sent = actions.flatMap((action) => (action.kind === "dispatch" && queued.has(action.workId) ? [action] : []));
          const ids = next.filter(({ replicaId }) => replicaId !== null).map(({ workId, replicaId }) => ({ workId, replicaId }));
          expect(ids).toEqual(sent.slice(0, ids.length).map(({ workId, replicaId }) => ({ workId, replicaId })));
          if (next.length < 10) expect(ids).toHaveLength(sent.length);
        }
      }),
    );
  });
}

/** Drives a policy over the turns with two small replicas of a model, then ends one request a second; returns those sent. */
function sentIn(policy: Policy, model: string, turns: readonly Turn[]): readonly string[] {
  const sent: string[] = [];
  let waiting: WaitingWork[] = [];
  const inFlight: { readonly workId: string; readonly replicaId: string }[] = [];
  let [nowSeconds, preemptions, came] = [0, 0, 0];
  const decide = (kvUse: number): void => {
    const view: View = { nowSeconds, waiting, replicas: ["a", "b"].map((id) => replicaOf(id, { kvUse, preemptions })) };
    for (const action of policy.decide(view)) {
      if (action.kind !== "dispatch") continue;
      const { workId, replicaId } = action;
      const programId = waiting.find(({ id }) => id === workId)?.programId ?? "";
      policy.observe({ kind: "dispatched", workId, programId, replicaId, nowSeconds });
      inFlight.push({ workId, replicaId });
      sent.push(workId);
      waiting = waiting.filter(({ id }) => id !== workId);
    }
  };
  const replicaOf = (id: string, memory: { readonly kvUse: number; readonly preemptions: number }): ReplicaView => ({
    id,
    model,
    inFlight: inFlight.filter(({ replicaId }) => replicaId === id).length,
    maxInFlight: 4,
    accepting: true,
    kvUse: { state: "fresh", value: memory.kvUse, ageSeconds: 0 },
    kvTokens: 2000,
    preemptions: { state: "fresh", value: memory.preemptions, ageSeconds: 0 },
  });
  const end = (at: number): void => {
    const [gone] = inFlight.splice(at % inFlight.length, 1);
    if (gone !== undefined) policy.observe({ kind: "finished", ...gone, nowSeconds, failed: false });
  };
  for (const turn of turns) {
    nowSeconds += turn.seconds;
    preemptions += turn.preemptions;
    for (const arrival of turn.arrivals) {
      const id = `w${came++}`;
      const times = { programArrivalSeconds: nowSeconds, queuedSinceSeconds: nowSeconds };
      const work: WaitingWork = { id, programId: id, stage: 0, ...times, ...arrival, state: { kind: "queued" } };
      waiting.push(work);
      policy.observe({ kind: "queued", work });
    }
    for (const at of turn.ends) if (inFlight.length > 0) end(at);
    decide(turn.kvUse);
  }
  for (let left = came + inFlight.length; left > 0; left -= 1) {
    nowSeconds += 1;
    preemptions += 1;
    if (inFlight.length > 0) end(0);
    decide(1);
  }
  return sent;
}
