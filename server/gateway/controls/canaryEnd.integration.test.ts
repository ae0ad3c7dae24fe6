import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canarySchema } from "@/server/contracts/gateway/gatewayControls";
import {
  asked,
  auditOf,
  begin,
  canaryOf,
  candidate,
  configOf,
  messageOf,
  ofProgram,
  programsAtCandidate,
  queuedOf,
  signed,
  smallInForce,
  withdraw,
} from "../testing/testCanary";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";

describe("the end of a canary", () => {
  it("is put into force once where the audit cannot be written, and the way back stays", async () => {
    const { gateway, config } = await smallInForce();
    await begin(gateway, { ...asked, shares: [1], minRequests: 3 });
    const path = join(gateway.stateDirectory, "audit.jsonl");
    await rm(path);
    await mkdir(path);
    for (let index = 0; (await canaryOf(gateway)).state === "running"; index += 1) await ofProgram(gateway, `p${index}`);
    await until(async () => (await configOf(gateway)).planId === "plan-new");
    for (let index = 0; index < 6; index += 1) await ofProgram(gateway, `q${index}`);
    expect(await canaryOf(gateway)).toMatchObject({ state: "promoted" });
    expect((await auditOf(gateway)).filter((action) => action === "canary promoted")).toHaveLength(1);
    const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
    await fetch(`${gateway.adminUrl}/rollback`, {
      method: "POST",
      headers: { "content-type": "application/json", "if-match": etag },
      body: JSON.stringify(signed),
    });
    expect(await configOf(gateway)).toEqual(config);
  });

  it("that a crash left in force without a word is told of at the next start, and once", async () => {
    const { gateway, config, stateDirectory } = await smallInForce();
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.close();
    const path = join(stateDirectory, "gateway.json");
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), ...config, ...candidate }));
    for (let start = 0; start < 2; start += 1) {
      const next = await startTestGateway({}, { stateDirectory });
      expect(await canaryOf(next)).toMatchObject({ state: "promoted" });
      expect(await auditOf(next)).toEqual(["configuration", "canary started", "configuration", "canary promoted"]);
      await next.close();
    }
  });

  it("withdrawn, gives what waits for the candidate to the policy in force and lets what is at an engine finish", async () => {
    const held = await heldEngine();
    const { gateway, config } = await smallInForce();
    const replicas = config.replicas.map((replica) =>
      replica.model === "large" ? { ...replica, url: held.url, maxInFlight: 1 } : replica,
    );
    await gateway.put({ ...config, replicas });
    await begin(gateway, { ...asked, shares: [1], minRequests: 1000 });
    const answers = Array.from({ length: 6 }, (_, index) => ofProgram(gateway, `p${index}`));
    await until(async () => (await queuedOf(gateway)).large === 5);
    const ended = canarySchema.parse(await (await withdraw(gateway)).json());
    expect(ended).toMatchObject({ state: "withdrawn", endReason: "ada ended it: the new plan" });
    await until(async () => (await gateway.decisions()).length === 5);
    held.open();
    const models = await Promise.all(answers.map(async (answer) => (await answer).headers.get("x-weir-model")));
    expect(models.sort()).toEqual(["large", "small", "small", "small", "small", "small"]);
    expect(await auditOf(gateway)).toEqual(["configuration", "configuration", "canary started", "canary withdrawn"]);
  });

  it("withdrawn, sends no request on to a later stage of the candidate's", async () => {
    const held = await heldEngine();
    const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
    const { gateway, config, engine } = await smallInForce();
    const middle = { id: "middle-0", model: "middle", url: held.url, state: "active" as const, maxInFlight: 8 };
    const replicas = [...config.replicas, middle];
    await gateway.put({ ...config, replicas, judge: { model: "weir-judge", url: judge.url } });
    const stages = ["middle", "large"].map((model) => ({ model, urls: [] }));
    const { policy, policyHash } = testConfig({ stages, thresholds: [50] });
    await begin(gateway, { ...asked, candidate: { planId: "plan-new", policy, policyHash }, shares: [1], minRequests: 1000 });
    const answers = Array.from({ length: 4 }, (_, index) => ofProgram(gateway, `p${index}`));
    await until(() => held.asked.length === 4);
    await withdraw(gateway);
    held.open();
    const models = await Promise.all(answers.map(async (answer) => (await answer).headers.get("x-weir-model")));
    expect([models, engine.asked.length]).toEqual([["small", "small", "small", "small"], 0]);
    const [record] = await gateway.decisions();
    expect([record?.canary, record?.policyHash]).toEqual([undefined, config.policyHash]);
    expect(record?.stages.map(({ model, verdict }) => [model, verdict])).toEqual([
      ["middle", "escalated"],
      ["small", "accepted"],
    ]);
  });

  it("goes on at the same step after a restart, with counts anew and the same programs", async () => {
    const { gateway, stateDirectory } = await smallInForce();
    await begin(gateway, { ...asked, shares: [0.2, 0.4, 1], minRequests: 25 });
    const programs = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const [some = ""] = await programsAtCandidate(gateway, programs);
    await programsAtCandidate(gateway, new Array(25).fill(some));
    await gateway.close();
    const before = await programsAtCandidate(await resumed(), programs);
    const { step, state, candidateArm, currentArm } = await canaryOf(await resumed());
    expect([step, state, candidateArm.finished, currentArm.finished]).toEqual([1, "running", 0, 0]);
    expect(before.size).toBeGreaterThan(3);
    expect(before.size).toBeLessThan(27);
    expect(await programsAtCandidate(await resumed(), programs)).toEqual(before);

    /** A restarted gateway; it is closed before the next restart. */
    async function resumed(): Promise<TestGateway> {
      await last?.close();
      last = await startTestGateway({ attemptsPerStage: 1 }, { stateDirectory });
      return last;
    }
  });
  let last: TestGateway | undefined;

  it("is withdrawn by another plan or policy, and by a panic, and not by other engines of the same plan", async () => {
    const { gateway, config } = await smallInForce();
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.put({ ...config, replicas: config.replicas.map((replica) => ({ ...replica, maxInFlight: 9 })) });
    expect((await canaryOf(gateway)).state).toBe("running");
    await gateway.put({ ...config, planId: "plan-other" });
    expect(await canaryOf(gateway)).toMatchObject({ state: "withdrawn", endReason: "Another plan or policy came into force." });
    await begin(gateway, { ...asked, minRequests: 1000 });
    await gateway.put({ ...config, planId: "plan-other", replicas: config.replicas.filter(({ model }) => model === "small") });
    expect((await canaryOf(gateway)).endReason).toContain("The stage large has no replica");
    await gateway.put({ ...config, planId: "plan-other" });
    await begin(gateway, { ...asked, minRequests: 1000 });
    await fetch(`${gateway.adminUrl}/panic`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "small", ...signed }),
    });
    expect(await canaryOf(gateway)).toMatchObject({ state: "withdrawn", endReason: "A panic was declared." });
    const answer = await begin(gateway, asked);
    expect([answer.status, await messageOf(answer)]).toEqual([409, "A panic is in force; clear it first."]);
  });
});
