import { afterEach, beforeEach, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";
import { putArtefact, slackBy, testConfidence, testLengths } from "../testing/testPredictors";

const OTHER = "gemma-2-9b";
const models = [MODEL, OTHER];

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

it("programs on emulated engines stay at the model that predictors are surest of, and the shortest leave the queue first", async () => {
  const { call } = await emulators.start(5);
  const promptIds = ["short", "long"];
  const outputs = { outputTokens: [20, 200], label: [100, 0], judged: [80, 20] };
  await call("PUT", "/outcomes", {
    name: "held-out",
    promptIds,
    inputTokens: [30, 30],
    models: models.map((model) => ({ model, ...outputs })),
  });
  const started = await Promise.all(models.map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));

  const gateway = await startTestGateway({ predictionSeconds: 5 });
  const [lengths, confidence] = [testLengths(1, models), testConfidence(models)];
  for (const artefact of [lengths, confidence]) expect((await putArtefact(gateway, artefact)).status).toBe(200);
  const stages = models.map((model, at) => ({ model, urls: [urls[at] ?? ""] }));
  const policy = hashed(slackBy({ lengths: lengths.hash, confidence: confidence.hash }, models));
  await gateway.put({ ...testConfig({ stages, maxInFlight: 1 }), ...policy, timeScale: 5 });

  const words = { short: "weather rain cloud", long: "history empire war" };
  const ask = async (session: string, kind: keyof typeof words, name: string): Promise<string | null> => {
    const messages = [{ role: "user", content: `[prompt ${kind}] ${name} ${words[kind]}` }];
    const answer = await gateway.post("/v1/chat/completions", { model: "cascade/test", messages }, { "x-session-id": session });
    expect(answer.status).toBe(200);
    await answer.text();
    return answer.headers.get("x-weir-model");
  };
  // The predictors are confident in the large model for long prompts; its program keeps it for the short ones that follow.
  expect(await ask("a", "long", "q1")).toBe(OTHER);
  expect(await ask("b", "short", "q2")).toBe(MODEL);
  const order = ["long", "long", "short", "long", "short"] as const;
  const answers: Promise<string | null>[] = [];
  for (const [at, kind] of order.entries()) {
    answers.push(ask("a", kind, `q${at}`));
    await until(async () => {
      const { queued } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> };
      return queued[OTHER] === at;
    });
  }
  expect(await Promise.all(answers)).toEqual(order.map(() => OTHER));
  const decisions = (await gateway.decisions()).slice(2);
  expect(decisions.map(({ startReason }) => startReason)).toEqual(order.map(() => "program-keeps-its-model"));
  const dispatched = decisions.sort((a, b) => (a.stages[0]?.at?.dispatched ?? 0) - (b.stages[0]?.at?.dispatched ?? 0));
  expect(dispatched.map(({ stages: [stage] }) => stage?.outputTokens)).toEqual([200, 20, 20, 200, 200]);
});
