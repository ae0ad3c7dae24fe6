import { expect } from "vitest";
import { type Mirror as MirrorSummary, mirrorSchema } from "@/server/contracts/gateway/gatewayControls";
import { type Asked, sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, type TestCascade, type TestGateway, testConfig, until } from "./testGateway";
import { control } from "./testScoredCascade";

export const signature = { by: "ann", reason: "scores of all" };
export const questions = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `q${from + index}`);
export const isCopy = ({ headers }: Asked): boolean => String(headers["x-request-id"]).endsWith("-mirror");

export async function putMirror(gateway: TestGateway, share: number, maxInFlight = 1000): Promise<void> {
  const { status, document } = await control(gateway, "PUT", "/mirror", { share, maxInFlight, ...signature });
  expect([status, document]).toMatchObject([200, { picked: 0, costUsd: 0 }]);
}

export async function readMirror(gateway: TestGateway): Promise<MirrorSummary> {
  return mirrorSchema.parse((await control(gateway, "GET", "/mirror")).document);
}

/** The mirror's summary once `picked` requests were picked and nothing is in flight. */
export async function settled(gateway: TestGateway, picked = 0): Promise<MirrorSummary> {
  await until(async () => {
    const mirror = await readMirror(gateway);
    return mirror.picked >= picked && mirror.inFlight === 0;
  });
  return readMirror(gateway);
}

/** A small and a large model; `small` is always good enough, so that every copy goes to `large`, whose score is 40. */
export async function smallSuffices(large: { readonly url: string }, given: Partial<TestCascade> = {}) {
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
