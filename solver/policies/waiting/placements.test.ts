import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitingList } from "@/solver/cluster/waitingList";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import { MOST_HELD, type Policy, type Reading, type ReplicaView, type WaitingWork } from "../core/policy";
import type { Order, Slots } from "../core/policyParts";
import { jointPolicy } from "../jointPolicy";
import { fcfsOrder } from "../orders/fcfsOrder";
import { workflowOrder } from "../orders/workflowOrder";
import { roundRobinPlace } from "../places/roundRobinPlace";
import { timeSlotsPlace } from "../places/timeSlotsPlace";
import { fixedRoute } from "../routes/fixedRoute";
import { MOST_PASSES } from "./heldWork";

const MODEL = "m";
const KV_TOKENS = 2000;
const route = fixedRoute({ model: MODEL });
const fresh = (value: number): Reading => ({ state: "fresh", value, ageSeconds: 0 });

const agents = ["app/a", "app/b", "app/c"] as const;
type Distances = readonly number[];

const forecastOf = (agent: number, distances: Distances): AgentForecast => ({
  agent: agents[agent] ?? "",
  distanceSeconds: distances[agent] ?? 0,
  remainingCalls: 1,
  requestSeconds: 1 + agent,
  tokensPerSecond: 30,
});

interface Turn {
  readonly seconds: number;
  readonly arrivals: readonly { readonly agent: number; readonly inputTokens: number; readonly startedAgo: number }[];
  /** Requests in flight that end, as indices modulo their number. */
  readonly ends: readonly number[];
  /** The agents' distances from now on. */
  readonly distances: Distances;
}

const anyTurn = (mostTokens: number): fc.Arbitrary<Turn> =>
  fc.record({
    seconds: fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4),
    arrivals: fc.array(fc.record({ agent: fc.nat(2), inputTokens: fc.integer({ min: 1, max: mostTokens }), startedAgo: fc.nat(9) }), {
      maxLength: 6,
    }),
    ends: fc.array(fc.nat(20), { maxLength: 4 }),
    distances: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 3 }),
  });

interface InFlight {
  readonly workId: string;
  readonly replicaId: string;
}

interface Decided {
  readonly nowSeconds: number;
  /** What waited, in order of arrival, with the forecasts in force. */
  readonly waiting: readonly WaitingWork[];
  readonly sent: readonly InFlight[];
  readonly inFlight: readonly InFlight[];
  readonly replicas: readonly ReplicaView[];
}

/** Drives a policy over turns as a driver that shows it everything does; `seen` is called after each decision. */
function drive(policy: Policy, turns: readonly Turn[], { replicas: count = 1, seats = 6, seen = (_: Decided): void => undefined }): void {
  let waiting: (WaitingWork & { readonly agent: number })[] = [];
  let inFlight: InFlight[] = [];
  let [nowSeconds, came] = [0, 0];
  for (const { seconds, arrivals, ends, distances } of turns) {
    nowSeconds += seconds;
    for (const at of ends) {
      const gone = inFlight[at % Math.max(1, inFlight.length)];
      inFlight = inFlight.filter((one) => one !== gone);
      if (gone !== undefined) policy.observe({ kind: "finished", ...gone, nowSeconds, failed: false });
    }
    for (const { agent, inputTokens, startedAgo } of arrivals) {
      const id = `w${came++}`;
      const times = { programArrivalSeconds: nowSeconds - startedAgo, queuedSinceSeconds: nowSeconds };
      const work = { id, programId: id, stage: 0, agent, inputTokens, ...times, state: { kind: "queued" } as const };
      waiting.push(work);
      policy.observe({ kind: "queued", work });
    }
    waiting = waiting.map((work) => ({ ...work, forecast: forecastOf(work.agent, distances) }));
    const replicas = Array.from({ length: count }, (_, at): ReplicaView => {
      const id = `r${at}`;
      const held = inFlight.filter(({ replicaId }) => replicaId === id).length;
      const memory = { kvUse: fresh(0.5), kvTokens: KV_TOKENS, preemptions: fresh(0) };
      return { id, model: MODEL, inFlight: held, maxInFlight: seats, accepting: true, ...memory };
    });
    const sent = policy
      .decide({ nowSeconds, waiting, replicas })
      .flatMap((action) => (action.kind === "dispatch" ? [{ workId: action.workId, replicaId: action.replicaId }] : []));
    inFlight = [...inFlight, ...sent];
    for (const one of sent) policy.observe({ kind: "dispatched", programId: one.workId, nowSeconds, ...one });
    const before = waiting;
    waiting = waiting.filter(({ id }) => !sent.some(({ workId }) => workId === id));
    seen({ nowSeconds, waiting: before, sent, inFlight, replicas });
  }
}

/** From scratch: by distance, then by the beginning of the program, then by arrival. */
const inOrder = (waiting: readonly WaitingWork[]): readonly WaitingWork[] =>
  [...waiting].sort(
    (a, b) => (a.forecast?.distanceSeconds ?? 0) - (b.forecast?.distanceSeconds ?? 0) || a.programArrivalSeconds - b.programArrivalSeconds,
  );

const slotsOf = (replicas: readonly ReplicaView[], inFlight: readonly InFlight[]): Slots => ({
  model: MODEL,
  replicaIds: replicas.map(({ id }) => id),
  inFlight: Int32Array.from(replicas, ({ id }) => inFlight.filter(({ replicaId }) => replicaId === id).length),
  capacity: Int32Array.from(replicas, ({ maxInFlight }) => maxInFlight),
  kvUse: replicas.map(({ kvUse }) => kvUse),
  kvTokens: replicas.map(({ kvTokens = null }) => kvTokens),
  preemptions: replicas.map(({ preemptions = { state: "absent" } }) => preemptions),
});

const never = 1_000_000;
const orders: readonly Order[] = [workflowOrder({ agingThreshold: never }), fcfsOrder];

describe("work that waits while what is known of its agents changes", () => {
  it("leaves in the order of a sort from scratch by the forecasts in force, at every decision", () => {
    fc.assert(
      fc.property(fc.array(anyTurn(100), { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (turns, seats) => {
        const policy = jointPolicy({ route, order: workflowOrder({ agingThreshold: never }), place: roundRobinPlace() });
        drive(policy, turns, {
          seats,
          seen: ({ waiting, sent }) =>
            expect(sent.map(({ workId }) => workId)).toEqual(
              inOrder(waiting)
                .slice(0, sent.length)
                .map(({ id }) => id),
            ),
        });
      }),
      { numRuns: 50 },
    );
  });

  it("is shown by the simulator's list as far as the policy reads it, so that both decide alike", () => {
    fc.assert(
      fc.property(fc.array(anyTurn(900), { maxLength: 30 }), fc.constantFrom(...orders), (turns, order) => {
        const build = () => jointPolicy({ route, order, place: timeSlotsPlace() });
        const [whole, partly] = [build(), build()];
        const list = new WaitingList(partly);
        const known = new Set<string>();
        const both: Policy = {
          ...whole,
          observe(event) {
            for (const policy of [whole, partly]) policy.observe(event);
          },
        };
        drive(both, turns, {
          replicas: 2,
          seen: ({ nowSeconds, waiting, sent, replicas }) => {
            for (const work of waiting) if (!known.has(work.id)) list.add({ ...work });
            for (const { id } of waiting) known.add(id);
            list.reforecast((id) => waiting.find((work) => work.id === id)?.forecast);
            const actions = partly.decide({ nowSeconds, waiting: list.shown(replicas), replicas });
            list.remove(actions);
            expect(actions.map((action) => action.workId)).toEqual(sent.map(({ workId }) => workId));
          },
        });
      }),
      { numRuns: 40 },
    );
  });
});

describe("work that the memory of no replica has room for", () => {
  it("blocks nothing that fits, as far as a decision looks", () => {
    fc.assert(
      fc.property(fc.array(anyTurn(1500), { maxLength: 40 }), fc.constantFrom(...orders), (turns, order) => {
        const place = timeSlotsPlace();
        const policy = jointPolicy({ route, order, place });
        drive(policy, turns, {
          replicas: 3,
          seen: ({ nowSeconds, waiting, sent, inFlight, replicas }) => {
            const left = waiting.filter(({ id }) => !sent.some(({ workId }) => workId === id));
            if (left.length > MOST_HELD || [...(policy.due?.() ?? [])].length > 0) return;
            const slots = slotsOf(replicas, inFlight);
            for (const work of left) expect(place.memoryPlan?.().choose(slots, work, nowSeconds)).toBe(-1);
          },
        });
      }),
      { numRuns: 50 },
    );
  });

  it("is passed over a bounded number of times, and then goes when its only replica has ended what it had", () => {
    const large = { agent: 2, inputTokens: 1900, startedAgo: 0 };
    const small = { agent: 0, inputTokens: 300, startedAgo: 0 };
    const anyStep = fc.record({
      arrivals: fc.array(fc.constantFrom(small, small, small, large), { minLength: 1, maxLength: 3 }),
      ends: fc.array(fc.nat(20), { minLength: 1, maxLength: 2 }),
      distances: fc.constantFrom([5, 5, 1], [1, 5, 9]),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 60, maxLength: 120 }), (steps) => {
        const policy = jointPolicy({ route, order: workflowOrder({ agingThreshold: never }), place: timeSlotsPlace() });
        const passes = new Map<string, number>();
        let due: readonly string[] = [];
        drive(
          policy,
          steps.map((step) => ({ ...step, seconds: 0 })),
          {
            seen: ({ waiting, sent, inFlight }) => {
              const rank = new Map(inOrder(waiting).map(({ id }, at) => [id, at]));
              const isSent = new Set(sent.map(({ workId }) => workId));
              for (const { id } of waiting) {
                const own = rank.get(id) ?? 0;
                const later = sent.filter(({ workId }) => !due.includes(workId) && (rank.get(workId) ?? 0) > own).length;
                if (isSent.has(id)) passes.delete(id);
                else passes.set(id, (passes.get(id) ?? 0) + later);
              }
              for (const count of passes.values()) expect(count).toBeLessThanOrEqual(MOST_PASSES);
              const [first] = due;
              if (first !== undefined && inFlight.length === sent.length) expect(isSent.has(first)).toBe(true);
              due = [...(policy.due?.() ?? [])];
            },
          },
        );
      }),
      { numRuns: 30 },
    );
  });
});
