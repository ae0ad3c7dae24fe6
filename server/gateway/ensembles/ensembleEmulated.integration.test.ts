import { afterEach, beforeEach, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { ask, contentOf, ensembleOf, served, told } from "../testing/testEnsembles";
import { startTestGateway, testConfig, until } from "../testing/testGateway";

const OTHER = "gemma-2-9b";
const models = [MODEL, OTHER];

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

it("emulated experts agree where both are right, and their aggregator reads what they wrote where they are not", async () => {
  const { call } = await emulators.start(20);
  const outcome = (model: string, label: readonly number[]) => ({ model, outputTokens: [20, 30], label, judged: [80, 20] });
  await call("PUT", "/outcomes", {
    ...{ name: "held-out", promptIds: ["easy", "hard"], inputTokens: [40, 50] },
    models: [outcome(MODEL, [100, 0]), outcome(OTHER, [100, 100])],
  });
  const started = await Promise.all(models.map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));

  const gateway = await startTestGateway();
  const stages = models.map((model, at) => ({ model, urls: [urls[at] ?? ""] }));
  const config = testConfig({
    stages: stages.slice(0, 1),
    settings: { ensembles: [ensembleOf({ experts: models, expertsPerQuestion: 2, aggregator: { model: OTHER } })] },
  });
  await gateway.put({ ...config, replicas: testConfig({ stages }).replicas, timeScale: 20 });
  const asked = (text: string) => ask(gateway, { messages: [{ role: "user", content: text }] });

  const easy = await asked("[prompt easy] Which one?");
  expect(told(easy)).toEqual({ outcome: "skipped", votes: "2:0", confidence: 1, model: MODEL });
  expect(await contentOf(easy)).toMatch(/^\[emulated answer easy by gemma-2-2b\] .*\nAnswer: [A-D]$/);
  const hard = await asked("[prompt hard] Which one?");
  expect(told(hard)).toEqual({ outcome: "aggregated", votes: "1:1", confidence: 0.5, model: OTHER });
  const { usage } = (await hard.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  expect(usage.completion_tokens).toBe(3 * 30);
  // The question three times, and what each expert wrote.
  expect(usage.prompt_tokens).toBeGreaterThanOrEqual(3 * 50 + 2 * 30);
  const untold = await asked("Which one, if nobody names a prompt?");
  expect(await contentOf(untold)).toMatch(/^\[emulated answer (easy|hard) by gemma-2/);
  expect((await served(gateway)).experts.map(({ voted }) => voted)).toEqual([3, 3]);
});
