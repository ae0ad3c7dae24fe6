import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { engineOn, isReady, MODEL, outcomes, type TestEmulators } from "@/server/emulator/testEmulators";
import type { GatewayOptions } from "../gateway";
import type { GatewayLimits } from "../http/limits";
import { sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, testConfig, until } from "./testGateway";

/** The model of the last stage. */
export const LARGE = "gemma-2-9b";

interface EmulatedStagesOptions {
  readonly outputTokens?: readonly [number, number];
  readonly timeScale?: number;
  readonly limits?: Partial<GatewayLimits>;
  readonly given?: Partial<GatewayOptions>;
}

/** A gateway over two emulated engines, whose judge accepts no answer of the first. */
export async function emulatedStages(
  emulators: TestEmulators,
  { outputTokens = [40, 60], timeScale = 100, limits = {}, given = {} }: EmulatedStagesOptions = {},
) {
  const { call } = await emulators.start(timeScale);
  const { models, ...book } = outcomes(outputTokens);
  await call("PUT", "/outcomes", { ...book, models: [MODEL, LARGE].map((model) => ({ ...models[0], model })) });
  const started = await Promise.all([MODEL, LARGE].map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const engines = await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine));
  await until(async () => (await Promise.all(engines.map(({ url }) => isReady(url)))).every(Boolean));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0", "weir-judge"));
  const gateway = await startTestGateway(limits, given);
  const stages = [MODEL, LARGE].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  await gateway.put({ ...testConfig({ stages, thresholds: [50], judgeUrl: judge.url }), timeScale });
  return { ...gateway, call };
}
