import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { type Mirror as MirrorSummary, mirrorSchema } from "@/server/contracts/gatewayControls";
import { ask, askAll, control, models, scoreOf, startScoredCascade } from "./scoredCascade";
import { type Asked, heldEngine, sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, type TestCascade, type TestGateway, testConfig, until } from "./testGateway";

const signature = { by: "ann", reason: "scores of all" };
const questions = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `q${from + index}`);
const isCopy = ({ headers }: Asked): boolean => String(headers["x-request-id"]).endsWith("-mirror");

async function putMirror(gateway: TestGateway, share: number, maxInFlight = 1000): Promise<void> {
  const { status, document } = await control(gateway, "PUT", "/mirror", { share, maxInFlight, ...signature });
  expect([status, document]).toMatchObject([200, { picked: 0, costUsd: 0 }]);
}

async function readMirror(gateway: TestGateway): Promise<MirrorSummary> {
  return mirrorSchema.parse((await control(gateway, "GET", "/mirror")).document);
}

/** What the mirror says once so many requests are picked and nothing is under way. */
async function settled(gateway: TestGateway, picked = 0): Promise<MirrorSummary> {
  await until(async () => {
    const mirror = await readMirror(gateway);
    return mirror.picked >= picked && mirror.inFlight === 0;
  });
  return readMirror(gateway);
}

/** A small and a large model; `small` is always good enough, so that every copy goes to `large`, whose score is 40. */
async function smallSuffices(large: { readonly url: string }, given: Partial<TestCascade> = {}) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const judge = await startTestEngine(({ body }, response) =>
    sayCompletion(response, JSON.stringify(body).includes("small") ? "90" : "40"),
  );
  const gateway = await startTestGateway();
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  const config = testConfig({ stages, thresholds: [50], judgeUrl: judge.url, ...given });
  await gateway.put(config);
  return { gateway, small, judge, config };
}

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

  it("has every model's answer judged once, counts the scores that the judge gave and sums what the copies cost", async () => {
    const prices = Object.fromEntries(models.map((model, index) => [model, priceOf(index)]));
    const { gateway, engines, judgements } = await startScoredCascade({ maxInFlight: 200, settings: { prices } });
    await putMirror(gateway, 1);
    await askAll(gateway, questions(150), 2);
    const mirror = await settled(gateway, 150);
    // An answer that the judge could not score once it cannot score again.
    const unscored = questions(150).filter((question) => models.some((model) => scoreOf(model, question) === null));
    expect([mirror.picked, mirror.completed, mirror.failed, mirror.skipped]).toEqual([150, 150 - unscored.length, unscored.length, 0]);
    const expected = models.map((model) =>
      Array.from({ length: 101 }, (_, score) => judgements.filter((one) => one.model === model && one.score === score).length),
    );
    expect(models.map((model) => mirror.scores[model])).toEqual(expected);
    for (const counts of expected) expect(counts.reduce((sum, times) => sum + times, 0)).toBeLessThanOrEqual(150);
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

describe("a mirror's room", () => {
  it("never is more than half of an engine, however much there is to copy, nor keeps live requests from the other half", async () => {
    const held: ServerResponse[] = [];
    const large = await startTestEngine((asked, response) => {
      if (isCopy(asked)) held.push(response);
      else setTimeout(() => sayCompletion(response, "large"), 100);
    });
    const { gateway } = await smallSuffices(large, { maxInFlight: 8 });
    await putMirror(gateway, 1);
    await askAll(gateway, questions(50), 3);
    await until(async () => (await readMirror(gateway)).skipped === 46);
    expect([held.length, (await readMirror(gateway)).inFlight]).toEqual([4, 4]);
    const live = await Promise.all(questions(4).map(() => gateway.chat({ model: "large" })));
    for (const answer of live) expect(answer.status).toBe(200);
    const direct = (await gateway.decisions()).filter(({ asked }) => asked === "large");
    for (const { stages } of direct) expect(stages[0]?.queueSeconds).toBeLessThan(0.05);
    for (const response of held) sayCompletion(response, "large");
    expect(await settled(gateway)).toMatchObject({ picked: 50, completed: 4, skipped: 46 });
  });

  it("is bounded by half of every engine while live load comes and goes", async () => {
    const most = new Map<string, number>();
    const now = new Map<string, number>();
    const busyEngine = () =>
      startTestEngine((asked, response) => {
        const key = isCopy(asked) ? "copies" : "live";
        now.set(key, (now.get(key) ?? 0) + 1);
        most.set(key, Math.max(most.get(key) ?? 0, now.get(key) ?? 0));
        setTimeout(() => {
          now.set(key, (now.get(key) ?? 0) - 1);
          sayCompletion(response, "large");
        }, 5);
      });
    const large = await busyEngine();
    const { gateway } = await smallSuffices(large, { maxInFlight: 6 });
    await putMirror(gateway, 1);
    const direct = async (): Promise<void> => {
      for (let request = 0; request < 40; request += 1) await (await gateway.chat({ model: "large" })).arrayBuffer();
    };
    await Promise.all([askAll(gateway, questions(300), 4), direct(), direct()]);
    const { completed, skipped, failed } = await settled(gateway, 300);
    expect([completed + skipped, failed]).toEqual([300, 0]);
    expect(completed).toBeGreaterThan(0);
    expect(most.get("copies")).toBeLessThanOrEqual(3);
  });

  it("is none where an engine is to be filled by one request, takes no work, has requests waiting, or the judge rests", async () => {
    const large = await heldEngine();
    const { gateway, config, judge } = await smallSuffices(large, { maxInFlight: 1 });
    await putMirror(gateway, 1);
    await ask(gateway, "one place");
    expect(await settled(gateway, 1)).toMatchObject({ skipped: 1 });
    const largeAs = (given: object) =>
      gateway.put({
        ...config,
        replicas: config.replicas.map((one) => ({ ...one, maxInFlight: 8, ...(one.model === "large" ? given : {}) })),
      });
    await largeAs({ state: "cordoned" });
    await ask(gateway, "cordoned");
    expect(await settled(gateway, 2)).toMatchObject({ skipped: 2 });
    await largeAs({ maxInFlight: 4 });
    const direct = questions(5).map(() => gateway.chat({ model: "large" }));
    await until(() => large.asked.length === 4);
    await ask(gateway, "waiting");
    expect(await settled(gateway, 3)).toMatchObject({ skipped: 3 });
    large.open();
    await Promise.all(direct);
    await judge.close();
    for (const question of questions(3)) await ask(gateway, question);
    const before = large.asked.length;
    await ask(gateway, "resting");
    expect((await settled(gateway, 7)).completed).toBe(0);
    expect(large.asked.length).toBe(before);
  });

  it("is none at a judge that is half filled with live calls, which keep the other half", async () => {
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const held: ServerResponse[] = [];
    const judge = await startTestEngine((_, response) => held.push(response));
    const settings = { judge: { maxInFlight: 4, timeoutSeconds: 5 } };
    const { gateway } = await smallSuffices(large, { judgeUrl: judge.url, settings });
    const live = questions(2).map((question) => ask(gateway, question));
    await until(() => held.length === 2);
    await putMirror(gateway, 1);
    const third = ask(gateway, "accepted while two are judged");
    await until(() => held.length === 3);
    sayCompletion(held[2] as ServerResponse, "90");
    expect((await third).status).toBe(200);
    expect(await settled(gateway, 1)).toMatchObject({ skipped: 1, inputTokens: 0 });
    for (const response of held.slice(0, 2)) sayCompletion(response, "90");
    for (const answer of await Promise.all(live)) expect(answer.status).toBe(200);
    await until(() => held.length === 5);
    for (const response of held.slice(3)) sayCompletion(response, "40");
    expect(await settled(gateway, 3)).toMatchObject({ completed: 2, skipped: 1 });
  });

  it("holds no more copies at once than it may", async () => {
    const large = await heldEngine();
    const { gateway } = await smallSuffices(large, { maxInFlight: 100 });
    await putMirror(gateway, 1, 2);
    await askAll(gateway, questions(10), 2);
    await until(async () => (await readMirror(gateway)).skipped === 8);
    expect(large.asked).toHaveLength(2);
    large.open();
    expect(await settled(gateway)).toMatchObject({ picked: 10, completed: 2, skipped: 8 });
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

  it("refuses what makes no sense, and a mirror without a judge", async () => {
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
    expect([status, document.error.message]).toEqual([409, "No judge is configured, so the answers of copies could not be scored."]);
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

/** USD by million tokens; models differ, so that one taken for another shows. */
function priceOf(index: number) {
  return { usdPerMillionInputTokens: index + 1, usdPerMillionOutputTokens: 10 * (index + 1) };
}
