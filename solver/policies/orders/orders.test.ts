import { describe, expect, it } from "vitest";
import type { OrderDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "../buildPolicy";
import type { Policy, ReplicaView, WaitingWork } from "../core/policy";
import { forecastOf } from "../testing/worldOfContract";

const policyWith = (order: OrderDocument): Policy => buildPolicy({ kind: "fixed", model: "m", order, place: { kind: "round-robin" } });

function queued(id: string, more: Partial<WaitingWork> = {}): WaitingWork {
  const base = { id, programId: id, stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 100 };
  return { ...base, state: { kind: "queued" }, ...more };
}

const oneSlot: readonly ReplicaView[] = [{ id: "r", model: "m", inFlight: 0, maxInFlight: 1, accepting: true, kvUse: { state: "absent" } }];

/** The order in which work leaves when one seat becomes free every second. */
function leaving(policy: Policy, works: readonly WaitingWork[], fromSeconds = 1): string[] {
  const left: string[] = [];
  let waiting = works;
  for (let nowSeconds = fromSeconds; waiting.length > 0; nowSeconds += 1) {
    const [action] = policy.decide({ nowSeconds, waiting, replicas: oneSlot });
    left.push(action?.workId ?? "none");
    waiting = waiting.filter(({ id }) => id !== action?.workId);
  }
  return left;
}

describe("shortest orders", () => {
  const works = [
    queued("long", { predictedTokens: 900, predictedProgramTokens: 900 }),
    queued("short step of a long program", { predictedTokens: 10, predictedProgramTokens: 5000 }),
    queued("unpredicted", { inputTokens: 400 }),
    queued("program only", { predictedProgramTokens: 50, inputTokens: 2000 }),
  ];

  it("go by the request's own output in sjf, by its input where nothing predicts that", () => {
    expect(leaving(policyWith({ kind: "sjf", agingThreshold: 100 }), works)).toEqual([
      "short step of a long program",
      "unpredicted",
      "long",
      "program only",
    ]);
  });

  it("go by what the program has yet to write in stjf, else as sjf does", () => {
    expect(leaving(policyWith({ kind: "stjf", agingThreshold: 100 }), works)).toEqual([
      "program only",
      "unpredicted",
      "long",
      "short step of a long program",
    ]);
  });

  it("let the oldest go first once S releases have passed over it, counted within one decision as well", () => {
    const many = [queued("long", { predictedTokens: 9 }), ..."abcdef".split("").map((id) => queued(id, { predictedTokens: 1 }))];
    expect(leaving(policyWith({ kind: "sjf", agingThreshold: 2 }), many).indexOf("long")).toBe(2);
    const room = [{ ...oneSlot[0]!, maxInFlight: 4 }];
    const sent = policyWith({ kind: "sjf", agingThreshold: 2 }).decide({ nowSeconds: 1, waiting: many, replicas: room });
    expect(sent.map(({ workId }) => workId)).toEqual(["a", "b", "long", "c"]);
  });

  it("take work that came back after a failure for as old as it is", () => {
    const policy = policyWith({ kind: "sjf", agingThreshold: 2 });
    leaving(policy, [queued("a"), queued("b")], 5);
    const back = queued("back", { predictedTokens: 99, queuedSinceSeconds: 4 });
    expect(leaving(policy, [queued("new", { predictedTokens: 1, queuedSinceSeconds: 7 }), back], 8)).toEqual(["back", "new"]);
  });
});

describe("the order by deadlines", () => {
  const order = { kind: "deadline", impliedSeconds: 10, agingThreshold: 100 } as const;

  it("goes by what clients state, and by the program's beginning where they state nothing", () => {
    const works = [
      queued("implied, later", { programArrivalSeconds: 3 }),
      queued("due last", { dueSeconds: 40 }),
      queued("implied, earlier", { programArrivalSeconds: 2 }),
      queued("late already", { dueSeconds: -5 }),
      queued("due between", { dueSeconds: 12.5 }),
    ];
    expect(leaving(policyWith(order), works)).toEqual(["late already", "implied, earlier", "due between", "implied, later", "due last"]);
  });

  it("lets nobody overtake whose deadline is later than an implied one, however many come", () => {
    const waits = queued("waits", { programArrivalSeconds: 0 });
    const later = Array.from({ length: 50 }, (_, at) => queued(`urgent ${at}`, { programArrivalSeconds: at, dueSeconds: at + 1 }));
    const left = leaving(policyWith(order), [...later, waits]);
    // Those due within its ten seconds go first, and no others.
    expect(left.indexOf("waits")).toBe(later.filter(({ dueSeconds = 0 }) => dueSeconds <= 10).length);
  });
});

describe("orders by what workflows taught", () => {
  const works = [
    queued("far, few calls", { forecast: { ...forecastOf(9), remainingCalls: 1 }, programArrivalSeconds: 1 }),
    queued("near, later program", { forecast: { ...forecastOf(2), remainingCalls: 3.4 }, programArrivalSeconds: 5 }),
    queued("near, earlier program", { forecast: { ...forecastOf(2), remainingCalls: 3.001 }, programArrivalSeconds: 4 }),
    queued("unknown", { programArrivalSeconds: 9 }),
    queued("nearly as near", { forecast: { ...forecastOf(2.0001), remainingCalls: 3.001 }, programArrivalSeconds: 3 }),
  ];

  it("go by the agent's distance and then by the program's beginning in workflow", () => {
    expect(leaving(policyWith({ kind: "workflow", agingThreshold: 100 }), works)).toEqual([
      "unknown",
      "near, earlier program",
      "near, later program",
      "nearly as near",
      "far, few calls",
    ]);
  });

  it("follow the forecasts in force at each decision, not those with which work came", () => {
    const policy = policyWith({ kind: "workflow", agingThreshold: 100 });
    const at = (near: number, far: number) => [
      queued("near", { forecast: forecastOf(near) }),
      queued("far", { forecast: forecastOf(far) }),
    ];
    const full = oneSlot.map((replica) => ({ ...replica, inFlight: 1 }));
    expect(policy.decide({ nowSeconds: 1, waiting: at(2, 9), replicas: full })).toEqual([]);
    expect(leaving(policy, at(9, 2), 2)).toEqual(["far", "near"]);
  });

  it("go by the calls yet to make and then by the order of coming in depth", () => {
    expect(leaving(policyWith({ kind: "depth", agingThreshold: 100 }), works)).toEqual([
      "unknown",
      "far, few calls",
      "near, earlier program",
      "nearly as near",
      "near, later program",
    ]);
  });

  it("take calls that differ by less than a step, as an agent's mean does while more is learnt, for the same", () => {
    const drifting = [2.6, 2.5, 2.4, 2.3].map((distance, at) =>
      queued(`${at}`, { forecast: { ...forecastOf(distance), remainingCalls: 1 + distance / 50 }, programArrivalSeconds: at }),
    );
    expect(leaving(policyWith({ kind: "depth", agingThreshold: 100 }), drifting)).toEqual(["0", "1", "2", "3"]);
  });

  it("age as the others do, however early the programs of the others began", () => {
    const others = "abcdef".split("").map((id) => queued(id, { forecast: forecastOf(1) }));
    const late = queued("late", { forecast: forecastOf(1), programArrivalSeconds: 9 });
    expect(leaving(policyWith({ kind: "workflow", agingThreshold: 2 }), [late, ...others]).indexOf("late")).toBe(2);
  });
});

describe("mlfq", () => {
  const policy = () => policyWith({ kind: "mlfq", quantaSeconds: [1, 2], agingThreshold: 100 });
  const serve = (to: Policy, programId: string, seconds: number) => {
    const event = { workId: `${programId}'s`, programId, replicaId: "r" };
    to.observe({ kind: "dispatched", ...event, nowSeconds: 0 });
    to.observe({ kind: "finished", ...event, nowSeconds: seconds, failed: false });
  };

  it("puts a program a level lower with each quantum of service it has received", () => {
    const own = policy();
    serve(own, "two quanta", 1.5);
    serve(own, "two quanta", 1.5);
    serve(own, "one quantum", 2.9);
    serve(own, "less than one", 0.9);
    expect(
      leaving(
        own,
        ["two quanta", "one quantum", "less than one", "new"].map((id) => queued(id)),
      ),
    ).toEqual(["less than one", "new", "one quantum", "two quanta"]);
  });

  it("counts as service what the driver says is, not the wait inside an engine before it", () => {
    const own = policy();
    const event = { workId: "1", programId: "waited", replicaId: "r" };
    own.observe({ kind: "dispatched", ...event, nowSeconds: 0 });
    own.observe({ kind: "finished", ...event, nowSeconds: 9, servedSeconds: 0.5, failed: false });
    serve(own, "served", 1.5);
    expect(
      leaving(
        own,
        ["served", "waited"].map((id) => queued(id)),
      ),
    ).toEqual(["waited", "served"]);
  });

  it("forgets a program that has ended", () => {
    const own = policy();
    serve(own, "served", 5);
    own.observe({ kind: "ended", programId: "served" });
    expect(leaving(own, [queued("served"), queued("new")])).toEqual(["served", "new"]);
  });
});
