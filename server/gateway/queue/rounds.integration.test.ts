import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { countOf } from "@/solver/workflow/configurationSet";
import { sha256 } from "../prediction/artifactStore";
import { messageOf, queuedOf, signed } from "../testing/testCanary";
import { heldEngine, sayCompletion, startTestEngine, type TestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";
import { putArtefact, shortText, testConfigurations } from "../testing/testPredictors";
import { alone, askAs, callOf, jitConfig, justInTime, ladder, pinned, roundsOf, voting } from "../testing/testRounds";

/** An engine for each model, smallest first, that answers with its name. */
const engines = () => Promise.all(ladder.map((model) => startTestEngine((_, response) => sayCompletion(response, model))));

/** An engine that breaks off every call, and reports that it is not healthy. */
async function brokenEngine(): Promise<TestEngine> {
  const engine = await startTestEngine((_, response) => response.destroy());
  engine.pages.set("/health", (response) => response.writeHead(503).end());
  return engine;
}

/** A gateway under such a policy, and its engines. */
async function gatewayOf(policy = justInTime([{ workflow: pinned }, { workflow: voting }])) {
  const started = await engines();
  const gateway = await startTestGateway();
  const config = jitConfig(
    started.map(({ url }) => url),
    policy,
  );
  await gateway.put(config);
  return { gateway, config, engines: started };
}

const modelOf = (answer: Response): string | null => answer.headers.get("x-weir-model");

describe("a policy that chooses models when engines have room", () => {
  it("has each agent of a program run on the model that its workflow lets it, and says so in headers and records", async () => {
    const { gateway, engines } = await gatewayOf();
    const agents = ["drafter", "critic", "editor"];
    for (const [at, agent] of agents.entries()) {
      const answer = await askAs(gateway, callOf(pinned, agent, "program-1"));
      expect([answer.status, modelOf(answer), answer.headers.get("x-weir-stage")]).toEqual([200, ladder[at], String(at + 1)]);
      expect(await answer.text()).toContain(`"${ladder[at]}"`);
    }
    expect(engines.map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
    const decisions = await gateway.decisions();
    expect(decisions.map(({ call, program }) => [call, program])).toEqual(
      agents.map((agent) => [{ workflow: "pinned", agent }, "program-1"]),
    );
    expect(decisions.map(({ stages }) => stages.map(({ model, replica, verdict }) => [model, replica, verdict]))).toEqual(
      ladder.map((model) => [[model, `${model}-0`, "accepted"]]),
    );
    // All three have the time at which the first of them began.
    expect(new Set(decisions.map(({ programStart }) => programStart)).size).toBe(1);
  });

  it("sends what is of no declared workflow, or of an agent that it lacks, to the largest", async () => {
    const { gateway } = await gatewayOf();
    const strangers = [{}, callOf({ name: "unknown" }, "drafter", "p"), callOf(pinned, "nobody", "p"), { "x-weir-workflow": "pinned" }];
    for (const headers of strangers) expect(modelOf(await askAs(gateway, headers))).toBe("large");
    expect(modelOf(await gateway.chat({ model: "small" }))).toBe("small");
    expect((await gateway.decisions()).map(({ call }) => call)).toEqual([
      undefined,
      { workflow: "unknown", agent: "drafter" },
      { workflow: "pinned", agent: "nobody" },
      undefined,
      undefined,
    ]);
  });

  it("passes on what waits for a model that is full, and counts all that waits as one line, which bars nobody who names a model", async () => {
    const small = await heldEngine();
    const [, medium, large] = await engines();
    const gateway = await startTestGateway({ queuedPerModel: 3 });
    await gateway.put(jitConfig([small.url, medium!.url, large!.url], justInTime([{ workflow: pinned }]), 1));
    const first = askAs(gateway, callOf(pinned, "drafter", "p0"));
    await until(() => small.asked.length === 1);
    const waiting = ["p1", "p2", "p3"].map((program) => askAs(gateway, callOf(pinned, "drafter", program)));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 3);
    const shed = await askAs(gateway, callOf(pinned, "critic", "p9"));
    expect([shed.status, await messageOf(shed)]).toEqual([429, "3 requests wait for cascade/test, the gateway's limit."]);
    expect(await queuedOf(gateway)).toEqual({ small: 0, medium: 0, large: 0, "cascade/test": 3 });
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).toContain('weir_gateway_queued{model="cascade/test"} 3');
    expect((await gateway.chat({ model: "large" })).status).toBe(200);
    expect(Number(shed.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    small.open();
    expect((await Promise.all([first, ...waiting])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await queuedOf(gateway)).toEqual({ small: 0, medium: 0, large: 0, "cascade/test": 0 });
    const passedOver = (await askAs(gateway, callOf(pinned, "critic", "p9"))).status;
    expect(passedOver).toBe(200);
  });

  it("takes in what an idle model may serve while many requests wait for the largest by its own name", async () => {
    const large = await heldEngine();
    const [small, medium] = await engines();
    const gateway = await startTestGateway({ queuedPerModel: 3 });
    await gateway.put(jitConfig([small!.url, medium!.url, large.url], justInTime([{ workflow: pinned }]), 1));
    const answers = Array.from({ length: 4 }, () => gateway.chat({ model: "large" }));
    await until(async () => (await queuedOf(gateway)).large === 3);
    const shed = await gateway.chat({ model: "large" });
    expect([shed.status, await messageOf(shed)]).toEqual([429, "3 requests wait for large, the gateway's limit."]);
    expect((await askAs(gateway, callOf(pinned, "drafter", "p1"))).status).toBe(200);
    large.open();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("has the engines of two models at work while a third is full", async () => {
    const small = await heldEngine();
    const [, medium, large] = await engines();
    const gateway = await startTestGateway();
    await gateway.put(jitConfig([small.url, medium!.url, large!.url], justInTime([{ workflow: pinned }]), 1));
    const drafts = ["p0", "p1", "p2"].map((program) => askAs(gateway, callOf(pinned, "drafter", program)));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 2);
    for (const agent of ["critic", "editor"]) expect((await askAs(gateway, callOf(pinned, agent, "p8"))).status).toBe(200);
    small.open();
    await Promise.all(drafts);
  });

  it("gives free room in the order in which programs began, whichever of their agents asks", async () => {
    const large = await heldEngine();
    const [small, medium] = await engines();
    const gateway = await startTestGateway();
    await gateway.put(jitConfig([small!.url, medium!.url, large.url], justInTime([{ workflow: pinned }]), 1));
    // The first begins before the others, and reaches its last agent after them.
    for (const agent of ["drafter", "critic"]) await askAs(gateway, callOf(pinned, agent, "early"));
    const answers = ["p1", "p2"].map((program) => askAs(gateway, callOf(pinned, "editor", program), program));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 1);
    answers.push(askAs(gateway, callOf(pinned, "editor", "early"), "early"));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 2);
    large.open();
    await Promise.all(answers);
    const asked = large.asked.map(({ body }) => (body.messages as readonly { readonly content: string }[])[0]?.content);
    expect(asked).toEqual(["p1", "early", "p2"]);
  });
});

describe("a model whose engines are down", () => {
  it("has what needs it refused with one sentence, which those who are told to wait hear too, and leaves the rest alone", async () => {
    const { gateway, engines } = await gatewayOf();
    await engines[2]!.close();
    // The request that its engine fails finds it out of service, and waits for it until it counts as down.
    const refused = await askAs(gateway, callOf(pinned, "editor", "p1"));
    expect(refused.status).toBe(503);
    const { error } = (await refused.json()) as { error: { message: string; code: string } };
    expect(error.code).toBe("no_configuration");
    for (const name of ["pinned", "editor", "large"]) expect(error.message).toContain(name);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await askAs(gateway, callOf(pinned, "drafter", "p2"))).status).toBe(503);
    expect((await askAs(gateway, {})).status).toBe(503);
    const [decision] = await gateway.decisions();
    expect(decision).toMatchObject({ status: 503, reason: error.message });
    expect(decision?.stages.every(({ verdict }) => verdict === "failed")).toBe(true);
  });

  it("costs nothing while other models may do its work, and all where none has an engine left", async () => {
    const { gateway, engines } = await gatewayOf(justInTime(ladder.map((model) => ({ workflow: alone(model) }))));
    const ask = (model: string) => askAs(gateway, callOf(alone(model), "solver", `of ${model}`));
    await Promise.all(engines.slice(1).map((engine) => engine.close()));
    expect(await Promise.all(ladder.map(async (model) => (await ask(model)).status))).toEqual([200, 503, 503]);
    await engines[0]!.close();
    expect((await ask("small")).status).toBe(503);
    const shed = await ask("small");
    expect([shed.status, await messageOf(shed)]).toEqual([503, "No engine of small or medium or large takes work at the moment."]);
  });

  it("has waiting work go on when an engine is back before it counts as down", async () => {
    const broken = { left: 1 };
    const flaky = await startTestEngine((_, response) => {
      broken.left -= 1;
      if (broken.left >= 0) response.destroy();
      else sayCompletion(response, "back");
    });
    const [small, medium] = await engines();
    const gateway = await startTestGateway();
    await gateway.put(jitConfig([small!.url, medium!.url, flaky.url], justInTime([{ workflow: pinned }])));
    expect((await askAs(gateway, callOf(pinned, "editor", "p1"))).status).toBe(200);
    const [decision] = await gateway.decisions();
    expect(decision?.stages.map(({ model, verdict }) => [model, verdict])).toEqual([
      ["large", "failed"],
      ["large", "accepted"],
    ]);
  });

  it("is done without where another may do its work, and stays with the program that it answered", async () => {
    const [small, medium] = await Promise.all([brokenEngine(), brokenEngine()]);
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const gateway = await startTestGateway({ predictionSeconds: 5, searchSeconds: 5 });
    const predictor = testConfigurations(voting, ladder);
    await putArtefact(gateway, predictor);
    const policy = justInTime([{ workflow: voting, predictor: predictor.hash }]);
    await gateway.put(jitConfig([small.url, medium.url, large.url], policy));
    const ask = (agent: string) => askAs(gateway, callOf(voting, agent, "program-1"), shortText("it"));
    expect((await ask("voter-1")).status).toBe(200);
    const [decision] = await gateway.decisions();
    expect(decision?.configurations).toMatchObject({ accurate: 81, of: 81 });
    const tried = decision?.stages.map(({ model, verdict }) => `${model} ${verdict}`) ?? [];
    expect(tried.at(-1)).toBe("large accepted");
    expect(new Set(tried).size).toBe(tried.length);
    const [path] = (await roundsOf(gateway)).programs;
    expect(path?.chosen).toEqual([2, -1, -1, -1]);
    expect([path?.accurate, path?.left].map((words) => countOf(Uint32Array.from(words ?? [])))).toEqual([81, 27]);
    const again = await ask("voter-1");
    expect([again.status, modelOf(again)]).toEqual([200, "large"]);
  });

  it("is tried no more often than a stage may be, whichever engines fail it", async () => {
    const broken = await startTestEngine((_, response) => response.destroy());
    const [small, medium] = await engines();
    const gateway = await startTestGateway();
    await gateway.put(jitConfig([small!.url, medium!.url, broken.url], justInTime([{ workflow: pinned }])));
    const failed = await askAs(gateway, callOf(pinned, "editor", "p1"));
    expect([failed.status, await messageOf(failed)]).toEqual([502, expect.stringMatching(/^Engines failed 3 times, last on large-0: /)]);
    expect(broken.asked).toHaveLength(3);
  });

  it("has its requests wait while a roll-out brings it back", async () => {
    const { gateway, config, engines } = await gatewayOf();
    const replicas = config.replicas.map((replica) => (replica.model === "large" ? { ...replica, state: "cordoned" as const } : replica));
    await gateway.put({ ...config, replicas, awaited: ["large"] });
    const waiting = askAs(gateway, callOf(pinned, "editor", "p1"));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 1);
    await gateway.put({ ...config, replicas });
    expect((await waiting).status).toBe(503);
    await gateway.put(config);
    expect((await askAs(gateway, callOf(pinned, "editor", "p1"))).status).toBe(200);
    expect(engines[2]!.asked).toHaveLength(1);
  });
});

describe("plans and controls", () => {
  it("give rounds another order and place, under which programs keep to their models", async () => {
    const { gateway, config } = await gatewayOf();
    const queueing = { order: { kind: "workflow", agingThreshold: 10 }, place: { kind: "time-slots" } } as const;
    await gateway.put({ ...config, ...hashed(justInTime([{ workflow: pinned }], queueing)) });
    const answers = await Promise.all(
      ["p1", "p2"].flatMap((program) => ["drafter", "editor"].map((agent) => askAs(gateway, callOf(pinned, agent, program)))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.map(modelOf)).toEqual(["small", "large", "small", "large"]);
  });

  it("are refused in a sentence where they make no sense, and what is in force stays", async () => {
    const { gateway, config } = await gatewayOf();
    const put = async (change: object): Promise<readonly [number, string]> => {
      const headers = {
        "content-type": "application/json",
        "if-match": (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "",
      };
      const answer = await fetch(`${gateway.adminUrl}/config`, { method: "PUT", headers, body: JSON.stringify({ ...config, ...change }) });
      return [answer.status, await messageOf(answer)];
    };
    const wrongChanges: readonly (readonly [object, string])[] = [
      [hashed(justInTime([{ workflow: pinned }], { order: { kind: "sjf", agingThreshold: 0 } })), "agingThreshold"],
      [hashed(justInTime([{ workflow: pinned }, { workflow: pinned }])), "pinned"],
      [hashed(justInTime([{ workflow: voting, predictor: "0".repeat(64) }])), "0000"],
      [{ replicas: config.replicas.slice(0, 2) }, "large has no replica"],
    ];
    for (const [change, said] of wrongChanges)
      expect(await put(change)).toEqual([expect.toBeOneOf([400, 409, 422]), expect.stringContaining(said)]);
    expect(modelOf(await askAs(gateway, callOf(pinned, "drafter", "p1")))).toBe("small");
  });

  it("has waiting work begin anew under the plan that takes the place of one whose models left", async () => {
    const large = await heldEngine();
    const [small, medium] = await engines();
    const gateway = await startTestGateway();
    await gateway.put(jitConfig([small!.url, medium!.url, large.url], justInTime([{ workflow: pinned }]), 1));
    const answers = ["p1", "p2"].map((program) => askAs(gateway, callOf(pinned, "editor", program)));
    await until(async () => (await queuedOf(gateway))["cascade/test"] === 1);
    await gateway.put(testConfig({ stages: [{ model: "small", urls: [small!.url] }], planId: "plan-b" }));
    await until(() => small!.asked.length === 1);
    large.open();
    expect((await Promise.all(answers)).map((answer) => [modelOf(answer), answer.headers.get("x-weir-plan")])).toEqual([
      ["large", "plan-a"],
      ["small", "plan-b"],
    ]);
  });

  it("can be a canary's candidate and gives way to a panic, and is neither a shadow nor followed by one", async () => {
    const { gateway, config } = await gatewayOf();
    const { adminUrl } = gateway;
    const put = (path: string, body: unknown) =>
      fetch(`${adminUrl}${path}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...signed, ...(body as object) }),
      });
    const candidate = { planId: "plan-b", ...hashed(justInTime([{ workflow: pinned }])) };
    const fixed = { planId: "plan-c", ...hashed({ ...oneModel(["http://127.0.0.1:9"]).policy }) };
    const [shadow, followed] = [await put("/shadow", { candidate }), await put("/shadow", { candidate: fixed })];
    expect([shadow.status, await messageOf(shadow)]).toEqual([400, expect.stringContaining("try it as a canary")]);
    expect([followed.status, await messageOf(followed)]).toEqual([409, expect.stringContaining("chooses a model when an engine has room")]);
    expect((await put("/panic", { model: "small" })).status).toBe(200);
    expect(modelOf(await askAs(gateway, callOf(pinned, "editor", "p1")))).toBe("small");
    await fetch(`${adminUrl}/panic`, { method: "DELETE", headers: { "content-type": "application/json" }, body: JSON.stringify(signed) });
    await gateway.put({ ...config, ...fixed, planId: "plan-c" });
    const canary = await put("/canary", {
      ...{ candidate, shares: [1], stepSeconds: 1000, minRequests: 1, stop: { errorShare: 0.5, slow: null } },
    });
    expect([canary.status, await canary.text()]).toEqual([200, expect.any(String)]);
    const answer = await askAs(gateway, callOf(pinned, "drafter", "p2"));
    expect([modelOf(answer), answer.headers.get("x-weir-plan")]).toEqual(["small", "plan-b"]);
  });
});

describe("GET /rounds", () => {
  it("shows the latest rounds and the way of each program, beside what they are counted as", async () => {
    const { gateway } = await gatewayOf();
    expect(await roundsOf(gateway)).toMatchObject({
      rounds: [],
      programs: [],
      predictions: { whole: 0, partial: 0, none: 0, meanMs: null },
    });
    for (const agent of ["drafter", "critic"]) await askAs(gateway, callOf(pinned, agent, "program-1"));
    const { rounds, programs, asOfSeconds } = await roundsOf(gateway);
    expect(rounds).toHaveLength(2);
    const [latest] = rounds ?? [];
    expect(latest).toMatchObject({ weighed: 1, passedOver: 0 });
    expect(latest?.models.map(({ model, replicas, down, free }) => [model, replicas, down, free])).toEqual(
      ladder.map((model) => [model, 1, false, 4]),
    );
    expect(latest?.candidates[0]?.assignments).toMatchObject([{ programId: "program-1", agent: "critic", model: "medium" }]);
    expect(asOfSeconds).toBeGreaterThanOrEqual(latest?.nowSeconds ?? Number.POSITIVE_INFINITY);
    expect(programs).toMatchObject([
      { programId: "program-1", workflow: "pinned", configurations: 1, accurate: [1], left: [1], chosen: [0, 1, -1] },
    ]);
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    for (const line of [
      "weir_gateway_rounds_total 2",
      'weir_gateway_round_requests_total{model="small"} 1',
      "weir_gateway_round_refusals_total",
    ])
      expect(text).toContain(line);
  });

  it("takes sessions of one name under different keys for different programs", async () => {
    const { gateway, config } = await gatewayOf();
    const secrets = ["secret-a", "secret-b"];
    const keys = secrets.map((secret) => ({ name: `of ${secret}`, sha256: sha256(Buffer.from(secret)) }));
    await gateway.put({ ...config, settings: { keys } });
    for (const [at, secret] of secrets.entries()) {
      const headers = { ...callOf(pinned, ["drafter", "critic"][at] ?? "", "session-1"), authorization: `Bearer ${secret}` };
      expect((await askAs(gateway, headers)).status).toBe(200);
    }
    const { rounds, programs } = await roundsOf(gateway);
    expect(programs.map(({ programId, chosen }) => [programId, chosen]).sort()).toEqual([
      ["session-1", [-1, 1, -1]],
      ["session-1", [0, -1, -1]],
    ]);
    expect(rounds?.[0]?.candidates[0]?.assignments[0]?.programId).toBe("session-1");
  });

  it("says that a policy which does not decide in rounds has none", async () => {
    const gateway = await startTestGateway();
    expect(await roundsOf(gateway)).toMatchObject({ rounds: null, programs: [] });
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    await gateway.put(oneModel([engine.url]));
    expect((await gateway.chat({})).status).toBe(200);
    expect((await roundsOf(gateway)).rounds).toBeNull();
    const [decision] = (await gateway.decisions()) as [Decision];
    expect(decision.call).toBeUndefined();
  });
});
