import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { hashed, startTestGateway, temporaryDirectory } from "../testing/testGateway";
import { auditOf, configOf, send, signed, statusOf, twoStages } from "../testing/testRevisions";
import { configEtag } from "./configStore";

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
      ["gateway", "No engine of small takes work: the remaining stages answer its requests."],
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

  it("with old names of fields is read, from its file too, under the hash it was given, and has that again when its knobs are turned back", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, plan } = await twoStages(stateDirectory);
    const named = (order: object): GatewayConfig => {
      const config = plan("plan-a");
      return { ...config, ...hashed({ ...config.policy, order: { kind: "sjf", ...order } } as GatewayConfig["policy"]) };
    };
    const settings = { objectives: [{ name: "batch", queueShare: 0.5 }] };
    const old = { ...named({ agingReleases: 30 }), settings } as GatewayConfig;
    await gateway.put(old);
    const expected = {
      ...named({ agingThreshold: 30 }),
      policyHash: old.policyHash,
      settings: { priorityClasses: [{ name: "batch", queueFraction: 0.5 }] },
    };
    expect(await configOf(gateway)).toEqual(expected);
    await expect(gateway.put({ ...named({ agingReleases: 31 }), policyHash: old.policyHash })).rejects.toThrow("the policy's own is");
    await gateway.close();
    // The files as a gateway before the new names left them.
    const [config, audit] = ["gateway.json", "audit.jsonl"].map((name) => join(stateDirectory, name)) as [string, string];
    const line = JSON.parse((await readFile(audit, "utf8")).trim());
    await writeFile(config, JSON.stringify(old));
    await writeFile(audit, `${JSON.stringify({ ...line, etag: configEtag(old) })}\n`);
    const next = await startTestGateway({}, { stateDirectory });
    expect(await configOf(next)).toEqual(expected);
    expect(await auditOf(next)).toHaveLength(1);
    expect((await send(next, "/knobs", { thresholds: [55], ...signed })).policyHash).not.toBe(old.policyHash);
    expect((await send(next, "/knobs", { thresholds: [70], ...signed })).policyHash).toBe(old.policyHash);
  });

  it("is refused with both hashes where its policy is not the one that was approved", async () => {
    const { gateway, plan } = await twoStages();
    const altered = { ...plan("plan-a"), policy: plan("plan-a", 60).policy };
    const answer = await fetch(`${gateway.adminUrl}/config`, {
      method: "PUT",
      headers: { "content-type": "application/json", "if-match": '"none"' },
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
