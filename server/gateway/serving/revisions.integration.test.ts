import { describe, expect, it } from "vitest";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { hashed, startTestGateway, temporaryDirectory } from "../testing/testGateway";
import { auditOf, configOf, etagOf, send, signed, stageOf, statusOf, twoStages } from "../testing/testRevisions";

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
      detail: "Set thresholds from 70 to 55: fewer escalations",
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
    ["a knob of another kind of policy", { tau: 1 }, "of the kind cascade, which has no control tau"],
    ["nothing", {}, "Name a control to set: thresholds"],
    ["a knob nobody knows", { temperature: 1 }, "temperature"],
  ])("stay as they are when asked for %s", async (_, knobs, sentence) => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a"));
    const answer = await send(gateway, "/knobs", { ...knobs, ...signed });
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining(sentence)]);
    expect(await configOf(gateway)).toEqual(plan("plan-a"));
  });

  it("stay at 0 in a gateway without a judge, which would have accepted every answer without a score", async () => {
    const { gateway, plan } = await twoStages();
    const { policy, ...config } = plan("plan-a");
    if (policy.kind !== "cascade") throw new Error("not a cascade");
    const unjudged = { ...policy, thresholds: [0], approvedRanges: { thresholds: [{ min: 0, max: 80 }] } };
    await gateway.put({ ...config, ...hashed(unjudged), judge: null });
    const answer = await send(gateway, "/knobs", { thresholds: [55], ...signed });
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining("this gateway has no judge")]);
    expect((await configOf(gateway)).policy).toEqual(unjudged);
    await gateway.put({ ...config, ...hashed(unjudged) });
    expect((await send(gateway, "/knobs", { thresholds: [55], ...signed })).status).toBe(200);
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
    expect((await send(gateway, "/knobs", { tau: 1, ...signed })).message).toContain("fixed, which has no control tau");
  });
});

describe("a rollback", () => {
  it("puts the plan before into force over the engines there are now, and back again", async () => {
    const { gateway, plan } = await twoStages();
    await gateway.put(plan("plan-a", 55));
    await gateway.put(plan("plan-b", 65));
    const [small, large] = plan("plan-b", 65).replicas;
    const moved = [small!, { ...large!, id: "large-7", maxInFlight: 3 }];
    // Steps of applying a plan, and the same plan again, keep the previous plan.
    await gateway.put({ ...plan("plan-b", 65), replicas: moved });
    await send(gateway, "/knobs", { thresholds: [66], ...signed });
    const before = plan("plan-a", 55);
    expect((await statusOf(gateway)).previous).toEqual({ name: before.name, planId: before.planId, policyHash: before.policyHash });
    expect((await send(gateway, "/rollback", signed)).status).toBe(200);
    expect(await configOf(gateway)).toEqual({ ...before, replicas: moved });
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
    expect((await statusOf(gateway)).previous).toBeNull();
    expect(await send(gateway, "/rollback", signed)).toMatchObject({
      status: 409,
      message: expect.stringContaining("nothing to roll back to"),
    });
    const alone = plan("plan-b").replicas.filter(({ model }) => model === "large");
    const fixed = hashed({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } });
    await gateway.put({ ...plan("plan-b"), ...fixed, replicas: alone });
    const answer = await send(gateway, "/rollback", signed);
    expect([answer.status, answer.message]).toEqual([
      409,
      "The plan plan-a cannot be served now. The stage small has no replica; add at least one, cordoned if it is not ready.",
    ]);
  });
});
