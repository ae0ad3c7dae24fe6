import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { throughputAt } from "@/solver/engine/throughputCurve";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { buildPolicy } from "../buildPolicy";
import type { Action, ReplicaView, WaitingWork } from "../core/policy";
import { declared, justInTime } from "../testing/testJustInTime";
import { ModelEngines } from "./modelEngines";
import type { StagedWork } from "./roundQueue";
import { configurationNamed } from "./stagedWorkflow";
import { WorthChoice } from "./worthChoice";

const NAMES = ["small", "large"];
const SEATS = 8;
const chain = declared("chain", [{ name: "first" }, { name: "second", reads: ["first"] }, { name: "third", reads: ["second"] }]);
const single = declared("single", [{ name: "only" }]);
const spaceOf = (workflow: typeof chain) => configurationSpace(workflow, NAMES);

/** One engine of each; the small one writes a request's tokens in a second alone, the large one in `slower`, and eight at once take `crowded` times as long each. */
function modelsOf({ slower, crowded = 1 }: { readonly slower: number; readonly crowded?: number }) {
  return NAMES.map((model, at) => {
    const alone = 100 / (at === 0 ? 1 : slower);
    const throughput = [
      { batch: 1, tokensPerSecond: alone },
      { batch: SEATS, tokensPerSecond: (SEATS * alone) / crowded },
    ];
    return { model, cost: at + 1, saturationBatch: SEATS, throughput, meanOutputTokens: 100 };
  });
}

interface Scene {
  readonly models: ReturnType<typeof modelsOf>;
  readonly delayWeight?: number;
  readonly workflow?: typeof chain;
}

const policyOf = ({ models, delayWeight = 0, workflow = single }: Scene) =>
  buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight }, { models, workflows: [{ workflow }] }));

const replicasOf = (...inFlight: readonly number[]): readonly ReplicaView[] =>
  NAMES.map((model, at) => ({
    ...{ id: model, model, inFlight: inFlight[at] ?? 0, maxInFlight: SEATS, accepting: true },
    kvUse: { state: "absent" },
  }));

function callOf(id: string, workflow: typeof chain, agent: string, configurations: readonly Record<string, string>[]): WaitingWork {
  const space = spaceOf(workflow);
  const accurate = emptySet(space.size);
  for (const configuration of configurations) addConfiguration(accurate, configurationNamed(space, configuration) ?? 0);
  return {
    ...{ id, programId: id, stage: 1, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state: { kind: "queued" } },
    ...{ call: { workflow: workflow.name, agent }, accurate },
  };
}

const either = (id: string): WaitingWork => callOf(id, single, "only", [{ only: "small" }, { only: "large" }]);
const stagedOf = (predictedTokens: number): StagedWork =>
  ({ work: { ...either("a"), predictedTokens }, program: null, agent: 0 }) as StagedWork;
const sent = (actions: readonly Action[]) =>
  Object.fromEntries(actions.flatMap((action) => (action.kind === "dispatch" ? [[action.workId, action.replicaId]] : [])));

describe("a choice by worth", () => {
  it("takes the model that answers soonest", () => {
    const policy = policyOf({ models: modelsOf({ slower: 3 }) });
    expect(sent(policy.decide({ nowSeconds: 1, waiting: [either("a")], replicas: replicasOf(0, 0) }))).toEqual({ a: "small" });
  });

  it("says by which terms it chose", () => {
    const policy = policyOf({ models: modelsOf({ slower: 30, crowded: 4 }), delayWeight: 2 });
    policy.decide({ nowSeconds: 1, waiting: [either("a")], replicas: replicasOf(3, 0) });
    const terms = policy.rounds?.().rounds[0]?.candidates[0]?.assignments[0]?.terms;
    // 100 tokens in a batch of four; three others that run are slowed down by as much as it is itself, and count once.
    const [three, four] = [3, 4].map((batch) => (100 * batch) / throughputAt(modelsOf({ slower: 30, crowded: 4 })[0] as never, batch));
    expect(terms).toMatchObject({ surenessSeconds: 0, restSeconds: 0 });
    expect(terms?.latencySeconds).toBeCloseTo(four ?? 0, 9);
    expect(terms?.priceSeconds).toBeCloseTo(3 * ((four ?? 0) - (three ?? 0)), 9);
  });

  it("waits for a faster model while that is quicker than a free slower one, and no longer", () => {
    // A slot of the small engine is free each 1/8 s; the large one takes 1.5 s more. The twelfth of those that wait is as well off there.
    const policy = policyOf({ models: modelsOf({ slower: 2.5 }) });
    const waiting = Array.from({ length: 16 }, (_, at) => either(`w${at}`));
    const chosen = sent(policy.decide({ nowSeconds: 1, waiting, replicas: replicasOf(SEATS, 0) }));
    expect(Object.values(chosen).every((replica) => replica === "large")).toBe(true);
    expect(Object.keys(chosen)[0]).toBe("w12");
  });

  it("counts what it delays others by, where that has a weight", () => {
    // The small engine is quicker for the request itself, and seven others there are slowed down by it.
    const models = modelsOf({ slower: 6, crowded: 5 });
    const [selfish, fair] = [0, 1].map((delayWeight) => policyOf({ models, delayWeight }));
    const view = { nowSeconds: 1, waiting: [either("a")], replicas: replicasOf(7, 0) };
    expect(sent(selfish?.decide(view) ?? [])).toEqual({ a: "small" });
    expect(sent(fair?.decide(view) ?? [])).toEqual({ a: "large" });
  });

  it("weighs the work that a choice leaves to later agents", () => {
    const models = modelsOf({ slower: 2 });
    const first = (...configurations: readonly Record<string, string>[]) => {
      const policy = policyOf({ models, workflow: chain });
      return sent(policy.decide({ nowSeconds: 1, waiting: [callOf("a", chain, "first", configurations)], replicas: replicasOf(0, 0) })).a;
    };
    const dear = { first: "small", second: "large", third: "large" };
    // One second and then twice two, against two and then twice one.
    expect(first(dear, { first: "large", second: "small", third: "small" })).toBe("large");
    expect(first(dear, { first: "large", second: "large", third: "large" })).toBe("small");
  });

  it("counts an agent's latency and the rest as the longest path through the agents without a model", () => {
    const models = modelsOf({ slower: 3 });
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        (drawn, isSmall) => {
          const readsOf = drawn.map((reads, at) => (at === 0 ? [] : [...new Set(reads.map((read) => read % at))]));
          const workflow = declared(
            "drawn",
            readsOf.map((reads, at) => ({ name: `a${at}`, reads: reads.map((read) => `a${read}`) })),
          );
          const policy = policyOf({ models, workflow });
          const only = Object.fromEntries(readsOf.map((_, at) => [`a${at}`, isSmall[at] === true ? "small" : "large"]));
          const last = { ...only, a0: "large" };
          policy.decide({ nowSeconds: 1, waiting: [callOf("a", workflow, "a0", [only, last])], replicas: replicasOf(0, 0) });
          const terms = policy.rounds?.().rounds[0]?.candidates[0]?.assignments[0]?.terms;
          const own = terms?.latencySeconds ?? Number.NaN;
          // One second on the small model, three on the large; every path of the graph, one after another.
          const secondsOf = (agent: number): number => (agent === 0 ? own : isSmall[agent] === true ? 1 : 3);
          const longestTo = (agent: number): number =>
            secondsOf(agent) + Math.max(0, ...(readsOf[agent] ?? []).map((read) => longestTo(read)));
          expect(own + (terms?.restSeconds ?? Number.NaN)).toBeCloseTo(Math.max(...readsOf.map((_, agent) => longestTo(agent))), 9);
        },
      ),
    );
  });

  it("waits as long for a slot whatever the length of its own answer", () => {
    fc.assert(
      fc.property(fc.nat(SEATS), fc.nat(40), fc.integer({ min: 1, max: 2000 }), (inFlight, ahead, tokens) => {
        const [profile] = modelsOf({ slower: 1, crowded: 4 });
        if (profile === undefined) throw new Error("no model");
        const engine = new ModelEngines(profile);
        engine.seat(replicasOf(inFlight).slice(0, 1));
        engine.refresh();
        const weights = { rightSeconds: 0, delayWeight: 1 };
        const of = { engines: [engine], meanOutputTokens: [100], weights, singles: null, prices: null, readsLengths: true };
        const choice = new WorthChoice(of);
        choice.begin(0);
        for (let one = 0; one < ahead; one += 1) choice.waits(0);
        choice.choose(stagedOf(100), 0b1, 0);
        const wait = (Math.max(0, ahead + 1 - engine.free) * 100) / throughputAt(profile, SEATS);
        const writing = (predicted: number): number => choice.terms(stagedOf(predicted), 0, 0).latencySeconds - wait;
        expect(writing(tokens)).toBeCloseTo((tokens / 100) * writing(100), 6);
        expect(writing(100)).toBeGreaterThan(0);
      }),
    );
  });

  it("serves a request behind any number of others that no free model may serve", () => {
    const policy = policyOf({ models: modelsOf({ slower: 2 }) });
    const small = Array.from({ length: 600 }, (_, at) => callOf(`w${at}`, single, "only", [{ only: "small" }]));
    // That of the largest models is always accurate: only where it is out a request waits for the small one alone.
    const lost = replicasOf(SEATS, 0).map((replica, at) => (at === 1 ? { ...replica, accepting: false, down: true } : replica));
    expect(policy.decide({ nowSeconds: 1, waiting: small, replicas: lost })).toEqual([]);
    const singles = { kind: "fixed", model: "small" } as const;
    const mixed = buildPolicy(
      justInTime(
        { kind: "worth", rightSeconds: 0, delayWeight: 1 },
        { models: modelsOf({ slower: 2 }), workflows: [{ workflow: single }], singles },
      ),
    );
    const chats = small.map(({ call: _, accurate: __, ...work }): WaitingWork => ({ ...work, stage: 0 }));
    const last = callOf("last", single, "only", []);
    expect(sent(mixed.decide({ nowSeconds: 1, waiting: [...chats, last], replicas: replicasOf(SEATS, 0) }))).toEqual({ last: "large" });
  });

  it("without a weight for others never sends a request where it is answered later than by a free model that it may have", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 9, noNaN: true }),
        fc.double({ min: 1, max: 9, noNaN: true }),
        fc.tuple(fc.nat(SEATS), fc.nat(SEATS)),
        (slower, crowded, [small, large]) => {
          const models = modelsOf({ slower, crowded });
          const policy = policyOf({ models });
          const [action] = policy.decide({ nowSeconds: 1, waiting: [either("a")], replicas: replicasOf(small, large) });
          const seconds = models.map((profile, at) => {
            const inFlight = [small, large][at] ?? 0;
            const batch = Math.min(SEATS, inFlight + 1);
            return inFlight === SEATS ? Number.POSITIVE_INFINITY : (100 * batch) / throughputAt(profile, batch);
          });
          if (action?.kind !== "dispatch") return;
          expect(seconds[NAMES.indexOf(action.replicaId)]).toBeLessThanOrEqual(Math.min(...seconds) * (1 + 1e-9));
        },
      ),
    );
  });
});

const cascade: NonNullable<JustInTimePolicy["singles"]> = {
  ...{ kind: "cascade", stages: NAMES.map((model) => ({ model })), thresholds: [50] },
  ...{ judge: { model: "judge", secondsPerCall: 0.1, usdPerCall: 0 }, approvedRanges: { thresholds: [{ min: 0, max: 100 }] } },
};

describe("a price of the models' tokens", () => {
  const workflows = [{ workflow: chain }, { workflow: single }];
  const singles = { kind: "fixed", model: "small" } as const;
  const pricedPolicy = (models: ReturnType<typeof modelsOf>, secondsPerToken: readonly number[] | null) => {
    const priced = NAMES.map((model, at) => ({ model, secondsPerToken: secondsPerToken?.[at] ?? 0, waiting: 0 }));
    const price = secondsPerToken === null ? {} : { price: { models: priced, dampingSeconds: 1 } };
    return buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 1, ...price }, { models, workflows, singles }));
  };
  /** Decides about a request two seconds after some have waited for a second for the smaller model alone, and others since for the larger alone. */
  const decided = (
    policy: ReturnType<typeof pricedPolicy>,
    { stuck, one, inFlight }: { readonly stuck: readonly number[]; readonly one: WaitingWork; readonly inFlight: readonly number[] },
  ) => {
    const stuckOf = (at: number, make: (id: string) => WaitingWork) =>
      Array.from({ length: stuck[at] ?? 0 }, (_, index) => make(`${at}-${index}`));
    const chat = ({ call: _, accurate: __, ...work }: WaitingWork): WaitingWork => ({ ...work, stage: 0 });
    const small = stuckOf(0, (id) => chat(either(id)));
    const large = stuckOf(1, (id) => callOf(id, single, "only", []));
    expect(policy.decide({ nowSeconds: 0, waiting: small, replicas: replicasOf(SEATS, 0) })).toEqual([]);
    expect(policy.decide({ nowSeconds: 1, waiting: large, replicas: replicasOf(0, SEATS) })).toEqual([]);
    return sent(policy.decide({ nowSeconds: 3, waiting: [one], replicas: replicasOf(...inFlight) }))[one.id];
  };
  const anyScene = fc.record({
    slower: fc.double({ min: 0.3, max: 9, noNaN: true }),
    crowded: fc.double({ min: 1, max: 9, noNaN: true }),
    stuck: fc.tuple(fc.nat(6), fc.nat(6)),
    inFlight: fc.tuple(fc.nat(SEATS), fc.nat(SEATS)),
    prices: fc.tuple(fc.double({ min: 0, max: 0.1, noNaN: true }), fc.double({ min: 0, max: 0.1, noNaN: true })),
    more: fc.double({ min: 0, max: 0.2, noNaN: true }),
  });

  it("of 0 decides as none", () => {
    fc.assert(
      fc.property(anyScene, ({ slower, crowded, stuck, inFlight }) => {
        const [none, zero] = [null, [0, 0]].map((prices) =>
          decided(pricedPolicy(modelsOf({ slower, crowded }), prices), { stuck, one: either("one"), inFlight }),
        );
        expect(zero).toEqual(none);
      }),
    );
  });

  it("that rises never makes a waiting request prefer its model more", () => {
    let moved = 0;
    fc.assert(
      fc.property(anyScene, fc.constantFrom(0, 1), ({ slower, crowded, stuck, inFlight, prices, more }, dearer) => {
        const models = modelsOf({ slower, crowded });
        const raised = prices.map((price, at) => (at === dearer ? price + more : price));
        const [before, after] = [prices, raised].map((own) => decided(pricedPolicy(models, own), { stuck, one: either("one"), inFlight }));
        // Not sent to either: it waits for the one that is full.
        const preferred = (replica: string | undefined): number =>
          replica === undefined ? (inFlight[0] === SEATS ? 0 : 1) : NAMES.indexOf(replica);
        if (inFlight.every((own) => own === SEATS)) return;
        if (preferred(after) === dearer) expect(preferred(before)).toBe(dearer);
        else if (preferred(before) === dearer) moved += 1;
      }),
      { numRuns: 400 },
    );
    expect(moved).toBeGreaterThan(0);
  });

  it("counts for the agents that follow too: a program does not begin on a path that asks for more of the dearer model's tokens", () => {
    // Begun on the smaller model two agents ask for the larger, begun on the larger all three do: that path is always accurate.
    const first = callOf("one", chain, "first", [{ first: "small", second: "large", third: "large" }]);
    let moved = 0;
    fc.assert(
      fc.property(anyScene, fc.constantFrom(0, 1), ({ slower, crowded, stuck, prices, more }, dearer) => {
        const models = modelsOf({ slower, crowded });
        const raised = prices.map((price, at) => (at === dearer ? price + more : price));
        const [before, after] = [prices, raised].map((own) => decided(pricedPolicy(models, own), { stuck, one: first, inFlight: [0, 0] }));
        if (after === NAMES[dearer]) expect(before).toBe(NAMES[dearer]);
        else if (before === NAMES[dearer]) moved += 1;
      }),
      { numRuns: 400 },
    );
    expect(moved).toBeGreaterThan(0);
  });

  it("is a term of its own in the record of a round", () => {
    const policy = pricedPolicy(modelsOf({ slower: 3 }), [0.01, 0]);
    expect(decided(policy, { stuck: [5, 0], one: either("one"), inFlight: [0, SEATS] })).toBe("small");
    const terms = policy.rounds?.().rounds[0]?.candidates[0]?.assignments[0]?.terms;
    // Five waited for a second, and none for the two since; fewer than one planned to wait count as one.
    expect(terms?.planPriceSeconds).toBeCloseTo(100 * 0.01 * 5 * (1 - Math.exp(-1)) * Math.exp(-2), 9);
    expect(terms).toMatchObject({ surenessSeconds: 0, latencySeconds: 1, priceSeconds: 0, restSeconds: 0 });
  });
});

describe("a single request of a cascade, by worth", () => {
  const chat = (id: string): WaitingWork => ({
    ...{ id, programId: id, stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state: { kind: "queued" } },
  });
  const policyOfCascade = () => {
    const models = modelsOf({ slower: 1.5 });
    return buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 0 }, { models, workflows: [], singles: cascade }));
  };

  it("begins at the larger model once most answers of the smaller are escalated, and at the smaller again when few are", () => {
    const policy = policyOfCascade();
    const start = () => sent(policy.decide({ nowSeconds: 1, waiting: [chat("next")], replicas: replicasOf(0, 0) })).next;
    const judged = (score: number) =>
      policy.decide({
        nowSeconds: 1,
        waiting: [{ ...chat("done"), state: { kind: "answered", judgedScore: score } }],
        replicas: replicasOf(0, 0),
      });
    // One second, and in half of the cases 1.5 s more, against 1.5 s.
    expect(start()).toBe("large");
    for (let at = 0; at < 20; at += 1) judged(90);
    expect(start()).toBe("small");
    for (let at = 0; at < 60; at += 1) judged(10);
    expect(start()).toBe("large");
  });

  it("never begins below the stage that its route chose", () => {
    const policy = policyOfCascade();
    const waiting = [{ ...chat("up"), stage: 1 }];
    expect(sent(policy.decide({ nowSeconds: 1, waiting, replicas: replicasOf(0, SEATS) }))).toEqual({});
    expect(policy.decide({ nowSeconds: 2, waiting, replicas: replicasOf(0, 3) })).toMatchObject([
      { kind: "dispatch", replicaId: "large", stage: 1 },
    ]);
  });
});

describe("by worth, where models take no work", () => {
  const models = modelsOf({ slower: 2 });
  const lostLarge = (accepting: boolean) =>
    replicasOf(0, 0).map((replica, at) => (at === 1 ? { ...replica, accepting, down: !accepting } : replica));

  it("a request of a cascade whose later stage is out is answered by the stage before it", () => {
    const policy = buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 4 }, { models, workflows: [], singles: cascade }));
    const work: WaitingWork = {
      ...{ id: "a", programId: "a", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state: { kind: "queued" } },
    };
    const view = { nowSeconds: 1, waiting: [work], replicas: lostLarge(false) };
    expect(sent(policy.decide({ ...view, outage: { isLost: (model) => model === "large", lowerMayAnswer: true } }))).toEqual({
      a: "small",
    });
    const terms = policy.rounds?.().rounds[0]?.candidates[0]?.assignments[0]?.terms;
    for (const seconds of Object.values(terms ?? { none: Number.NaN })) expect(seconds).toSatisfy(Number.isFinite);
  });

  it("a call is sent although an agent after it needs a model that takes no work for a moment", () => {
    const policy = policyOf({ models, workflow: chain });
    const work = callOf("a", chain, "first", [{ first: "small", second: "large", third: "large" }]);
    const replicas = replicasOf(0, 0).map((replica, at) => (at === 1 ? { ...replica, accepting: false } : replica));
    expect(sent(policy.decide({ nowSeconds: 1, waiting: [work], replicas }))).toEqual({ a: "small" });
  });

  it("a client's own limit on an answer is no prediction of its length", () => {
    const policy = buildPolicy(justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 0 }, { models, workflows: [], singles: cascade }));
    const chosen = [5, 100, 8000].map((predictedTokens, at) => {
      const work: WaitingWork = {
        ...{ id: `${at}`, programId: "a", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5 },
        ...{ predictedTokens, state: { kind: "queued" } },
      };
      return Object.values(sent(policy.decide({ nowSeconds: at, waiting: [work], replicas: replicasOf(0, 0) })));
    });
    expect(new Set(chosen.flat()).size).toBe(1);
  });

  it("more requests than one round weighs fill all free slots at once", () => {
    const many = 300;
    const wide = models.map((model) => ({
      ...model,
      saturationBatch: many,
      throughput: [
        { batch: 1, tokensPerSecond: 100 },
        { batch: many, tokensPerSecond: 30_000 },
      ],
    }));
    const policy = buildPolicy(
      justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 0 }, { models: wide, workflows: [{ workflow: single }] }),
    );
    const waiting = Array.from({ length: 2 * many }, (_, at) => either(`w${at}`));
    const replicas = replicasOf(0, 0).map((replica) => ({ ...replica, maxInFlight: many }));
    expect(policy.decide({ nowSeconds: 1, waiting, replicas })).toHaveLength(2 * many);
  });
});
