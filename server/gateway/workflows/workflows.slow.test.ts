import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMessage } from "@/public/agents/weirAgents";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { type GatewayWorkflows, gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, temporaryDirectory, testConfig, until } from "../testing/testGateway";
import { startGatewayProcess } from "../testing/testProcesses";
import { call, forget, learntGateway, programsOf, quickEngine, runProgram, served, timeScale, workflowsOf } from "../testing/testWorkflows";

/** The graph without its times. */
const graphOf = ({ learnt }: GatewayWorkflows) =>
  learnt.applications.map(({ name, programs, nodes, edges }) => ({
    name,
    programs,
    nodes: nodes.map(({ key, calls, begins, ends }) => ({ key, calls, begins, ends })).sort((a, b) => a.key.localeCompare(b.key)),
    edges: edges
      .map(({ from, to, calls, loop }) => ({ from, to, calls, loop }))
      .sort((a, b) => `${a.from}${a.to}`.localeCompare(`${b.from}${b.to}`)),
  }));

const developGraph = [
  {
    name: "develop",
    programs: 2,
    nodes: [
      { key: "develop/coder", calls: 4, begins: 0, ends: 2 },
      { key: "develop/planner", calls: 2, begins: 2, ends: 0 },
      { key: "develop/reviewer", calls: 2, begins: 0, ends: 0 },
    ],
    edges: [
      { from: "develop/coder", to: "develop/reviewer", calls: 2, loop: false },
      { from: "develop/planner", to: "develop/coder", calls: 2, loop: false },
      { from: "develop/reviewer", to: "develop/coder", calls: 2, loop: true },
    ],
  },
];

describe("what a gateway learns of workflows", () => {
  it("is the graph of calls of an application that nobody configured, loops among it", async () => {
    const { gateway } = await learntGateway();
    const workflows = await workflowsOf(gateway);
    expect(graphOf(workflows)).toEqual(developGraph);
    expect(workflows).toMatchObject({ memory: null, used: false });
    expect(Math.abs(Date.now() - workflows.sinceMs)).toBeLessThan(60_000);
    const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).text();
    for (const line of ['weir_workflow_calls_total{named="yes"} 8', "weir_workflow_programs_total 2"])
      expect(await metrics()).toContain(line);
    // Two programs are too few for latencies to converge, so no agent has a place.
    expect(await metrics()).toContain("weir_workflow_agents 0");
  });

  it("has a call follow as many calls of one agent as it names, by the headers that applications' own client writes", async () => {
    const held = await heldEngine();
    const gateway = await startTestGateway();
    await gateway.put({ ...oneModel([held.url], 8), timeScale: 20 });
    const message = startMessage("vote");
    const ask = (agent: string) => message.call(agent, (headers) => call(gateway, headers));
    const votes = Array.from({ length: 4 }, () => ask("voter"));
    await until(() => held.asked.length === 4);
    held.open();
    await Promise.all(votes);
    await ask("aggregator");
    await until(async () => (await programsOf(gateway)) === 1);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ programs: 1, calls: 5, missingUpstream: 0, lateCalls: 0 });
    expect(learnt.applications).toMatchObject([
      { name: "vote", nodes: [{ calls: 4 }, { calls: 1 }], edges: [{ from: "vote/voter", to: "vote/aggregator", calls: 4, joins: 4 }] },
    ]);
    expect(learnt.agents.map(({ name, remainingCalls }) => [name, remainingCalls])).toEqual([
      ["voter", 2],
      ["aggregator", 1],
    ]);
  });

  it("takes calls of one trace for one program, and says so in their records", async () => {
    const gateway = await startTestGateway();
    await gateway.put(served(await quickEngine()));
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (const agent of ["planner", "coder"])
      await call(gateway, { traceparent: `00-${trace}-00f067aa0ba902b7-00`, "x-weir-agent": agent });
    await until(async () => (await programsOf(gateway)) === 1);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.applications).toMatchObject([
      { name: "planner", programs: 1, edges: [{ from: "planner/planner", to: "planner/coder" }] },
    ]);
    expect((await gateway.decisions()).map(({ program, agent }) => [program, agent])).toEqual([
      [trace, "planner/planner"],
      [trace, "planner/coder"],
    ]);
  });

  it("has a place for calls that say nothing, each a program of its own", async () => {
    const gateway = await startTestGateway();
    await gateway.put(served(await quickEngine()));
    for (let at = 0; at < 3; at += 1) await call(gateway, {});
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ programs: 3, calls: 3, openPrograms: 0, unnamedCalls: 3 });
    expect(learnt.applications).toMatchObject([{ programs: 3, nodes: [{ name: "", calls: 3 }], edges: [] }]);
    expect((await gateway.decisions()).map(({ program, agent }) => [program, agent])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it.each([
    ["too long", "x".repeat(200)],
    ["a sentence", "the one who plans"],
    ["of another alphabet", "\u00fc\u00e4"],
    ["of a member that objects have", "constructor"],
    ["a path", "../../etc/passwd"],
    ["a number too many", "-1"],
  ])("answers a call whose names are %s like any other", async (_, name) => {
    const gateway = await startTestGateway();
    await gateway.put(served(await quickEngine()));
    const names = ["x-weir-agent", "x-weir-workflow", "x-weir-parents", "x-weir-started-at", "traceparent"];
    await call(gateway, Object.fromEntries(names.map((header) => [header, name])));
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ calls: 1, programs: 1 });
    const known = name === "constructor" ? name : "";
    expect(learnt.applications[0]?.nodes.map((node) => node.name)).toEqual([known]);
  });

  it("has a cascade's call as one call of its agent, whoever answered", async () => {
    const weak = await startTestEngine((_, response) => sayCompletion(response, "hm"));
    const strong = await startTestEngine((_, response) => sayCompletion(response, "sure"));
    const judge = await startTestEngine((_, response) => sayCompletion(response, "10"));
    const gateway = await startTestGateway();
    const stages = [
      { model: "weak", urls: [weak.url] },
      { model: "strong", urls: [strong.url] },
    ];
    await gateway.put({ ...testConfig({ stages, thresholds: [50], judgeUrl: judge.url }), timeScale });
    await call(gateway, { "x-weir-agent": "planner" });
    expect((await gateway.decisions()).map(({ stages: asked }) => asked.map(({ model }) => model))).toEqual([["weak", "strong"]]);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ calls: 1, programs: 1 });
    expect(learnt.agents).toMatchObject([{ key: "planner/planner", remaining: { observations: 1 } }]);
    // The time that two models took together is not a latency of either.
    expect(learnt.agents[0]?.request.map(({ model, observations }) => [model, observations])).toEqual([["weak > strong", 1]]);
  });

  it("holds a call without an answer, whose times teach nothing, and nothing of one that never reached an engine", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(500).end());
    const gateway = await startTestGateway();
    await gateway.put({ ...served(engine), replicas: served(engine).replicas });
    const body = { model: "cascade/test", messages: [{ role: "user", content: "Go on." }] };
    expect((await gateway.post("/v1/chat/completions", body, { "x-weir-agent": "planner" })).status).toBe(502);
    const failed = await workflowsOf(gateway);
    expect(failed.learnt.counts).toMatchObject({ calls: 1, openPrograms: 0 });
    expect(failed.learnt.agents.filter(({ remaining }) => remaining.observations > 0)).toEqual([]);
    const held = await heldEngine();
    await gateway.put({ ...oneModel([held.url], 1), timeScale });
    const first = gateway.post("/v1/chat/completions", body, { "x-weir-agent": "coder" });
    await until(() => held.asked.length === 1);
    const leaving = new AbortController();
    const second = gateway
      .chat({}, { signal: leaving.signal, headers: { "x-weir-agent": "idler", "x-session-id": "idle" } })
      .catch(() => null);
    await until(async () => (await workflowsOf(gateway)).learnt.counts.openPrograms === 1);
    leaving.abort();
    expect(await second).toBeNull();
    await until(async () => (await workflowsOf(gateway)).learnt.counts.openPrograms === 0);
    held.open();
    expect((await first).status).toBe(200);
    await until(async () => (await workflowsOf(gateway)).learnt.counts.calls === 2);
    expect((await workflowsOf(gateway)).learnt.applications.map(({ name }) => name).sort()).toEqual(["coder", "planner"]);
  });
});

describe("the order by workflows", () => {
  it("serves the agent whose programs end sooner first, within an agent the program that began first, and its records say what was known", async () => {
    const waiting: (() => void)[] = [];
    let holds = false;
    const engine = await startTestEngine(({ body }, response) => {
      const answer = () => sayCompletion(response, "done");
      if (holds) waiting.push(answer);
      else setTimeout(answer, body.user === "slow" ? 80 : 5);
    });
    const gateway = await startTestGateway();
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    const policy = { kind: "fixed", model: "large", order, place: { kind: "least-load" } } as const;
    await gateway.put({ ...oneModel([engine.url], 1), ...hashed(policy), timeScale });
    const distanceOf = async (agent: string) => (await newest(gateway, agent))?.forecast?.distanceSeconds ?? Number.NaN;
    // Until both agents' latencies have converged and are published.
    await until(async () => {
      for (const agent of ["slow", "quick"]) await call(gateway, { "x-weir-agent": agent });
      const placed = (await (await fetch(`${gateway.adminUrl}/metrics`)).text()).includes("weir_workflow_agents 2");
      return placed && (await distanceOf("quick")) < (await distanceOf("slow"));
    });
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.agents.map(({ distanceSeconds }) => distanceSeconds)).toEqual([expect.any(Number), expect.any(Number)]);
    expect((await workflowsOf(gateway)).used).toBe(true);
    holds = true;
    const answers = [call(gateway, { "x-weir-agent": "first" })];
    await until(() => waiting.length === 1);
    const before = engine.asked.length;
    const earlier = { "x-weir-started-at": String(Date.now() - 60_000) };
    const coming: readonly (readonly [user: string, headers: Record<string, string>])[] = [
      ["slow", { "x-weir-agent": "slow" }],
      ["slow and begun earlier", { "x-weir-agent": "slow", ...earlier }],
      ["quick", { "x-weir-agent": "quick" }],
      ["quick and begun earlier", { "x-weir-agent": "quick", ...earlier }],
    ];
    for (const [user, headers] of coming) {
      answers.push(call(gateway, headers, user));
      const queued = answers.length - 1;
      await until(
        async () => ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: { large: number } }).queued.large === queued,
      );
    }
    for (let at = 0; at < answers.length; at += 1) {
      await until(() => waiting.length > 0);
      waiting.shift()?.();
    }
    await Promise.all(answers);
    expect(engine.asked.slice(before).map(({ body }) => body.user)).toEqual([
      "quick and begun earlier",
      "quick",
      "slow and begun earlier",
      "slow",
    ]);
    const [quick, slow] = await Promise.all(["quick", "slow"].map((agent) => newest(gateway, agent)));
    expect(quick?.forecast?.agent).toBe("quick/quick");
    expect(quick?.forecast?.distanceSeconds).toBeLessThan(slow?.forecast?.distanceSeconds ?? 0);
    expect(slow?.forecast?.requestSeconds).toBeGreaterThan(5);
    expect(slow?.programStart).toBeLessThanOrEqual(slow?.stages[0]?.at?.queued ?? 0);
  });
});

describe("a place by memory over time", () => {
  it("shows what it expects of each engine, and what would go next", async () => {
    const held = await heldEngine();
    const gateway = await startTestGateway();
    const order = { kind: "workflow", agingThreshold: 100 } as const;
    await gateway.put({
      ...oneModel([held.url], 1),
      ...hashed({ kind: "fixed", model: "large", order, place: { kind: "time-slots" } }),
      timeScale,
    });
    const answers = [call(gateway, { "x-weir-agent": "coder" })];
    await until(() => held.asked.length === 1);
    answers.push(call(gateway, { "x-weir-agent": "reviewer" }));
    await until(async () => (await workflowsOf(gateway)).memory?.next.length === 1);
    const { memory, used } = await workflowsOf(gateway);
    expect(used).toBe(true);
    expect(memory?.replicas).toMatchObject([{ replicaId: "large-0", model: "large" }]);
    expect(memory?.replicas[0]?.requests).toHaveLength(1);
    expect(memory?.next).toMatchObject([{ replicaId: null }]);
    held.open();
    await Promise.all(answers);
    expect((await workflowsOf(gateway)).memory?.replicas[0]?.requests).toEqual([]);
  });
});

async function newest(gateway: TestGateway, name: string): Promise<Decision | undefined> {
  return (await gateway.decisions()).filter(({ agent }) => agent === `${name}/${name}`).at(-1);
}

describe("what was learnt", () => {
  it("outlives a gateway that is stopped", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await learntGateway(stateDirectory);
    const before = await workflowsOf(gateway);
    await gateway.close();
    const after = await workflowsOf(await startTestGateway({}, { stateDirectory }));
    expect(graphOf(after)).toEqual(graphOf(before));
    expect(after.sinceMs).toBe(before.sinceMs);
    expect(after.learnt.agents.map(({ remaining }) => remaining)).toEqual(before.learnt.agents.map(({ remaining }) => remaining));
  });

  it("outlives a gateway that is killed", async () => {
    const stateDirectory = await temporaryDirectory();
    const engine = await quickEngine();
    const first = await startGatewayProcess(stateDirectory);
    await fetch(`${first.adminUrl}/config`, {
      method: "PUT",
      headers: { "content-type": "application/json", "if-match": "none", ...first.adminHeaders },
      body: JSON.stringify(served(engine)),
    });
    for (const session of ["s1", "s2"]) await runProgram(first, session);
    await until(async () => (await programsOf(first)) === 2);
    const path = join(stateDirectory, "workflows.json");
    await until(async () => {
      const text = await readFile(path, "utf8").catch(() => "null");
      const kept = JSON.parse(text) as { learnt: { counts: { programs: number } } } | null;
      return kept?.learnt.counts.programs === 2;
    });
    await first.kill();
    const second = await startGatewayProcess(stateDirectory);
    expect(graphOf(await workflowsOf(second))).toEqual(developGraph);
  });

  it("is forgotten when an operator says so, for good, and the audit tells", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await learntGateway(stateDirectory);
    expect((await forget(gateway, {})).status).toBe(400);
    expect(await programsOf(gateway)).toBe(2);
    const answer = await forget(gateway);
    expect([answer.status, gatewayWorkflowsSchema.parse(await answer.json()).learnt.applications]).toEqual([200, []]);
    const page = gatewayAuditPageSchema.parse(await (await fetch(`${gateway.adminUrl}/audit`)).json());
    expect(page.lines.at(-1)).toMatchObject({
      action: "workflows forgotten",
      by: "ada",
      detail: "What 2 programs taught about workflows is deleted: another team moves in",
    });
    await gateway.close();
    expect((await workflowsOf(await startTestGateway({}, { stateDirectory }))).learnt.applications).toEqual([]);
  });

  it.each([
    ["is no JSON", "{half a li"],
    ["is another's", '{"sinceMs":1,"atMs":2,"learnt":{"whose":"another"}}'],
    ["is a list", "[1,2]"],
  ])("is put aside where its file %s, and the gateway starts and learns anew", async (_, text) => {
    const stateDirectory = await temporaryDirectory();
    const path = join(stateDirectory, "workflows.json");
    await writeFile(path, text);
    const { gateway } = await learntGateway(stateDirectory);
    expect(graphOf(await workflowsOf(gateway))).toEqual(developGraph);
    expect(await readFile(`${path}.unusable`, "utf8")).toBe(text);
    await gateway.close();
    expect(await readFile(path, "utf8")).toContain("reviewer");
  });

  it("goes on over a configuration with another clock", async () => {
    const { gateway, engine } = await learntGateway();
    await gateway.put({ ...served(engine), timeScale: 10 });
    await gateway.put(served(engine));
    await runProgram(gateway, "s3");
    await until(async () => (await programsOf(gateway)) === 3);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.applications).toMatchObject([{ name: "develop", programs: 3 }]);
    expect(learnt.applications[0]?.lastSeenSeconds).toBeLessThanOrEqual(learnt.asOfSeconds);
  });
});
