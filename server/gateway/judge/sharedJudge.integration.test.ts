import { afterEach, expect, it, vi } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";

afterEach(() => void vi.useRealTimers());

it("rests, and tries one call after it, for the policy in force and a canary's candidate together", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let works = false;
  const held: (() => void)[] = [];
  const judge = await startTestEngine((_, response) => {
    if (works) held.push(() => sayCompletion(response, "90"));
    else response.writeHead(500).end();
  });
  const engine = await startTestEngine(({ body }, response) => sayCompletion(response, "four", String(body.model)));
  const gateway = await startTestGateway();
  const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
  const config = testConfig({ stages, thresholds: [50], judgeUrl: judge.url, maxInFlight: 100 });
  await gateway.put(config);
  const { policy } = config;
  if (policy.kind !== "cascade") throw new Error("The configuration is no cascade.");
  const candidate = { planId: "candidate", ...hashed({ ...policy, thresholds: [60] }) };
  const stop = { errorShare: 0.5, slow: null };
  const canary = { candidate, shares: [0.5, 1], stepSeconds: 3600, minRequests: 1000, stop, by: "ada", reason: "" };
  const begun = await fetch(`${gateway.adminUrl}/canary`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(canary),
  });
  expect(begun.status).toBe(200);

  /** Twenty programs, some in each arm. */
  const askAll = () =>
    Array.from({ length: 20 }, async (_, program) => {
      const body = { model: "cascade/test", messages: [{ role: "user", content: "What is 2 + 2?" }] };
      await (await gateway.post("/v1/chat/completions", body, { "x-session-id": `program-${program}` })).text();
    });
  const latest = async (): Promise<readonly Decision[]> => (await gateway.decisions()).slice(-20);
  const arms = (decisions: readonly Decision[]) => new Set(decisions.map((decision) => decision.canary ?? false));

  await Promise.all(askAll());
  const failedCalls = judge.asked.length;
  await Promise.all(askAll());
  expect(judge.asked).toHaveLength(failedCalls);
  expect(arms(await latest())).toEqual(new Set([true, false]));
  expect(new Set((await latest()).map(({ stages }) => stages[0]?.detail))).toEqual(
    new Set(["the judge's circuit is open after repeated failures"]),
  );

  vi.advanceTimersByTime(5_000);
  works = true;
  const before = (await gateway.decisions()).length;
  const tries = askAll();
  // The test call is answered after all others, so that no other call becomes the second test call.
  await until(async () => held.length === 1 && (await gateway.decisions()).length === before + 19);
  held.pop()?.();
  await Promise.all(tries);
  expect((await latest()).filter(({ stages }) => stages[0]?.judgedScore === 90)).toHaveLength(1);
  expect(judge.asked).toHaveLength(failedCalls + 1);

  const after = askAll();
  await until(() => held.length === 20);
  for (const answer of held.splice(0)) answer();
  await Promise.all(after);
  expect((await latest()).map(({ stages }) => stages[0]?.judgedScore)).toEqual(Array(20).fill(90));
  expect(arms(await latest())).toEqual(new Set([true, false]));
});
