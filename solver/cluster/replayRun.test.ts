import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "@/solver/plan/plan";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Place } from "@/solver/policies/core/policyParts";
import { jointPolicy } from "@/solver/policies/jointPolicy";
import { fcfsOrder } from "@/solver/policies/orders/fcfsOrder";
import { fixedRoute } from "@/solver/policies/routes/fixedRoute";
import type { RecordedRequest, RecordedVisit } from "./recordedWorld";
import { replayRun } from "./replayRun";

const cascade: CascadePolicy = {
  kind: "cascade",
  stages: [{ model: "small" }, { model: "large" }],
  thresholds: [50],
  judge: { model: "judge", secondsPerCall: 0, usdPerCall: 0 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
};
const replicas = ["small", "large"].map((model) => ({ id: `${model}-0`, model, maxInFlight: 1 }));

const visit = (stage: number, times: readonly [number, number, number | null], judgedScore: number | null = null): RecordedVisit => {
  const [queuedSeconds, answeredSeconds, judgedSeconds] = times;
  return { stage, queuedSeconds, answeredSeconds, judgedSeconds, judgedScore };
};
const request = (...visits: RecordedVisit[]): RecordedRequest => {
  return { program: null, inputTokens: 10, routerScores: {}, judgeResting: false, visits };
};

const first = request(visit(0, [0, 2, 3], 20), visit(1, [3.5, 6, null]));
const second = request(visit(0, [1, 4, 5], 80));

describe("replayRun", () => {
  it("sends requests on when the record's engines and judge answer, in the record's words", () => {
    const at = (stage: number, dispatchedSeconds: number) => ({ stage, replicaId: replicas[stage]!.id, dispatchedSeconds });
    const judged = { startReason: "first-stage" };
    expect(replayRun(buildPolicy(cascade), { replicas, requests: [first, second] })).toEqual([
      {
        ...judged,
        visits: [
          { ...at(0, 0), verdict: "escalated", reason: "score-below-threshold" },
          { ...at(1, 3.5), verdict: "accepted", reason: "last-stage" },
        ],
      },
      { ...judged, visits: [{ ...at(0, 2), verdict: "accepted", reason: "score-at-or-above-threshold" }] },
    ]);
  });

  it("gives a policy that reads them the router's scores and those of earlier answers, so that stages are passed over again", () => {
    const calibration = { raw: [0, 100], calibrated: [0, 100] };
    const gate = { calibration, levels: [5, 95].map((score) => ({ score, share: 0.5 })) };
    const byGain: CascadePolicy = {
      ...cascade,
      stages: [{ model: "small" }, { model: "medium" }, { model: "large" }],
      thresholds: [50, 50],
      directStart: { below: [0, 0], router: { kind: "modelled", auc: 0.7 } },
      // The two smaller models are right on the same prompts, the largest nearly always.
      cascadeRouting: {
        ...{ pointsPerGpuSecond: 2, gpuSeconds: [1, 4, 8], patterns: [-2, -20, -20, -20, -1, -20, -20, -0.5] },
        ...{ heads: [0, 1, 2].map(() => ({ centre: 0, slope: 1 })), gates: [gate, gate] },
      },
      approvedRanges: { thresholds: [0, 1].map(() => ({ min: 0, max: 100 })) },
    };
    const three = ["small", "medium", "large"].map((model) => ({ id: `${model}-0`, model, maxInFlight: 1 }));
    const routerScores = { small: 50, medium: 50, large: 90 };
    const skipping = { ...request(visit(0, [0, 2, 3], 5), visit(2, [3.5, 6, null])), routerScores };
    const [decided] = replayRun(buildPolicy(byGain), { replicas: three, requests: [skipping] });
    expect(decided).toMatchObject({
      startReason: "largest-expected-gain",
      visits: [
        { stage: 0, verdict: "escalated", reason: "largest-expected-gain" },
        { stage: 2, verdict: "accepted", reason: "last-stage" },
      ],
    });
    const [unscored] = replayRun(buildPolicy(byGain), { replicas: three, requests: [{ ...skipping, routerScores: {} }] });
    expect(unscored).toMatchObject({ startReason: "no-router-score-of-small", visits: [{ reason: "score-below-threshold" }] });
  });

  it("leaves what another policy asks for unanswered where the record has no answer to it", () => {
    const stricter = { ...cascade, thresholds: [90] };
    const [, kept] = replayRun(buildPolicy(stricter), { replicas, requests: [first, second] });
    expect(kept?.visits).toMatchObject([{ stage: 0, verdict: "escalated" }]);
    const lax = { ...cascade, thresholds: [10] };
    const [accepted] = replayRun(buildPolicy(lax), { replicas, requests: [first, second] });
    expect(accepted?.visits).toMatchObject([{ stage: 0, verdict: "accepted" }]);
  });

  it("tells programs that clients named apart from requests that are programs of their own", () => {
    const fixed = buildPolicy({ kind: "fixed", model: "small", order: { kind: "fcfs" }, place: { kind: "least-load" } });
    const ended: string[] = [];
    const watched = {
      ...fixed,
      observe: (event: Parameters<typeof fixed.observe>[0]) => event.kind === "ended" && ended.push(event.programId),
    };
    const named = { ...request(visit(0, [0, 1, null])), program: "1" };
    replayRun(watched, { replicas, requests: [named, request(visit(0, [2, 3, null]))] });
    expect(ended).toEqual(["1"]);
  });

  it("shows the policy what was forecast of each request's agent when it was recorded", () => {
    const forecast = (agent: string, distanceSeconds: number) => ({
      agent,
      distanceSeconds,
      remainingCalls: 1,
      requestSeconds: 1,
      tokensPerSecond: 30,
    });
    const workflow = buildPolicy({
      ...{ kind: "fixed", model: "small", order: { kind: "workflow", agingThreshold: 10 }, place: { kind: "least-load" } },
    });
    const requests = [
      { ...request(visit(0, [0, 2, null])), forecast: forecast("a/slow", 9) },
      { ...request(visit(0, [0.5, 3, null])), forecast: forecast("a/slow", 9) },
      { ...request(visit(0, [1, 4, null])), forecast: forecast("a/quick", 1) },
    ];
    const decided = replayRun(workflow, { replicas, requests });
    expect(decided.map(({ visits }) => visits[0]?.dispatchedSeconds)).toEqual([0, 4, 2]);
  });

  it("lets nothing happen before its time where a policy asks in between", () => {
    const place: Place = {
      ...{ kind: "held", needs: [] },
      choose: (slots, _, now) => (now < 1.75 ? -1 : slots.inFlight.findIndex((held, at) => held < (slots.capacity[at] ?? 0))),
      askAgainSeconds: (now) => Math.floor(now / 0.25) * 0.25 + 0.25,
    };
    const policy = jointPolicy({ route: fixedRoute({ model: "small" }), order: fcfsOrder, place });
    const decided = replayRun(policy, { replicas, requests: [request(visit(0, [0, 2, null])), request(visit(0, [1.6, 3, null]))] });
    expect(decided.map(({ visits }) => visits[0]?.dispatchedSeconds)).toEqual([1.75, 2]);
  });

  it("refuses a policy that goes by what is not recorded", () => {
    const policy = buildPolicy({ ...cascade, place: { kind: "lowest-kv" } });
    expect(() => replayRun(policy, { replicas, requests: [] })).toThrow("KV readings");
    const packing = buildPolicy({ ...cascade, place: { kind: "time-slots" } });
    const sized = [{ ...replicas[0]!, kvTokens: 100 }, replicas[1]!];
    expect(() => replayRun(packing, { replicas: sized, requests: [] })).toThrow("how much large-0 holds");
  });

  it("holds back what the memory of no replica has room for, until a request ends", () => {
    const policy = buildPolicy({ kind: "fixed", model: "small", order: { kind: "fcfs" }, place: { kind: "time-slots" } });
    const sized = [{ id: "small-0", model: "small", maxInFlight: 8, kvTokens: 25 }];
    const requests = [visit(0, [0, 2, null]), visit(0, [0.5, 9, null]), visit(0, [1, 10, null])].map((one) => request(one));
    const sent = replayRun(policy, { replicas: sized, requests }).map(({ visits }) => visits[0]?.dispatchedSeconds);
    expect(sent).toEqual([0, 0.5, 2]);
  });

  it("shows policies the forecasts that replaced others while requests waited, from their times on", () => {
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    const forecast = (distanceSeconds: number) => ({
      ...{ agent: "qa/maths", remainingCalls: 1, requestSeconds: 1, tokensPerSecond: 30 },
      distanceSeconds,
    });
    const sent = (changesAt: number) =>
      replayRun(buildPolicy({ kind: "fixed", model: "small", order, place: { kind: "least-load" } }), {
        replicas,
        requests: [
          request(visit(0, [0, 10, null])),
          { ...request(visit(0, [1, 11, null])), forecast: forecast(5), reforecasts: [{ atSeconds: changesAt, forecast: forecast(1) }] },
          { ...request(visit(0, [2, 12, null])), forecast: forecast(3) },
        ],
      }).map(({ visits }) => visits[0]?.dispatchedSeconds);
    expect([6, 10].map(sent)).toEqual([
      [0, 10, 11],
      [0, 10, 11],
    ]);
    expect(sent(10.5)).toEqual([0, 12, 10]);
  });

  it("shows policies what was learnt of agents, and when a request's program began", () => {
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    const policy = buildPolicy({ kind: "fixed", model: "small", order, place: { kind: "least-load" } });
    const teaching = (distanceSeconds: number) => ({
      forecast: { agent: "qa/maths", distanceSeconds, remainingCalls: 1, requestSeconds: 1, tokensPerSecond: 30 },
    });
    const requests = [
      request(visit(0, [0, 10, null])),
      { ...request(visit(0, [1, 11, null])), ...teaching(5) },
      { ...request(visit(0, [2, 12, null])), ...teaching(3) },
      { ...request(visit(0, [3, 13, null])), ...teaching(3), programStartSeconds: 0.5 },
    ];
    const sent = replayRun(policy, { replicas, requests }).map(({ visits }) => visits[0]?.dispatchedSeconds);
    expect(sent).toEqual([0, 13, 13, 10]);
  });
});
