import { describe, expect, it } from "vitest";
import type { JustInTimePolicy, PlaceDocument } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet, membersOf } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { buildPolicy } from "../buildPolicy";
import type { Policy, ReplicaView, WaitingWork } from "../core/policy";
import { justInTimeContract } from "../testing/justInTimeContract";
import { policyContract } from "../testing/policyContract";
import { declared, justInTime, selections, testWorkflows } from "../testing/testJustInTime";
import { configurationNamed } from "./stagedWorkflow";

const places: readonly PlaceDocument[] = [{ kind: "least-load" }, { kind: "round-robin" }, { kind: "lowest-kv", affinity: { ratio: 0.5 } }];

for (const [index, selection] of selections.entries()) {
  const document = justInTime(selection, { place: places[index % places.length]! });
  const name = `just-in-time by ${selection.kind}, ${index}`;
  policyContract(name, { build: () => buildPolicy(document), stages: 3, agingThreshold: null });
  justInTimeContract(name, document, () => buildPolicy(document));
}

policyContract("just-in-time in the order of workflows, over time slots", {
  build: () =>
    buildPolicy(justInTime({ kind: "beam", width: 4 }, { order: { kind: "workflow", agingThreshold: 6 }, place: { kind: "time-slots" } })),
  stages: 3,
  agingThreshold: null,
});

const names = ["small", "medium", "large"];
const pair = declared("pair", [{ name: "first" }, { name: "second", reads: ["first"] }]);
const space = configurationSpace(pair, names);

/** Configurations of `pair` by the initials of their models. */
function setOf(...initials: readonly string[]): Uint32Array {
  const set = emptySet(space.size);
  const model = (initial: string | undefined): string => names.find((name) => name[0] === initial) ?? "";
  for (const [first, second] of initials) addConfiguration(set, configurationNamed(space, { first: model(first), second: model(second) })!);
  return set;
}

const ask = (id: string, agent: string, more: Partial<WaitingWork> = {}): WaitingWork => ({
  ...{ id, programId: id, stage: 2, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state: { kind: "queued" } },
  call: { workflow: "pair", agent },
  ...more,
});

/** One replica per model, with the given number of requests in flight each; null where it is down. */
const replicasOf = (...inFlight: readonly (number | null)[]): ReplicaView[] =>
  inFlight.map((own, at) => ({
    ...{ id: names[at]!, model: names[at]!, inFlight: own ?? 0, maxInFlight: 9, kvUse: { state: "absent" } },
    ...{ accepting: own !== null, down: own === null },
  }));

const policyOf = (selection: JustInTimePolicy["selection"] = { kind: "beam", width: 4 }): Policy =>
  buildPolicy(justInTime(selection, { workflows: [...testWorkflows, pair].map((workflow) => ({ workflow })) }));

const went = (policy: Policy, waiting: readonly WaitingWork[], replicas: readonly ReplicaView[]) =>
  Object.fromEntries(
    policy
      .decide({ nowSeconds: 1, waiting, replicas })
      .map((action) => [
        action.workId,
        action.kind === "dispatch" ? action.replicaId : action.kind === "refuse" ? action.reason : action.kind,
      ]),
  );

describe("a just-in-time policy", () => {
  it("gives scarce slots jointly where one request at a time would not", () => {
    // Small has one slot, large one: the request that may only have small would get none if the older took it.
    const waiting = [ask("older", "first", { accurate: setOf("sl", "ml") }), ask("younger", "first", { accurate: setOf("ss") })];
    const replicas = replicasOf(3, 3, 4);
    expect(went(policyOf(), waiting, replicas)).toEqual({ older: "medium", younger: "small" });
    expect(went(policyOf({ kind: "exhaustive" }), waiting, replicas)).toEqual({ older: "medium", younger: "small" });
    expect(went(policyOf({ kind: "beam", width: 1 }), waiting, replicas)).toEqual({ older: "small" });
  });

  it("passes over a request that none of the free models may serve, and sends nothing to a saturated replica", () => {
    const waiting = [ask("blocked", "first", { accurate: setOf() }), ask("free", "first", { accurate: setOf("ss") })];
    expect(went(policyOf(), waiting, replicasOf(0, 0, 4))).toEqual({ free: "small" });
    expect(went(policyOf(), waiting, replicasOf(4, 4, 4))).toEqual({});
  });

  it("keeps a program to configurations that agree with what it was given", () => {
    const policy = policyOf();
    const accurate = setOf("sm", "ms");
    expect(went(policy, [ask("a", "first", { programId: "p", accurate })], replicasOf(0, 4, 4))).toEqual({ a: "small" });
    expect(went(policy, [ask("b", "second", { programId: "p" })], replicasOf(0, 4, 0))).toEqual({});
    expect(went(policy, [ask("c", "second", { programId: "p" })], replicasOf(0, 0, 0))).toEqual({ c: "medium" });
    const [path] = policy.rounds!().programs;
    expect(path).toMatchObject({ programId: "p", workflow: "pair", agents: ["first", "second"], chosen: [0, 1], configurations: 9 });
    expect(path!.accurate).toEqual(setOf("sm", "ms", "ll"));
    expect(membersOf(path!.left)).toEqual(membersOf(setOf("sm")));
  });

  it("opens the choice again where the call failed, and not where another call of the agent was answered", () => {
    const policy = policyOf();
    const program = { programId: "p", accurate: setOf("sm", "ml") };
    const fail = (workId: string) => policy.observe({ kind: "finished", workId, replicaId: "", nowSeconds: 2, failed: true });
    expect(went(policy, [ask("a", "first", program)], replicasOf(0, 4, 4))).toEqual({ a: "small" });
    fail("a");
    expect(went(policy, [ask("b", "first", program)], replicasOf(null, 0, 0))).toEqual({ b: "medium" });
    expect(went(policy, [ask("c", "first", program)], replicasOf(0, 0, 0))).toEqual({ c: "medium" });
    fail("c");
    expect(went(policy, [ask("d", "first", program)], replicasOf(0, 4, 0))).toEqual({});
  });

  it("opens the choice again of an agent that is asked again while its model is down, unless a call of it is there, and of no other agent", () => {
    const accurate = setOf("sm", "mm", "ll");
    const sent = (policy: Policy) =>
      went(policy, [ask("a", "second", { programId: "p", accurate: setOf("ls", "lm") })], replicasOf(0, 4, 4));
    const finish = (policy: Policy, workId: string) =>
      policy.observe({ kind: "finished", workId, replicaId: "", nowSeconds: 2, failed: false });
    const again = ask("b", "second", { programId: "p" });
    const policy = policyOf();
    expect(sent(policy)).toEqual({ a: "small" });
    expect(went(policy, [again], replicasOf(null, 4, 4))).toEqual({ b: expect.stringContaining("No accurate configuration") });
    const answered = policyOf();
    sent(answered);
    finish(answered, "a");
    expect(went(answered, [again], replicasOf(null, 0, 0))).toEqual({ b: "medium" });
    // The first agent's answer of the small model was read: the second agent has to agree with it.
    const reader = policyOf();
    expect(went(reader, [ask("a", "first", { programId: "q", accurate })], replicasOf(0, 4, 4))).toEqual({ a: "small" });
    finish(reader, "a");
    expect(went(reader, [ask("b", "second", { programId: "q" })], replicasOf(null, 0, 0))).toEqual({ b: "medium" });
  });

  it("begins a program anew when an agent that reads nobody is asked once more after its answer, with what is said then", () => {
    const policy = policyOf();
    const free = replicasOf(0, 0, 0);
    const first = (id: string, ...initials: string[]) => ask(id, "first", { programId: "p", accurate: setOf(...initials) });
    const end = (workId: string, failed: boolean) => policy.observe({ kind: "finished", workId, replicaId: "", nowSeconds: 2, failed });
    expect(went(policy, [first("a", "ss", "sm")], free)).toEqual({ a: "small" });
    // Sent in parallel with that call, and again after it failed: the same turn.
    expect(went(policy, [first("b", "mm")], free)).toEqual({ b: "small" });
    end("a", false);
    expect(went(policy, [first("c", "mm")], free)).toEqual({ c: "small" });
    end("b", true);
    end("c", false);
    expect(went(policy, [ask("d", "second", { programId: "p" })], free)).toEqual({ d: "small" });
    end("d", false);
    expect(went(policy, [ask("e", "second", { programId: "p" })], free)).toEqual({ e: "small" });
    // The next turn, to which nothing of the previous turn applies; calls left of the previous turn do not affect it.
    expect(went(policy, [first("f", "mm")], free)).toEqual({ f: "medium" });
    end("e", true);
    expect(went(policy, [ask("g", "second", { programId: "p" })], replicasOf(0, 4, 0))).toEqual({});
    expect(went(policy, [ask("h", "second", { programId: "p" })], free)).toEqual({ h: "medium" });
    expect(policy.rounds!().programs).toMatchObject([{ programId: "p", chosen: [1, 1] }]);
  });

  it("takes agents side by side into the turn that one of them began, and a call that waits for one of its program's", () => {
    const policy = policyOf();
    const space = configurationSpace(testWorkflows[1]!, names);
    const only = (model: string) => {
      const set = emptySet(space.size);
      addConfiguration(set, configurationNamed(space, Object.fromEntries(space.agents.map((agent) => [agent, model])))!);
      return set;
    };
    const vote = (id: string, agent: string, accurate: Uint32Array): WaitingWork => ({
      ...ask(id, agent, { programId: "p", accurate }),
      call: { workflow: "vote", agent },
    });
    const voters = ["voter-1", "voter-2"];
    for (const model of ["medium", "large"]) {
      const works = voters.map((voter) => vote(`${model} ${voter}`, voter, only(model)));
      for (const work of works) policy.observe({ kind: "queued", work });
      expect(went(policy, works, replicasOf(0, 0, 0))).toEqual(Object.fromEntries(works.map(({ id }) => [id, model])));
      for (const { id } of works) policy.observe({ kind: "finished", workId: id, replicaId: "", nowSeconds: 2, failed: false });
    }
    const waits = vote("waits", "voter-1", only("medium"));
    policy.observe({ kind: "queued", work: waits });
    const joins = vote("joins", "voter-1", only("large"));
    policy.observe({ kind: "queued", work: joins });
    for (const workId of ["waits", "joins"]) policy.observe({ kind: "left", workId, nowSeconds: 2 });
    expect(went(policy, [vote("fresh", "voter-2", only("large"))], replicasOf(0, 4, 0))).toEqual({ fresh: "large" });
  });

  it("goes round a model that is down where it can, and says why where it cannot", () => {
    const flexible = ask("flexible", "first", { accurate: setOf("sm", "ms", "ss") });
    expect(went(policyOf(), [flexible], replicasOf(null, 0, 4))).toEqual({});
    expect(went(policyOf(), [flexible], replicasOf(0, null, 4))).toEqual({ flexible: "small" });
    expect(
      went(policyOf(), [flexible, ask("none", "second"), { ...ask("other", "x"), call: undefined }], replicasOf(null, null, null)),
    ).toEqual({
      flexible:
        "No accurate configuration of pair is left in which first and what comes after it do without small, medium, large, of which no engine is up.",
      none: "No accurate configuration of pair is left in which second and what comes after it do without small, medium, large, of which no engine is up.",
      other: "A request of no declared workflow, or of no agent of it, goes to large, of which no engine is up.",
    });
  });

  it("waits for a model that is not down although none of its replicas takes work", () => {
    const replicas = replicasOf(0, 0, 0).map((one) => ({ ...one, accepting: one.model !== "large" }));
    expect(went(policyOf(), [ask("a", "first")], replicas)).toEqual({});
  });

  it("sends to the largest model of whom nothing is known, what is no agent of a workflow and what has a set of another workflow", () => {
    const waiting = [
      ask("unsaid", "first"),
      ask("stranger", "third", { accurate: setOf("ss") }),
      ask("wrong", "first", { accurate: emptySet(99).fill(0xffffffff) }),
      { ...ask("alone", "x"), call: undefined },
    ];
    expect(went(policyOf(), waiting, replicasOf(0, 0, 0))).toEqual({ unsaid: "large", stranger: "large", wrong: "large", alone: "large" });
  });

  it("takes what is said of a program once, also when its first request has gone already", () => {
    const policy = policyOf();
    expect(went(policy, [ask("a", "first", { programId: "p" })], replicasOf(0, 0, 0))).toEqual({ a: "large" });
    expect(went(policy, [ask("b", "second", { programId: "p", accurate: setOf("ls") })], replicasOf(0, 4, 4))).toEqual({ b: "small" });
    expect(went(policy, [ask("c", "second", { programId: "p", accurate: setOf("lm") })], replicasOf(4, 0, 4))).toEqual({});
  });

  it("binds programs to the cheapest accurate configuration, or to the quickest by the load of the moment", () => {
    const waiting = [ask("a", "first", { accurate: setOf("sm", "ms", "mm") })];
    expect(went(policyOf({ kind: "cheapest" }), waiting, replicasOf(4, 0, 0))).toEqual({});
    expect(went(policyOf({ kind: "cheapest" }), waiting, replicasOf(0, 0, 0))).toEqual({ a: "small" });
    const crowded = Array.from({ length: 30 }, (_, at) => ask(`s${at}`, "first", { accurate: setOf("sm") }));
    const laterFlexible = ask("z", "first", { accurate: setOf("sl", "ml") });
    for (const when of ["arrival", "stage"] as const) {
      const quickest = policyOf({ kind: "quickest", when });
      expect(went(quickest, [...crowded, laterFlexible], replicasOf(4, 0, 0))).toMatchObject({ z: "medium" });
    }
  });

  it("chooses anew at each stage only where it is asked to", () => {
    const accurate = setOf("ss", "sm");
    const chosenSecond = (when: "arrival" | "stage") => {
      const policy = policyOf({ kind: "quickest", when });
      expect(went(policy, [ask("a", "first", { programId: "p", accurate })], replicasOf(0, 2, 0))).toEqual({ a: "small" });
      const others = ["x", "y", "z"].map((id) => ask(id, "first", { accurate: setOf("ss") }));
      return went(policy, [...others, ask("b", "second", { programId: "p" })], replicasOf(4, 0, 4));
    };
    expect(chosenSecond("stage")).toEqual({ b: "medium" });
    expect(chosenSecond("arrival")).toEqual({});
  });

  it("tells its latest rounds, newest first, and remembers no more than sixteen of them and sixty-four programs", () => {
    const policy = policyOf();
    expect(policy.rounds!()).toEqual({ rounds: [], programs: [] });
    for (let at = 0; at < 100; at += 1) {
      policy.decide({ nowSeconds: at, waiting: [ask(`w${at}`, "first", { accurate: setOf("ss") })], replicas: replicasOf(0, 0, 0) });
    }
    const { rounds, programs } = policy.rounds!();
    expect(rounds.map(({ nowSeconds }) => nowSeconds)).toEqual(Array.from({ length: 16 }, (_, back) => 99 - back));
    expect(programs.map(({ programId }) => programId)).toEqual(Array.from({ length: 64 }, (_, back) => `w${99 - back}`));
    expect(rounds[0]).toEqual({
      ...{ nowSeconds: 99, weighed: 1, passedOver: 0, requests: 1, kept: 2 },
      models: names.map((model) => ({ model, replicas: 1, down: false, inFlight: 0, saturation: 4, free: 4 })),
      candidates: [
        // 300 of 750, 375 and 250 tokens a second; both configurations agree in part.
        {
          ...{ utilisationGain: 300 / 1375, flexibility: 0.5, given: [1, 0, 0] },
          assignments: [{ workId: "w99", programId: "w99", agent: "first", model: "small" }],
        },
        {
          ...{ utilisationGain: 100 / 1375, flexibility: 0.5, given: [0, 0, 1] },
          assignments: [{ workId: "w99", programId: "w99", agent: "first", model: "large" }],
        },
      ],
    });
  });

  it("shows of a wide beam over a long round the best assignments and what the first requests get, and says of how many", () => {
    const policy = policyOf({ kind: "beam", width: 64 });
    const waiting = Array.from({ length: 200 }, (_, at) => ask(`w${at}`, "first", { accurate: setOf("ss", "ms") }));
    const replicas = names.flatMap((name, at) =>
      Array.from({ length: 50 }, (_, index) => ({ ...replicasOf(0, 0, 0)[at]!, id: `${name}-${index}` })),
    );
    policy.decide({ nowSeconds: 1, waiting, replicas });
    const [round] = policy.rounds!().rounds.slice(-1);
    expect(round).toMatchObject({ weighed: 200, requests: 200, kept: 64 });
    expect(round!.candidates).toHaveLength(8);
    for (const { given, assignments } of round!.candidates) {
      expect(given.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(64);
      expect(assignments.map(({ workId }) => workId)).toEqual(Array.from({ length: 64 }, (_, at) => `w${at}`));
    }
  });

  it("shows of rounds in which nothing could go only the last", () => {
    const policy = policyOf();
    const blocked = [ask("a", "first")];
    for (let nowSeconds = 0; nowSeconds < 5; nowSeconds += 1)
      policy.decide({ nowSeconds, waiting: blocked, replicas: replicasOf(0, 0, 4) });
    expect(policy.rounds!().rounds).toMatchObject([{ nowSeconds: 4, weighed: 1, passedOver: 1, candidates: [] }]);
  });

  it("lets more requests than it weighs at once through in one decision where there is room", () => {
    const waiting = Array.from({ length: 600 }, (_, at) => ask(`w${at}`, "first", { accurate: setOf("ss"), programArrivalSeconds: at }));
    const replicas = Array.from({ length: 150 }, (_, at) => ({ ...replicasOf(0)[0]!, id: `small-${at}` }));
    for (const selection of selections.slice(0, 2)) {
      expect(policyOf(selection).decide({ nowSeconds: 1, waiting, replicas: [...replicas, replicasOf(4, 4, 4)[2]!] })).toHaveLength(600);
    }
  });
});
