import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";
import { isCopy, putMirror, questions, readMirror, settled, signature, smallSuffices } from "../testing/testMirror";
import { ask, askAll, control, models, scoreOf, startScoredCascade } from "../testing/testScoredCascade";

describe("a mirror", () => {
  it("copies the share of the requests that it is to copy", async () => {
    const { gateway } = await startScoredCascade({ maxInFlight: 200 });
    const [share, requests] = [0.3, 500];
    await putMirror(gateway, share);
    await askAll(gateway, questions(requests), 8);
    const { picked, completed, failed, skipped, inputTokens } = await settled(gateway);
    const spread = 4 * Math.sqrt(requests * share * (1 - share));
    expect(Math.abs(picked - requests * share)).toBeLessThan(spread);
    expect(completed + failed + skipped).toBe(picked);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain(`weir_gateway_mirror_copies_total{outcome="completed"} ${completed}\n`);
    expect(metrics).toContain(`weir_gateway_mirror_tokens_total{direction="input"} ${inputTokens}\n`);
  });

  it("has every model's answer judged once, counts the scores of requests that all models' answers have one of, and sums what the copies cost", async () => {
    const prices = Object.fromEntries(models.map((model, index) => [model, priceOf(index)]));
    const { gateway, engines, judgements } = await startScoredCascade({ maxInFlight: 200, settings: { prices } });
    await putMirror(gateway, 1);
    await askAll(gateway, questions(150), 2);
    const mirror = await settled(gateway, 150);
    // An answer that the judge could not score: another attempt fails as well.
    const unscored = questions(150).filter((question) => models.some((model) => scoreOf(model, question) === null));
    expect([mirror.picked, mirror.completed, mirror.failed, mirror.skipped]).toEqual([150, 150 - unscored.length, unscored.length, 0]);
    const scored = questions(150).filter((question) => !unscored.includes(question));
    const expected = models.map((model) =>
      Array.from({ length: 101 }, (_, score) => scored.filter((question) => scoreOf(model, question) === score).length),
    );
    expect(models.map((model) => mirror.scores[model])).toEqual(expected);
    expect(unscored.length).toBeGreaterThan(0);
    // No answer that has a score is judged again.
    expect(judgements.filter(({ score }) => score !== null).length).toBeLessThanOrEqual(models.length * 150);
    const copies = engines.map(({ asked }) => asked.filter(isCopy).length);
    const answers = copies.reduce((sum, own) => sum + own, 0);
    expect([mirror.inputTokens, mirror.outputTokens]).toEqual([7 * answers, 3 * answers]);
    const stages = (await gateway.decisions()).flatMap((decision) => decision.stages);
    const ownScores = stages.filter(({ judgedScore }) => judgedScore !== null).length;
    const copiesScored = judgements.filter(({ score }) => score !== null).length - ownScores;
    const tokensUsd = copies.reduce((sum, own, index) => sum + (own * (7 * (index + 1) + 3 * 10 * (index + 1))) / 1e6, 0);
    expect(mirror.costUsd).toBeCloseTo(tokensUsd + 0.001 * copiesScored, 12);
    expect(engines.reduce((sum, { asked }) => sum + asked.length, 0)).toBe(stages.length + answers);
  });

  it("does not know the cost where a model has no price", async () => {
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const { gateway } = await smallSuffices(large);
    await putMirror(gateway, 1);
    await ask(gateway, "q");
    expect(await settled(gateway, 1)).toMatchObject({ completed: 1, costUsd: null, inputTokens: 7, outputTokens: 3 });
  });

  it("sends the body as the client's, without its stream and its priority, and leaves streams and tools to work", async () => {
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const { gateway } = await smallSuffices(large);
    await putMirror(gateway, 1);
    const tools = [{ type: "function", function: { name: "look" } }];
    const answer = await gateway.chat({
      stream: true,
      stream_options: { include_usage: true },
      tools,
      seed: 3,
      max_tokens: 9,
      priority: -2,
    });
    expect(await answer.text()).toContain("data: [DONE]");
    expect((await settled(gateway, 1)).completed).toBe(1);
    const [{ body } = { body: {} }] = large.asked;
    expect(body).toEqual({
      model: "large",
      messages: [{ role: "user", content: "What is 2 + 2?" }],
      stream: false,
      tools,
      seed: 3,
      max_tokens: 9,
    });
  });

  it("copies neither requests that failed nor such whose client left, and none by a model's own name", async () => {
    const silent = await startTestEngine((asked, response) => (asked.body.seed === 1 ? undefined : response.writeHead(400).end("{}")));
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const { gateway, config } = await smallSuffices(large);
    await gateway.put({ ...config, replicas: config.replicas.map((one) => (one.model === "small" ? { ...one, url: silent.url } : one)) });
    await putMirror(gateway, 1);
    expect((await gateway.chat({})).status).toBe(400);
    const leaving = new AbortController();
    const left = gateway
      .chat(
        { seed: 1 },
        {
          signal: leaving.signal,
          body: JSON.stringify({ model: "cascade/test", messages: [{ role: "user", content: "x" }], seed: 1 }),
        },
      )
      .catch(() => null);
    await until(() => silent.asked.length === 2);
    leaving.abort();
    await left;
    await until(async () => (await gateway.decisions()).length === 2);
    expect((await gateway.chat({ model: "large" })).status).toBe(200);
    expect(await settled(gateway)).toMatchObject({ picked: 0, inputTokens: 0 });
  });
});

describe("what goes wrong with copies", () => {
  it("is not tried again and not held against the engine", async () => {
    const large = await startTestEngine((asked, response) => {
      if (isCopy(asked)) response.writeHead(500).end();
      else sayCompletion(response, "large");
    });
    const { gateway } = await smallSuffices(large);
    await putMirror(gateway, 1);
    await askAll(gateway, questions(6), 1);
    expect(await settled(gateway, 6)).toMatchObject({ failed: 6, completed: 0, inputTokens: 0 });
    expect(large.asked).toHaveLength(6);
    const status = (await control(gateway, "GET", "/status")).document as {
      replicas: { model: string; state: string; inFlight: number }[];
    };
    expect(status.replicas.find(({ model }) => model === "large")).toMatchObject({ state: "active", inFlight: 0 });
    expect((await gateway.chat({ model: "large" })).status).toBe(200);
  });
});

describe("the mirror's control", () => {
  it("cuts off the copies under way on DELETE and sends nothing after it", async () => {
    const large = await startTestEngine(() => undefined);
    const { gateway } = await smallSuffices(large);
    await putMirror(gateway, 1);
    await askAll(gateway, questions(2), 1);
    await until(() => large.asked.length === 2);
    expect((await control(gateway, "DELETE", "/mirror", { by: "bob", reason: "" })).status).toBe(200);
    for (const { cutOff } of large.asked) await cutOff;
    await askAll(gateway, questions(20), 2);
    expect(large.asked).toHaveLength(2);
    expect((await control(gateway, "GET", "/mirror")).document).toBeNull();
    const status = (await control(gateway, "GET", "/status")).document as { replicas: { inFlight: number }[] };
    expect(status.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  it("does not keep the gateway from ending", async () => {
    const large = await startTestEngine(() => undefined);
    const { gateway } = await smallSuffices(large);
    await putMirror(gateway, 1);
    await ask(gateway, "q");
    await until(() => large.asked.length === 1);
    expect(await gateway.close()).toBe(0);
    await large.asked[0]?.cutOff;
  });

  it("refuses what makes no sense, and a mirror of answers that nothing scores", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "x"));
    const gateway = await startTestGateway();
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    for (const wrong of [
      {},
      { share: 0, maxInFlight: 1, ...signature },
      { share: 1.1, maxInFlight: 1, ...signature },
      { share: 1, maxInFlight: 0, ...signature },
    ]) {
      expect((await control(gateway, "PUT", "/mirror", wrong)).status).toBe(400);
    }
    const { status, document } = await control(gateway, "PUT", "/mirror", { share: 1, maxInFlight: 1, ...signature });
    expect([status, document.error.message]).toEqual([
      409,
      "No judge is configured and no stage has another gate, so the answers of copies could not be scored.",
    ]);
  });

  it("goes on after a restart with counts that begin anew, and has every change in the audit", async () => {
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const { gateway: first } = await smallSuffices(large);
    await putMirror(first, 1);
    await ask(first, "q");
    expect((await settled(first, 1)).completed).toBe(1);
    await first.close();
    const gateway = await startTestGateway({}, { stateDirectory: first.stateDirectory });
    expect(await readMirror(gateway)).toMatchObject({ share: 1, maxInFlight: 1000, picked: 0, scores: {} });
    await ask(gateway, "q");
    expect(await settled(gateway, 1)).toMatchObject({ completed: 1 });
    expect((await control(gateway, "DELETE", "/mirror", { by: "bob", reason: "" })).status).toBe(200);
    const { lines } = (await control(gateway, "GET", "/audit")).document as { lines: { by: string; action: string }[] };
    const own = lines.filter(({ action }) => action.startsWith("mirror"));
    expect(own.map(({ by, action }) => [by, action])).toEqual([
      ["ann", "mirror started"],
      ["bob", "mirror ended"],
    ]);
  });
});

/** USD per million tokens; models differ, so that a mix-up of models shows. */
function priceOf(index: number) {
  return { usdPerMillionInputTokens: index + 1, usdPerMillionOutputTokens: 10 * (index + 1) };
}
