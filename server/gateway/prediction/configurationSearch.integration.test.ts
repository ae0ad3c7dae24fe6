import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { configurationPredictor } from "@/solver/prediction/configurations";
import { sketchOf } from "@/solver/words/sketch";
import { countOf } from "@/solver/workflow/configurationSet";
import type { GatewayLimits } from "../http/limits";
import { queuedOf } from "../testing/testCanary";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, until } from "../testing/testGateway";
import { longText, putArtefact, shortText, testConfidence, testConfigurations } from "../testing/testPredictors";
import { askAs, callOf, jitConfig, justInTime, ladder, roundsOf, voting } from "../testing/testRounds";
import type { Batch } from "./prediction";

/** A message to a thread. */
type Sent = { readonly task: Batch };

const predictor = testConfigurations(voting, ladder);
const policy = justInTime([{ workflow: voting, predictor: predictor.hash }]);
/** The number of the vote's configurations. */
const all = 3 ** 4;
const voters = ["voter-1", "voter-2", "voter-3"];

afterEach(() => void vi.restoreAllMocks());

/** Enough time for any search on a busy machine. */
const patient = { predictionSeconds: 20, searchSeconds: 20 } as const;

/** A gateway whose engines answer with their model's name, under rounds with a trained predictor. */
async function votingGateway(limits: Partial<GatewayLimits> = patient, stateDirectory?: string) {
  const engines = await Promise.all(ladder.map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
  const gateway = await startTestGateway(limits, stateDirectory === undefined ? {} : { stateDirectory });
  expect((await putArtefact(gateway, predictor)).status).toBe(200);
  const config = jitConfig(
    engines.map(({ url }) => url),
    policy,
  );
  await gateway.put(config);
  return { gateway, config, engines };
}

async function ask(gateway: TestGateway, headers: Record<string, string>, content: string): Promise<string | null> {
  const answer = await askAs(gateway, headers, content);
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get("x-weir-model");
}

/** What records say about accurate configurations and about predictors. */
async function told(gateway: TestGateway) {
  return (await gateway.decisions()).map(({ configurations, predictions }) => [configurations?.accurate, predictions?.absent]);
}

const countedSearches = async (gateway: TestGateway) => (await roundsOf(gateway)).predictions;

describe("accurate configurations in the gateway", () => {
  it("are searched for of a program's prompt, and have its stages run on models of one that is accurate", async () => {
    const { gateway } = await votingGateway();
    for (const voter of voters) await ask(gateway, callOf(voting, voter, "short"), shortText("q1"));
    await ask(gateway, callOf(voting, "aggregator", "short"), "which of these?");
    for (const voter of voters) expect(await ask(gateway, callOf(voting, voter, "long"), longText("q2"))).toBe("large");
    expect(await ask(gateway, callOf(voting, "aggregator", "long"), "which of these?")).toBe("large");
    const { programs, predictions } = await roundsOf(gateway);
    expect(programs.map(({ programId, accurate }) => [programId, countOf(Uint32Array.from(accurate))])).toEqual(
      expect.arrayContaining([
        ["short", all],
        ["long", 1],
      ]),
    );
    expect(predictions).toMatchObject({ whole: 2, partial: 0, none: 0 });
    expect(predictions.evaluatedShare).toBeGreaterThan(0);
    expect(predictions.evaluatedShare).toBeLessThan(1);
    expect(predictions.meanBudgetMs).toBe(20_000);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_configuration_searches_total{outcome="whole"} 2');
    expect(metrics).toContain("weir_gateway_configuration_search_seconds_count 2");
  });

  it("are told of the agents with which a program begins, who are asked about once, and stand in their records", async () => {
    const { gateway } = await votingGateway();
    for (const voter of voters) await ask(gateway, callOf(voting, voter, "p"), voter === "voter-1" ? shortText("q1") : longText("q2"));
    await ask(gateway, callOf(voting, "aggregator", "p"), longText("q3"));
    expect(await told(gateway)).toEqual([
      [all, undefined],
      [all, undefined],
      [all, undefined],
      // For later agents nothing is searched; they get the earlier result.
      [all, undefined],
    ]);
    const predicted = (await gateway.decisions()).map(({ predictions }) => predictions?.configurations);
    expect(predicted).toEqual([predictor.hash, predictor.hash, predictor.hash, undefined]);
    expect(await countedSearches(gateway)).toMatchObject({ whole: 1 });
  });

  it("are searched for anew with the next turn of a session, which goes where a fresh session goes, and not with a request that is asked again", async () => {
    const { gateway } = await votingGateway();
    const turn = async (program: string, text: string) => {
      const models: (string | null)[] = [];
      for (const voter of voters) models.push(await ask(gateway, callOf(voting, voter, program), text));
      return [...models, await ask(gateway, callOf(voting, "aggregator", program), "which of these?")];
    };
    expect(await turn("session", shortText("q1"))).not.toContain("large");
    const hard = await turn("session", longText("q2"));
    expect(hard).toEqual(["large", "large", "large", "large"]);
    expect(await turn("fresh", longText("q2"))).toEqual(hard);
    expect((await told(gateway)).map(([accurate]) => accurate)).toEqual(
      [all, 1, 1].flatMap((count) => Array.from({ length: 4 }, () => count)),
    );
    expect(await turn("session", longText("q2"))).toEqual(hard);
    expect(await countedSearches(gateway)).toMatchObject({ whole: 3 });
    expect(await turn("session", shortText("q1"))).not.toContain("large");
    expect(await countedSearches(gateway)).toMatchObject({ whole: 4 });
  });

  it("stay known of programs that are under way when another plan comes with the same predictor", async () => {
    const { gateway, config } = await votingGateway();
    for (const voter of voters) await ask(gateway, callOf(voting, voter, "p"), shortText("q1"));
    await gateway.put({ ...config, ...hashed({ ...policy, selection: { kind: "beam", width: 2 } }), planId: "plan-b" });
    expect(await ask(gateway, callOf(voting, "aggregator", "p"), "which of these?")).toBe("small");
    expect(await countedSearches(gateway)).toMatchObject({ whole: 1 });
  });

  it("have an agent that is asked again go to another model when its own has gone down since, answered or given up", async () => {
    const { gateway, engines, config } = await votingGateway();
    for (const agent of [...voters, "aggregator"]) expect(await ask(gateway, callOf(voting, agent, "p"), shortText("q1"))).toBe("small");
    await engines[0]!.close();
    expect(await ask(gateway, callOf(voting, "aggregator", "p"), shortText("q1"))).not.toBe("small");
    const hung = await heldEngine();
    const urls = engines.map(({ url }, at) => (at === 0 ? hung.url : url));
    await gateway.put({ ...config, replicas: jitConfig(urls, policy).replicas });
    const leave = new AbortController();
    const body = JSON.stringify({ model: "cascade/test", messages: [{ role: "user", content: shortText("q1") }] });
    const first = fetch(`${gateway.dataUrl}/v1/chat/completions`, {
      ...{ method: "POST", headers: { "content-type": "application/json", ...callOf(voting, "voter-1", "q") }, body, signal: leave.signal },
    }).catch(() => "gone");
    await until(() => hung.asked.length === 1);
    leave.abort();
    expect(await first).toBe("gone");
    await until(async () => {
      const { replicas } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
      return replicas.every(({ inFlight }) => inFlight === 0);
    });
    await hung.close();
    expect(await ask(gateway, callOf(voting, "voter-1", "q"), shortText("q1"))).not.toBe("small");
  });

  it("are one set for the agents of a program that come at once, however many programs come with them", async () => {
    const { gateway } = await votingGateway();
    const programs = Array.from({ length: 24 }, (_, at) => ({ program: `p${at}`, text: at % 2 === 0 ? shortText("q1") : longText("q2") }));
    await Promise.all(programs.flatMap(({ program, text }) => voters.map((voter) => ask(gateway, callOf(voting, voter, program), text))));
    const decisions = await gateway.decisions();
    expect(decisions).toHaveLength(72);
    for (const { program, configurations } of decisions)
      expect(configurations?.accurate).toBe(Number(program?.slice(1)) % 2 === 0 ? all : 1);
    expect(await countedSearches(gateway)).toMatchObject({ whole: 24, partial: 0, none: 0 });
  });

  it("have nothing remembered of prompts and answers: their policy reads no lengths", async () => {
    const { gateway } = await votingGateway();
    for (const voter of voters) await ask(gateway, callOf(voting, voter, "p"), shortText("q1"));
    expect(await (await fetch(`${gateway.adminUrl}/learning`)).text()).toBe("");
  });

  it("are nobody's business where the workflow is unknown, the agent is, or no predictor is named", async () => {
    const { gateway, config } = await votingGateway();
    const strangers = [callOf({ name: "unknown" }, "voter-1", "a"), callOf(voting, "nobody", "b"), { "x-session-id": "c" }];
    for (const headers of strangers) expect(await ask(gateway, headers, shortText("q1"))).toBe("large");
    await gateway.put({ ...config, ...hashed(justInTime([{ workflow: voting }])) });
    expect(await ask(gateway, callOf(voting, "voter-1", "d"), shortText("q1"))).toBe("large");
    expect(await told(gateway)).toEqual(Array.from({ length: 4 }, () => [undefined, undefined]));
    expect(await countedSearches(gateway)).toMatchObject({ whole: 0, partial: 0, none: 0, meanMs: null });
  });

  it("are searched for while the request waits in its queue, where it keeps its turn", async () => {
    const { gateway } = await votingGateway();
    const post = Worker.prototype.postMessage;
    const held: (() => void)[] = [];
    const posting = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message: Sent) {
      held.push(() => post.call(this, message));
    });
    const first = askAs(gateway, callOf(voting, "voter-1", "p"), shortText("q1"));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 1);
    // Others with room are served meanwhile.
    expect((await askAs(gateway, callOf({ name: "unknown" }, "voter-1", "q"), "hello")).status).toBe(200);
    expect(await queuedOf(gateway)).toMatchObject({ "cascade/test": 1 });
    posting.mockRestore();
    for (const send of held) send();
    const answer = await first;
    await answer.text();
    expect(answer.headers.get("x-weir-model")).not.toBe("large");
    const own = (await gateway.decisions()).find(({ program }) => program === "p");
    expect(own?.configurations?.accurate).toBe(all);
    expect(own?.searched).toBe(own?.stages[0]?.at?.dispatched);
    expect((await countedSearches(gateway)).waitedFor).toEqual({ search: 1, engine: 0 });
  });

  it("that are cut off in their time are those that were verified by then, and at least the largest models", async () => {
    const { gateway } = await votingGateway();
    const post = Worker.prototype.postMessage;
    vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message: Sent) {
      return post.call(this, { ...message, task: { ...message.task, searchMs: 0 } });
    });
    expect(await ask(gateway, callOf(voting, "voter-1", "p"), shortText("q1"))).toBe("large");
    expect(await told(gateway)).toEqual([[1, undefined]]);
    expect(await countedSearches(gateway)).toMatchObject({ whole: 0, partial: 0, none: 1, evaluatedShare: 0 });
  });

  it("are searched for as long as four in five requests wait of late, within bounds", async () => {
    const held = await heldEngine();
    const others = await Promise.all(ladder.slice(0, 2).map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
    const gateway = await startTestGateway({ predictionSeconds: 20, searchSeconds: 0.001 });
    await putArtefact(gateway, predictor);
    const urls = [...others.map(({ url }) => url), held.url];
    await gateway.put(jitConfig(urls, policy, 1));
    const allowed: number[] = [];
    const post = Worker.prototype.postMessage;
    vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message: Sent) {
      allowed.push(message.task.questions[0]?.searchMs ?? Number.NaN);
      return post.call(this, message);
    });
    // A request without a workflow goes to the largest model, whose engine takes one request.
    const strangers = ["a", "b", "c", "d", "e", "f", "g", "h"].map((session) => ({ "x-session-id": session }));
    const callers = [callOf(voting, "voter-1", "first"), ...strangers];
    const waiting = callers.map((headers) => askAs(gateway, headers, shortText("q1")));
    await until(async () => held.asked.length === 1 && ((await queuedOf(gateway))["cascade/test"] ?? 0) > 0);
    expect(allowed).toEqual([1]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    held.open();
    await Promise.all(waiting);
    await askAs(gateway, callOf(voting, "voter-1", "later"), shortText("q1"));
    // One of nine did not wait.
    expect(allowed[1]).toBeGreaterThan(10);
    expect(allowed[1]).toBeLessThanOrEqual(20_000);
  });

  it("that do not come are done without, in a search's time and not in that of other predictions", async () => {
    const { gateway } = await votingGateway({ predictionSeconds: 600, searchSeconds: 0.02 });
    vi.spyOn(Worker.prototype, "postMessage").mockImplementation(() => undefined);
    expect(await ask(gateway, callOf(voting, "voter-1", "p"), shortText("q1"))).toBe("large");
    // The others of its program cause no further search, and get the same result.
    expect(await ask(gateway, callOf(voting, "voter-2", "p"), shortText("q1"))).toBe("large");
    expect(await told(gateway)).toEqual([
      [undefined, "late"],
      [undefined, "late"],
    ]);
    expect(await countedSearches(gateway)).toMatchObject({ whole: 0, partial: 0, none: 0, unasked: 1, meanMs: null });
  });

  it("are those of the largest models for a program that was under way when the gateway was started anew", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await votingGateway(patient, stateDirectory);
    for (const voter of voters) await ask(gateway, callOf(voting, voter, "p"), shortText("q1"));
    const again = await startTestGateway(patient, { stateDirectory });
    expect(await ask(again, callOf(voting, "aggregator", "p"), shortText("q1"))).toBe("large");
    expect(await told(again)).toEqual([[undefined, undefined]]);
    // Its predictor is available again for programs that begin.
    await ask(again, callOf(voting, "voter-1", "q"), shortText("q1"));
    expect((await told(again))[1]).toEqual([all, undefined]);
  });

  it("are what the heads accept of the request's own text", async () => {
    const { gateway } = await votingGateway();
    const artefact = decodeArtefact(predictor.bytes);
    if (artefact.kind !== "configurations") throw new Error("The artefact is of another kind.");
    const { predict } = configurationPredictor(artefact);
    for (const [at, text] of [shortText("q1"), longText("q2"), "hello"].entries()) {
      await ask(gateway, callOf(voting, "voter-1", `p${at}`), text);
      const promptTokens = Math.ceil(text.length / 4);
      const facts = { instructionTokens: 0, promptTokens, inputTokens: promptTokens, workflow: "voting", stage: "voter-1" };
      const [found] = predict([{ ...facts, sketch: sketchOf(text) }]);
      expect((await gateway.decisions()).at(-1)?.configurations?.set).toEqual([...(found?.accurate ?? [])]);
    }
  });
});

describe("a predictor of configurations that a plan names", () => {
  it("is listed as one, and refused in a sentence where it is missing, of another kind, or for another workflow or other models", async () => {
    const { gateway, config } = await votingGateway();
    const confidence = testConfidence(ladder);
    await putArtefact(gateway, confidence);
    const { artefacts } = (await (await fetch(`${gateway.adminUrl}/artefacts`)).json()) as { artefacts: { kind: string; used: boolean }[] };
    expect(artefacts.map(({ kind, used }) => [kind, used])).toEqual([
      ["configurations", true],
      ["confidence", false],
    ]);
    const refusal = async (workflows: Parameters<typeof justInTime>[0], change: Parameters<typeof justInTime>[1] = {}) => {
      const next = { ...config, ...hashed(justInTime(workflows, change)) };
      const answer = await fetch(`${gateway.adminUrl}/config/validate`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(next),
      });
      return ((await answer.json()) as { error?: { message: string } }).error?.message;
    };
    const short = predictor.hash.slice(0, 12);
    expect(await refusal([{ workflow: voting, predictor: predictor.hash }])).toBe(undefined);
    expect(await refusal([{ workflow: voting, predictor: "5".repeat(64) }])).toBe(
      `The policy names the predictor 555555555555 for configurations of voting, which this gateway does not have: PUT it to /artefacts/${"5".repeat(64)} first.`,
    );
    expect(await refusal([{ workflow: voting, predictor: confidence.hash }])).toBe(
      `The policy names the predictor ${confidence.hash.slice(0, 12)} for configurations of voting, but it is one for confidence.`,
    );
    const named = `The policy names the predictor ${short} for configurations of`;
    expect(await refusal([{ workflow: { ...voting, name: "ballot" }, predictor: predictor.hash }])).toBe(
      `${named} ballot over small, medium, large, but it is one for the workflow voting.`,
    );
    const agents = voting.agents.map((agent) => (agent.name === "aggregator" ? { ...agent, sameModelAs: "voter-1" } : agent));
    expect(await refusal([{ workflow: { ...voting, agents }, predictor: predictor.hash }])).toBe(
      `${named} voting over small, medium, large, but its agents read one another, or might run, otherwise when it was trained.`,
    );
    const { models } = policy;
    expect(await refusal([{ workflow: voting, predictor: predictor.hash }], { models: models.slice(1) })).toBe(
      `${named} voting over medium, large, but it is one over small, medium, large.`,
    );
    expect(await refusal([{ workflow: { ...voting, agents: voting.agents.slice(0, 3) }, predictor: predictor.hash }])).toBe(
      `${named} voting over small, medium, large, but it is one for the agents voter-1, voter-2, voter-3, aggregator.`,
    );
  });
});
