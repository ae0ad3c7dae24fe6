import { describe, expect, it } from "vitest";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";
import { candidateOf, startScoredCascade } from "../testing/testScoredCascade";
import { putShadow, readShadow, slackOver } from "../testing/testShadow";

describe("a shadow of slack dispatch", () => {
  it("that is in force itself starts every request where that does, under load and over sessions", async () => {
    const { gateway, config } = await startScoredCascade({ answerMs: 5 });
    const policy = slackOver(0.2);
    await gateway.put({ ...config, policyHash: candidateOf(policy).policyHash, policy });
    await putShadow(gateway, policy);
    const asking = Array.from({ length: 300 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 2));
      const body = { model: "cascade/test", messages: [{ role: "user", content: `q${index}` }], max_tokens: 20 + ((index * 37) % 400) };
      const session: Record<string, string> = index % 3 === 0 ? { "x-session-id": `s${index % 20}` } : {};
      return (await gateway.post("/v1/chat/completions", body, session)).headers.get("x-weir-model");
    });
    const answeredBy = await Promise.all(asking);
    expect(new Set(answeredBy)).toEqual(new Set(["small", "large"]));
    const { starts, finalModels, notComparable } = await readShadow(gateway);
    expect([starts, notComparable]).toEqual([{ same: 300, different: 0 }, 0]);
    for (const [model, { actual, candidate }] of Object.entries(finalModels)) {
      expect([actual, candidate]).toEqual(Array(2).fill(answeredBy.filter((by) => by === model).length));
    }
  });

  it("follows the live load of the policy in force, and lets a program keep the model that it gave it itself", async () => {
    const small = await heldEngine();
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const gateway = await startTestGateway();
    const config = testConfig({
      stages: [
        { model: "small", urls: [small.url] },
        { model: "large", urls: [large.url] },
      ],
      thresholds: [50],
      judgeUrl: large.url,
    });
    await gateway.put(config);
    await putShadow(gateway, slackOver(0));
    const body = { model: "cascade/test", messages: [{ role: "user", content: "x" }], max_tokens: 100 };
    const askIn = (session: string) => gateway.post("/v1/chat/completions", body, { "x-session-id": session });
    const first = askIn("one");
    await until(() => small.asked.length === 1);
    // The first fills small, the destination of all requests in fact; the candidate would have spread the others.
    const second = askIn("two");
    await until(() => small.asked.length === 2);
    expect((await readShadow(gateway)).starts).toEqual({ same: 1, different: 1 });
    small.open();
    for (const answer of await Promise.all([first, second])) expect(answer.status).toBe(200);
    await askIn("two");
    expect((await readShadow(gateway)).starts).toEqual({ same: 1, different: 2 });
    await askIn("one");
    await askIn("three");
    expect((await readShadow(gateway)).starts).toEqual({ same: 3, different: 2 });
  });
});
