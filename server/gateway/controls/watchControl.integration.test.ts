import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { startTestGateway } from "../testing/testGateway";
import { askAll, candidateOf, control, startScoredCascade } from "../testing/testScoredCascade";
import { putShadow, questions, readShadow, signature } from "../testing/testShadow";

type Cascade = Extract<PolicyDocument, { kind: "cascade" }>;

describe("the shadow's control", () => {
  it("refuses what is no policy or not the policy of its hash, and runs on over what is refused", async () => {
    const { gateway, config } = await startScoredCascade();
    const { policy } = config;
    await putShadow(gateway, policy);
    const candidate = candidateOf(policy);
    for (const wrong of [
      {},
      { candidate, by: "ann" },
      { candidate: { ...candidate, policyHash: "a" }, ...signature },
      { candidate: candidateOf({ ...(policy as Cascade), stages: [{ model: "a" }, { model: "a" }, { model: "b" }] }), ...signature },
    ]) {
      const { status, document } = await control(gateway, "PUT", "/shadow", wrong);
      expect([status, typeof document.error.message]).toEqual([400, "string"]);
    }
    await askAll(gateway, questions(3), 1);
    expect((await readShadow(gateway)).requests).toBe(3);
  });

  it("ends it on DELETE, keeps it over a restart with counts that begin anew, and has every change in the audit", async () => {
    const first = await startScoredCascade();
    const { policy } = first.config;
    await putShadow(first.gateway, policy);
    await askAll(first.gateway, questions(5), 1);
    const before = await readShadow(first.gateway);
    const { stateDirectory } = first.gateway;
    await first.gateway.close();
    const gateway = await startTestGateway({}, { stateDirectory });
    const after = await readShadow(gateway);
    expect([before.requests, after.requests]).toEqual([5, 0]);
    expect(after.candidate).toEqual(before.candidate);
    expect(after.sinceMs).toBeGreaterThan(before.sinceMs);
    expect((await control(gateway, "DELETE", "/shadow", { by: "bob", reason: "seen enough" })).status).toBe(200);
    expect((await control(gateway, "GET", "/shadow")).document).toBeNull();
    expect((await control(gateway, "DELETE", "/shadow", { by: "bob", reason: "" })).status).toBe(404);
    const { lines } = (await control(gateway, "GET", "/audit")).document as { lines: { by: string; action: string; detail: string }[] };
    const own = lines.filter(({ action }) => action.startsWith("shadow"));
    expect(own.map(({ by, action }) => [by, action])).toEqual([
      ["ann", "shadow started"],
      ["bob", "shadow ended"],
    ]);
    expect(own[1]?.detail).toContain("seen enough");
  });
});
