import { expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig } from "../testing/testGateway";

const signed = { by: "ada", reason: "" };

it("no request is lost or answered otherwise while panics, canaries, knobs and plans come and go", async () => {
  const engine = (model: string) =>
    startTestEngine(({ body }, response) => setTimeout(() => sayCompletion(response, `${model} for ${String(body.user)}`), 8));
  const urls = new Map<string, string>();
  for (const model of ["small", "middle", "large"]) urls.set(model, (await engine(model)).url);
  let judged = 0;
  const judge = await startTestEngine((_, response) => sayCompletion(response, String((judged++ * 37) % 101)));
  const gateway = await startTestGateway();
  const plan = (planId: string, models: readonly string[], threshold: number): GatewayConfig => {
    const stages = models.map((model) => ({ model, urls: [urls.get(model) ?? ""] }));
    const config = testConfig({ stages, thresholds: [threshold], judgeUrl: judge.url, maxInFlight: 3, planId });
    const others = [...urls].filter(([model]) => !models.includes(model));
    const spare = others.map(([model, url]) => ({ id: `${model}-0`, model, url, state: "active" as const, maxInFlight: 3 }));
    return { ...config, replicas: [...config.replicas, ...spare] };
  };
  const plans = [plan("plan-a", ["small", "large"], 50), plan("plan-b", ["middle", "large"], 60)];
  await gateway.put(plans[0]!);
  const call = async (method: string, path: string, body: unknown): Promise<number> => {
    const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
    const answer = await fetch(`${gateway.adminUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", "if-match": etag },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  const { planId, policy, policyHash } = plan("plan-c", ["small", "middle"], 70);
  const canary = { candidate: { planId, policy, policyHash }, shares: [0.5, 1], stepSeconds: 0.02, minRequests: 1000 };
  const stop = { errorShare: 0.5, slow: null };
  const acts: (() => Promise<number>)[] = [
    () => call("PUT", "/canary", { ...canary, stop, ...signed }),
    () => call("PUT", "/panic", { model: "large", ...signed }),
    () => call("PUT", "/panic", { model: "middle", ...signed }),
    () => call("DELETE", "/panic", signed),
    () => call("PUT", "/canary", { ...canary, stop, ...signed }),
    () => call("PATCH", "/knobs", { thresholds: [30], ...signed }),
    () => call("PUT", "/canary", { ...canary, stop, ...signed }),
    () => call("PUT", "/config", plans[1]),
    () => call("PUT", "/canary", { ...canary, stop: { ...stop, slow: { endToEndSeconds: 0.001, share: 0 } }, ...signed }),
    () => call("POST", "/rollback", signed),
    () => call("PUT", "/panic", { model: "small", ...signed }),
    () => call("PUT", "/config", plans[0]),
    () => call("DELETE", "/panic", signed),
  ];
  const answers: Promise<{ readonly user: string; readonly status: number; readonly text: string }>[] = [];
  for (const act of acts) {
    for (let index = 0; index < 24; index += 1) {
      const user = `user-${answers.length}`;
      const model = ["cascade/test", "cascade/default", "large"][index % 3];
      const sent = gateway.chat({ user, model, stream: index % 4 === 0 });
      answers.push(sent.then(async (answer) => ({ user, status: answer.status, text: await answer.text() })));
    }
    // Half of them are answered: the state after the previous action has served some requests, and this action meets the rest in flight.
    await Promise.all(answers.slice(-24, -12));
    expect(await act()).toBe(200);
  }
  const read = await Promise.all(answers);
  expect(read.filter(({ user, status, text }) => status !== 200 || !text.includes(` for ${user}"`))).toEqual([]);
  const records = await gateway.decisions();
  expect(records).toHaveLength(answers.length);
  const policies = new Set(records.map((record) => record.policyHash));
  for (const seen of ["panic", "direct", policyHash, plans[0]?.policyHash ?? "", plans[1]?.policyHash ?? ""])
    expect(policies).toContain(seen);
  const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: object; replicas: { inFlight: number }[] };
  expect(Object.values(status.queued).every((count) => count === 0)).toBe(true);
  expect(status.replicas.every(({ inFlight }) => inFlight === 0)).toBe(true);
}, 30_000);
