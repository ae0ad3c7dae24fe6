import { expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, testConfig } from "./testGateway";

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
