import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRounds } from "@/server/contracts/gateway/gatewayRounds";
import type { GatewayWorkflows } from "@/server/contracts/gateway/gatewayWorkflows";
import { createWorkflowsService } from "./workflowsService";

const workflows: GatewayWorkflows = {
  learnt: {
    asOfSeconds: 12,
    applications: [],
    agents: [],
    counts: {
      ...{ programs: 0, calls: 1, openPrograms: 1, unnamedCalls: 0 },
      ...{ lateCalls: 0, missingUpstream: 0, ties: 0, forgotten: 0 },
    },
  },
  memory: null,
  used: false,
  sinceMs: 1_700_000_000_000,
};

/** A stub of a gateway's admin listener, which answers each path with its JSON and everything else with 404. */
async function listenAs(answers: Readonly<Record<string, unknown>>) {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    if (answer === undefined) response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such path"}}');
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise((closed) => server.close(closed));
  onTestFinished(async () => void (await close()));
  return { url, close };
}

const seenAt = (url: string, decisions: readonly Decision[] = []) => ({
  gateway: createAdminClient("gateway", url, "t"),
  gatewayUrl: url,
  collector: () => ({ frames: () => [], decisions: (limit: number) => decisions.slice(0, limit) }),
  timeScale: () => 20,
  connector: { emulated: true },
});

it("tells what a gateway has learnt, by whose clock", async () => {
  const { url } = await listenAs({ "/workflows": workflows });
  const service = createWorkflowsService(() => seenAt(url));
  expect(await service.get("c")).toEqual({
    ok: true,
    learnt: { state: "there", workflows, timeScale: 20, emulated: true, policy: null },
  });
});

it("tells a cluster without a gateway, a gateway that learns nothing, one that does not answer and one that cannot be understood apart", async () => {
  const older = await listenAs({});
  expect(await createWorkflowsService(() => null).get("c")).toEqual({ ok: true, learnt: { state: "no-gateway" } });
  expect(await createWorkflowsService(() => seenAt(older.url)).get("c")).toEqual({ ok: true, learnt: { state: "older" } });
  const strange = await listenAs({ "/workflows": { learnt: 1 } });
  expect(await createWorkflowsService(() => seenAt(strange.url)).get("c")).toMatchObject({
    ok: false,
    message: expect.stringContaining("in a form this studio does not know"),
  });
  await older.close();
  expect(await createWorkflowsService(() => seenAt(older.url)).get("c")).toMatchObject({
    ok: false,
    message: expect.stringContaining("cannot be reached"),
  });
});

const rounds: GatewayRounds = {
  ...{ rounds: null, programs: [], asOfSeconds: 3 },
  predictions: {
    whole: 0,
    partial: 0,
    none: 0,
    unasked: 0,
    meanMs: null,
    meanBudgetMs: null,
    evaluatedShare: null,
    waitedFor: { search: 0, engine: 0 },
  },
};

it("tells a gateway's rounds by its clock, and one that knows nothing of rounds apart from a cluster without a gateway", async () => {
  const [there, older] = [await listenAs({ "/rounds": rounds }), await listenAs({})];
  expect(await createWorkflowsService(() => seenAt(there.url)).rounds("c")).toEqual({
    ok: true,
    seen: { state: "there", rounds, timeScale: 20 },
  });
  expect(await createWorkflowsService(() => seenAt(older.url)).rounds("c")).toEqual({ ok: true, seen: { state: "older" } });
  expect(await createWorkflowsService(() => null).rounds("c")).toEqual({ ok: true, seen: { state: "no-gateway" } });
});

it("says who waited for whom by the records since the gateway was started last", async () => {
  const record = (sequence: number, agent: string, queued: number, dispatched: number) =>
    ({ sequence, agent, stages: [{ model: "m", at: { queued, dispatched } }] }) as unknown as Decision;
  const newest = [record(2, "a/slow", 0, 9), record(1, "a/quick", 4, 5), record(7, "a/before", 1, 2)];
  const service = createWorkflowsService(() => seenAt("http://127.0.0.1:9", newest));
  expect(service.waitTimes("c")).toMatchObject({
    records: 2,
    waited: { pairs: [{ waiter: "a/slow", ahead: "a/quick", passes: 1, seconds: 5 }], waitedSeconds: 10 },
  });
  expect(createWorkflowsService(() => null).waitTimes("c")).toMatchObject({ records: 0 });
});
