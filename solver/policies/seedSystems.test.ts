import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Confidence } from "@/solver/ensemble/gate/ensembleDocument";
import { decideGate, type Vote } from "@/solver/ensemble/gate/gate";
import type { BalancedPolicy, JustInTimePolicy, SinglesPolicy } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { buildPolicy } from "./buildPolicy";
import type { Policy, ReplicaView, WaitingWork } from "./core/policy";
import type { Place, Route } from "./core/policyParts";
import { orderOf } from "./orders/orderOf";
import { leastLoadPlace } from "./places/leastLoadPlace";
import { timeSlotsPlace } from "./places/timeSlotsPlace";
import { balancedRoute } from "./routes/balancedRoute";
import { cascadeRoute } from "./routes/cascadeRoute";
import { fixedRoute } from "./routes/fixedRoute";
import { slackRoute } from "./routes/slackRoute";
import { anyTurn, expectSameDecisions, MODELS, routes, SEATS } from "./testing/drivenPolicies";
import { queuedPolicy } from "./testing/queuedPolicy";
import { declared, justInTime } from "./testing/testJustInTime";

const balanced: Omit<BalancedPolicy, "order" | "place"> = {
  kind: "balanced",
  models: MODELS.map((model) => ({ model, maxBatchSize: SEATS - 1 })),
};
// Requests age in these runs: few releases may pass over one.
const agingThreshold = 3;
const systems: Readonly<Record<string, SinglesPolicy>> = {
  "Cascadia: first come, first served, thresholds": {
    ...routes["a cascade by thresholds (Cascadia)"],
    ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  } as SinglesPolicy,
  "Cascadia with direct starts": {
    ...routes["a cascade with direct starts"],
    ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  } as SinglesPolicy,
  "Chimera: slack, shortest total job first with aging": {
    ...routes["slack dispatch (Chimera)"],
    ...{ order: { kind: "stjf", agingThreshold }, place: { kind: "least-load" } },
  } as SinglesPolicy,
  "Kairos: workflow order over time slots": {
    ...{ kind: "fixed", model: "medium", order: { kind: "workflow", agingThreshold }, place: { kind: "time-slots" } },
  },
  "Kairos' order and place under a cascade": {
    ...routes["a cascade by thresholds (Cascadia)"],
    ...{ order: { kind: "workflow", agingThreshold }, place: { kind: "time-slots" } },
  } as SinglesPolicy,
  "balancing as vLLM": { ...balanced, order: { kind: "fcfs" }, place: { kind: "least-load" } },
};

function routeOf(system: SinglesPolicy): Route {
  if (system.kind === "cascade") return cascadeRoute(system);
  if (system.kind === "slack") return slackRoute(system);
  return system.kind === "fixed" ? fixedRoute(system) : balancedRoute(system);
}

describe("the joint policy without a choice decides as a queue for each model", () => {
  for (const [name, system] of Object.entries(systems))
    it(name, () => {
      fc.assert(
        fc.property(fc.array(anyTurn, { maxLength: 30 }), (turns) => {
          const place: Place = system.place.kind === "time-slots" ? timeSlotsPlace() : leastLoadPlace;
          const queues = queuedPolicy({ route: routeOf(system), order: orderOf(system.order), place });
          expectSameDecisions({ turns, policies: [buildPolicy(system), queues], byModel: false });
        }),
      );
    });
});

const SATURATION = 4;
/** Whole numbers, so that sums of gains are exact. */
const curves = [
  [300, 500, 600, 640],
  [200, 320, 400, 440],
  [100, 180, 240, 280],
];
const pair = declared("pair", [{ name: "only" }]);

const anyRound = fc.record({
  arrivals: fc.array(fc.array(fc.constantFrom(0, 1), { maxLength: 2 }), { maxLength: 6 }),
  ends: fc.array(fc.nat(20), { maxLength: 4 }),
});

/**
 * Aragog with a beam of width 1, written plainly (section 3.2): request by request, in the order in which programs began, the free model
 * among those that are accurate for it which adds most tokens a second; of equal ones the smallest.
 */
function greedyRound(waiting: readonly { id: string; may: readonly number[] }[], inFlight: readonly number[]): Map<string, number> {
  const load = [...inFlight];
  const sent = new Map<string, number>();
  const tokens = (model: number, batch: number): number => (batch === 0 ? 0 : (curves[model]?.[batch - 1] ?? 0));
  for (const { id, may } of waiting) {
    let [best, most] = [-1, Number.NEGATIVE_INFINITY];
    for (const model of [0, 1, 2].filter((own) => may.includes(own) && (load[own] ?? 0) < SATURATION)) {
      const gain = tokens(model, (load[model] ?? 0) + 1) - tokens(model, load[model] ?? 0);
      if (gain > most) [best, most] = [model, gain];
    }
    if (best < 0) continue;
    load[best] = (load[best] ?? 0) + 1;
    sent.set(id, best);
  }
  return sent;
}

describe("the joint policy with a choice and no route", () => {
  it("decides as Aragog's greedy rounds: first come, first served among accurate models, the one that adds most throughput", () => {
    fc.assert(
      fc.property(fc.array(anyRound, { maxLength: 20 }), (turns) => {
        const models: JustInTimePolicy["models"] = MODELS.map((model, at) => ({
          ...{ model, cost: 4 ** at, saturationBatch: SATURATION },
          throughput: (curves[at] ?? []).map((tokensPerSecond, batch) => ({ batch: batch + 1, tokensPerSecond })),
        }));
        const policy: Policy = buildPolicy(justInTime({ kind: "beam", width: 1 }, { models, workflows: [{ workflow: pair }] }));
        let waiting: { id: string; may: readonly number[]; work: WaitingWork }[] = [];
        const flying: { id: string; model: number }[] = [];
        let came = 0;
        for (const [turn, { arrivals, ends }] of turns.entries()) {
          for (const at of ends) {
            const [done] = flying.splice(at % Math.max(1, flying.length), 1);
            if (done === undefined) continue;
            const finished = { workId: done.id, replicaId: MODELS[done.model] ?? "", nowSeconds: turn, failed: false };
            policy.observe({ kind: "finished", ...finished });
            policy.observe({ kind: "ended", programId: done.id });
          }
          for (const accurate of arrivals) {
            const id = `w${came++}`;
            const set = emptySet(MODELS.length);
            for (const model of accurate) addConfiguration(set, model);
            const work: WaitingWork = {
              ...{ id, programId: id, stage: 2, programArrivalSeconds: came, queuedSinceSeconds: came, inputTokens: 5 },
              ...{ call: { workflow: "pair", agent: "only" }, accurate: set, state: { kind: "queued" } },
            };
            // All on the largest model always counts as accurate.
            waiting.push({ id, may: [...accurate, 2], work });
            policy.observe({ kind: "queued", work });
          }
          const inFlight = MODELS.map((_, model) => flying.filter((one) => one.model === model).length);
          const replicas = MODELS.map(
            (model, at): ReplicaView => ({
              ...{ id: model, model, inFlight: inFlight[at] ?? 0, maxInFlight: 9, accepting: true, kvUse: { state: "absent" } },
            }),
          );
          const expected = greedyRound(waiting, inFlight);
          const actions = policy.decide({ nowSeconds: turn, waiting: waiting.map(({ work }) => work), replicas });
          const sent = actions.map(
            (action) => [action.workId, action.kind === "dispatch" ? MODELS.indexOf(action.replicaId) : -1] as const,
          );
          expect(new Map(sent)).toEqual(expected);
          for (const [id, model] of sent) {
            policy.observe({ kind: "dispatched", workId: id, programId: id, replicaId: MODELS[model] ?? "", nowSeconds: turn });
            flying.push({ id, model });
          }
          waiting = waiting.filter(({ id }) => !expected.has(id));
        }
      }),
    );
  });
});

describe("the joint policy with a route from experts to an aggregator", () => {
  const anyVote = fc.record({ vote: fc.option(fc.constantFrom("A", "B", "C")), outputTokens: fc.integer({ min: 1, max: 500 }) });
  const accuracy = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`expert-${at}`, 0.3 + at / 10]));
  const anyConfidence = fc.constantFrom<Confidence>({ kind: "plurality" }, { kind: "accuracy-weighted", accuracy });
  const anyVotes = fc.array(anyVote, { minLength: 1, maxLength: 7 });
  it("skips the aggregator exactly where MOSAIC's gate does", () => {
    fc.assert(
      fc.property(anyVotes, fc.integer({ min: 1, max: 20 }), anyConfidence, (given, twentieths, confidence) => {
        const asked = given.map((_, at) => `expert-${at}`);
        const votes = given.map((vote, at): Vote => ({ expert: asked[at] ?? "", ...vote }));
        const threshold = 5 * twentieths;
        const tau = threshold / 100;
        const gate = decideGate(votes, { asked, confidence, tau });
        const policy = buildPolicy({
          ...{ kind: "cascade", stages: [{ model: "experts" }, { model: "aggregator" }], thresholds: [threshold] },
          judge: { model: "none", secondsPerCall: 0, usdPerCall: 0 },
          ...{ order: { kind: "fcfs" }, place: { kind: "least-load" }, approvedRanges: { thresholds: [{ min: 0, max: 100 }] } },
        });
        const judgedScore = Math.round(1e8 * gate.confidence) / 1e6;
        const work: WaitingWork = {
          ...{ id: "q", programId: "q", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 1 },
          state: { kind: "answered", judgedScore },
        };
        const [action] = policy.decide({ nowSeconds: 1, waiting: [work], replicas: [] });
        expect(action?.kind).toBe(gate.kind === "skip" ? "accept" : "escalate");
      }),
    );
  });
});
