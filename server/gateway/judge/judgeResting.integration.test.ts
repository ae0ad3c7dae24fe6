import { expect, it } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig } from "../testing/testGateway";

it("starts requests at the largest model while the judge rests where the plan goes there without it, and says so", async () => {
  const [small, large] = await Promise.all(
    ["small", "large"].map((model) => startTestEngine((_, response) => sayCompletion(response, model))),
  );
  const judge = await startTestEngine((_, response) => response.writeHead(500).end());
  const gateway = await startTestGateway();
  const stages = [
    { model: "small", urls: [small?.url ?? ""] },
    { model: "large", urls: [large?.url ?? ""] },
  ];
  await gateway.put(testConfig({ stages, thresholds: [60], judgeUrl: judge.url, whenDown: "largest" }));
  for (let request = 0; request < 3; request += 1) await gateway.chat({});
  const answer = await gateway.chat({});
  expect([small?.asked.length, large?.asked.length, judge.asked.length]).toEqual([3, 4, 3]);
  const said = ["model", "stage", "escalations", "degraded"].map((name) => answer.headers.get(`x-weir-${name}`));
  expect(said).toEqual(["large", "2", "0", "judge"]);
  const decision = (await gateway.decisions()).at(-1);
  expect(decision).toMatchObject({
    startReason: "judge-unavailable",
    degraded: ["judge"],
    stages: [{ model: "large", verdict: "accepted" }],
  });
});

it("tells in its status how the judge is: scores, failures and why, and whether its circuit is open", async () => {
  const small = await startTestEngine((_, response) => sayCompletion(response, "four"));
  let broken = false;
  const judge = await startTestEngine((_, response) => (broken ? response.writeHead(500).end() : sayCompletion(response, "90")));
  const gateway = await startTestGateway();
  const stages = ["small", "large"].map((model) => ({ model, urls: [small.url] }));
  await gateway.put(testConfig({ stages, thresholds: [60], judgeUrl: judge.url }));
  const status = async () => gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json()).judge;
  expect(await status()).toEqual({
    ...{ model: "weir-judge", circuitOpen: false, unavailable: null, scored: 0, failed: 0, lastScoreMs: null, lastFailure: null },
  });
  await gateway.chat({});
  const scored = await status();
  expect(scored).toMatchObject({ circuitOpen: false, scored: 1, failed: 0, lastFailure: null });
  expect(Math.abs((scored?.lastScoreMs ?? 0) - Date.now())).toBeLessThan(5_000);
  broken = true;
  for (let request = 0; request < 4; request += 1) await gateway.chat({});
  // The judge did not get the fourth.
  expect(await status()).toMatchObject({
    ...{ circuitOpen: true, scored: 1, failed: 3 },
    lastFailure: { outcome: "failed", reason: "the judge answered 500" },
  });
  await gateway.put(testConfig({ stages: stages.slice(1) }));
  expect(await status()).toBeNull();
});
