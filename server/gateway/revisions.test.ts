import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { type GatewayAuditLine, gatewayAuditPageSchema } from "@/server/contracts/gatewayControls";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { sayCompletion, startTestEngine } from "./testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig } from "./testGateway";

const signed = { by: "ada", reason: "fewer escalations" };

async function twoStages(stateDirectory?: string) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "60"));
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  const gateway = await startTestGateway({}, stateDirectory === undefined ? {} : { stateDirectory });
  const plan = (planId: string, threshold = 70): GatewayConfig => {
    const config = testConfig({ stages, thresholds: [threshold], judgeUrl: judge.url, planId });
    const policy = { ...config.policy, approvedRanges: { thresholds: [{ min: 50, max: 80 }] } } as GatewayConfig["policy"];
    return { ...config, name: planId, ...hashed(policy) };
  };
  return { gateway, plan, large };
}

const etagOf = async ({ adminUrl }: TestGateway) => (await fetch(`${adminUrl}/config`)).headers.get("etag") ?? "";
const configOf = async ({ adminUrl }: TestGateway) => (await (await fetch(`${adminUrl}/config`)).json()) as GatewayConfig;
const statusOf = async ({ adminUrl }: TestGateway) => gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json());
const auditOf = async ({ adminUrl }: TestGateway): Promise<GatewayAuditLine[]> =>
  gatewayAuditPageSchema.parse(await (await fetch(`${adminUrl}/audit`)).json()).lines;

async function send(gateway: TestGateway, path: "/knobs" | "/rollback", body: unknown, etag?: string | null) {
  const headers: Record<string, string> = etag === null ? {} : { "if-match": etag ?? (await etagOf(gateway)) };
  const method = path === "/knobs" ? "PATCH" : "POST";
  const answer = await fetch(`${gateway.adminUrl}${path}`, { method, headers, body: JSON.stringify(body) });
  const read = (await answer.json()) as { etag?: string; policyHash?: string; error?: { message: string } };
  return { status: answer.status, message: read.error?.message ?? "", ...read };
}

const stageOf = async (gateway: TestGateway) => {
  const { headers } = await gateway.chat({ model: "cascade/default" });
  return [headers.get("x-weir-plan"), headers.get("x-weir-policy"), headers.get("x-weir-model")];
};

describe("the knobs of the policy in force", () => {
  it("are turned inside their approved range: another policy hash, the same plan, a line of audit", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    expect(await stageOf(gateway)).toEqual(["plan-a", plan("plan-a").policyHash, "large"]);
    const turned = await send(gateway, "/knobs", { thresholds: [55], ...signed });
    const config = await configOf(gateway);
    expect([turned.status, turned.etag, turned.policyHash]).toEqual([200, (await statusOf(gateway)).configEtag, config.policyHash]);
    expect(config.policyHash).toBe(plan("plan-a", 55).policyHash);
    expect(await stageOf(gateway)).toEqual(["plan-a", config.policyHash, "small"]);
    expect((await auditOf(gateway)).at(-1)).toMatchObject({
      by: "ada",
      action: "knobs turned",
      detail: "Turned thresholds from 70 to 55: fewer escalations",
    });
  });

  it("are turned only against the ETag that was read", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    const before = await etagOf(gateway);
    expect((await send(gateway, "/knobs", { thresholds: [55], ...signed }, null)).status).toBe(428);
    expect((await send(gateway, "/knobs", { thresholds: [55], ...signed }, before)).status).toBe(200);
    expect((await send(gateway, "/knobs", { thresholds: [56], ...signed }, before)).status).toBe(412);
    expect((await send(gateway, "/rollback", signed, null)).status).toBe(428);
    expect((await send(gateway, "/rollback", signed, before)).status).toBe(412);
  });

  it.each([
    ["a threshold outside its range", { thresholds: [90] }, "outside its approved range 50 to 80"],
    ["a threshold too many", { thresholds: [60, 60] }, "found 2"],
    ["a knob of another kind of policy", { tau: 1 }, "of the kind cascade, which has no tau"],
    ["nothing", {}, "Name what to turn: thresholds"],
    ["a knob nobody knows", { temperature: 1 }, "temperature"],
  ])("stay as they are when asked for %s", async (_, knobs, sentence) => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    const answer = await send(gateway, "/knobs", { ...knobs, ...signed });
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining(sentence)]);
    expect(await configOf(gateway)).toEqual(plan("plan-a"));
  });

  it("are slack and margin of slack dispatch, and none of a fixed model", async () => {
    const { gateway, plan } = await twoStages();
    const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
    const slack: SlackPolicy = {
      kind: "slack",
      models: ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
      ...{ tau: 0.5, deltaScore: 0.1, floorSeconds: 1, ...queueing },
      approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 0.5 } },
    };
    await gateway.put({ ...plan("plan-s"), ...hashed(slack) });
    expect((await send(gateway, "/knobs", { tau: 3, ...signed })).message).toContain("0 to 2");
    expect((await send(gateway, "/knobs", { tau: 1, deltaScore: 0.3, ...signed })).status).toBe(200);
    expect((await configOf(gateway)).policy).toEqual({ ...slack, tau: 1, deltaScore: 0.3 });
    await gateway.put({ ...plan("plan-f"), ...hashed({ kind: "fixed", model: "large", ...queueing }) });
    expect((await send(gateway, "/knobs", { tau: 1, ...signed })).message).toContain("fixed, which has no tau");
  });
});

describe("a rollback", () => {
  it("puts the plan before into force over the engines there are now, and back again", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a", 55));
    await gateway.put(plan("plan-b", 65));
    const [small, large] = plan("plan-b", 65).replicas;
    const moved = [small!, { ...large!, id: "large-7", maxInFlight: 3 }];
    // Steps of applying a plan, and the same plan again, leave what was before it.
    await gateway.put({ ...plan("plan-b", 65), replicas: moved });
    await send(gateway, "/knobs", { thresholds: [66], ...signed });
    expect((await send(gateway, "/rollback", signed)).status).toBe(200);
    expect(await configOf(gateway)).toEqual({ ...plan("plan-a", 55), replicas: moved });
    expect(await stageOf(gateway)).toEqual(["plan-a", plan("plan-a", 55).policyHash, "small"]);
    expect((await auditOf(gateway)).map(({ action }) => action)).toEqual([
      ...["configuration", "configuration", "configuration"],
      ...["knobs turned", "rolled back"],
    ]);
    expect((await auditOf(gateway)).at(-1)?.detail).toBe("From the plan plan-b back to plan-a: fewer escalations");
    expect((await send(gateway, "/rollback", signed)).status).toBe(200);
    expect(await configOf(gateway)).toEqual({ ...plan("plan-b", 66), replicas: moved });
  });

  it("passes over what ran under no plan's name", async () => {
    const { gateway, plan } = await twoStages();
    for (const planId of ["plan-a", "", "plan-b"]) await gateway.put({ ...plan("any"), planId });
    expect((await send(gateway, "/rollback", signed)).status).toBe(200);
    expect((await configOf(gateway)).planId).toBe("plan-a");
  });

  it("is still there after a restart", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, plan } = await twoStages(stateDirectory);
    await gateway.put(plan("plan-a"));
    await gateway.put(plan("plan-b"));
    await gateway.close();
    const second = await startTestGateway({}, { stateDirectory });
    expect((await send(second, "/rollback", signed)).status).toBe(200);
    expect((await configOf(second)).planId).toBe("plan-a");
    expect((await second.chat({ model: "cascade/plan-b" })).headers.get("x-weir-plan")).toBe("plan-a");
  });

  it("is refused where there is no plan before, or a model of it has no engine", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    expect(await send(gateway, "/rollback", signed)).toMatchObject({ status: 409, message: expect.stringContaining("none to go back to") });
    const alone = plan("plan-b").replicas.filter(({ model }) => model === "large");
    const fixed = hashed({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } });
    await gateway.put({ ...plan("plan-b"), ...fixed, replicas: alone });
    const answer = await send(gateway, "/rollback", signed);
    expect([answer.status, answer.message]).toEqual([
      409,
      "The plan plan-a cannot be served now. The stage small has no replica; list at least one, cordoned if it is not ready.",
    ]);
  });
});

describe("a configuration", () => {
  it("is a line of the audit whatever it changes, with who and why, and none where it changes nothing", async () => {
    const { gateway, plan } = await twoStages();
    const config = plan("plan-a");
    const [small, large] = config.replicas;
    const keys = [{ name: "ann", sha256: "0".repeat(64) }];
    const changes: readonly object[] = [
      config,
      { ...config, by: "ada", reason: "the same" },
      { ...config, settings: { keys }, by: "ada", reason: "a door" },
      { ...config, settings: {} },
      { ...config, replicas: [{ ...small, state: "cordoned" }, large, { ...large, id: "large-9" }], by: "bob" },
      { ...config, judge: { model: "other", url: "http://127.0.0.1:9" } },
      { ...config, timeScale: 2 },
      { ...config, ...plan("plan-a", 60), timeScale: 2, settings: { streaming: "last" } },
    ];
    for (const change of changes) await gateway.put(change as GatewayConfig);
    const lines = await auditOf(gateway);
    const hash = (threshold?: number) => plan("plan-a", threshold).policyHash.slice(0, 12);
    expect(lines.map(({ by, detail }) => [by, detail])).toEqual([
      ["admin API", `The plan plan-a with the policy ${hash()} came into force over 2 engines.`],
      ["ada", "Changed under the plan plan-a: settings (keys): a door"],
      ["admin API", "Changed under the plan plan-a: settings (keys)."],
      ["bob", "Changed under the plan plan-a: engines (1 added, 1 altered)."],
      ["admin API", "Changed under the plan plan-a: engines (1 removed, 1 altered), judge."],
      ["admin API", "Changed under the plan plan-a: judge, time scale (2)."],
      ["admin API", `The plan plan-a with the policy ${hash(60)} came into force over 2 engines; changed with it: settings (streaming).`],
    ]);
    expect(lines.at(-1)?.etag).toBe((await statusOf(gateway)).configEtag);
    expect(await configOf(gateway)).not.toHaveProperty("by");
  });

  it("of which a crash, or another hand, left no line is told of at the next start, and once", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, plan } = await twoStages(stateDirectory);
    await gateway.put(plan("plan-a"));
    await gateway.close();
    const path = join(stateDirectory, "gateway.json");
    await writeFile(path, (await readFile(path, "utf8")).replace('"planId": "plan-a"', '"planId": "plan-z"'));
    for (let start = 0; start < 2; start += 1) {
      const next = await startTestGateway({}, { stateDirectory });
      expect((await auditOf(next)).map(({ by, action }) => [by, action])).toEqual([
        ["admin API", "configuration"],
        ["gateway", "configuration"],
      ]);
      const [, told] = await auditOf(next);
      expect([told?.etag, told?.detail]).toEqual([(await statusOf(next)).configEtag, expect.stringContaining("the plan plan-z")]);
      await next.close();
    }
  });

  it("is in force where its line cannot be written, which no caller takes for a failure", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    const path = join(gateway.stateDirectory, "audit.jsonl");
    await rm(path);
    await mkdir(path);
    const answer = await send(gateway, "/knobs", { thresholds: [55], ...signed });
    expect([answer.status, answer.policyHash]).toEqual([200, plan("plan-a", 55).policyHash]);
    expect((await auditOf(gateway)).at(-1)?.action).toBe("knobs turned");
  });

  it("is refused with both hashes where its policy is not the one that was approved", async () => {
    const { gateway, plan } = await twoStages();
    const altered = { ...plan("plan-a"), policy: plan("plan-a", 60).policy };
    const answer = await fetch(`${gateway.adminUrl}/config`, {
      method: "PUT",
      headers: { "if-match": '"none"' },
      body: JSON.stringify(altered),
    });
    expect(answer.status).toBe(400);
    const { message } = ((await answer.json()) as { error: { message: string } }).error;
    expect(message).toContain(plan("plan-a").policyHash);
    expect(message).toContain(plan("plan-a", 60).policyHash);
    expect((await fetch(`${gateway.adminUrl}/config`)).status).toBe(404);
  });

  it("on disk is told apart from the one in force", async () => {
    const { gateway, plan } = await twoStages();
    expect((await statusOf(gateway)).persistedEtag).toBe(null);
    await gateway.put(plan("plan-a"));
    const { configEtag, persistedEtag } = await statusOf(gateway);
    expect(persistedEtag).toBe(configEtag);
    const path = join(gateway.stateDirectory, "gateway.json");
    await writeFile(path, (await readFile(path, "utf8")).replace('"planId": "plan-a"', '"planId": "plan-z"'));
    expect((await statusOf(gateway)).persistedEtag).not.toBe(configEtag);
    await writeFile(path, "{");
    expect((await statusOf(gateway)).persistedEtag).toBe(null);
  });
});
