import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { type Decision, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import type { Grace } from "@/solver/plan/grace";
import { LARGE } from "../testing/testEmulatedStages";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

const timeScale = 20;
const planned = 70;
const least = 40;
/** Prompts by the judged score of the small model's answer: below any threshold, between the two, and above both. */
const judged = { bad: 10, middling: 55, good: 95 };
const prompts = Object.keys(judged);
const burst = 60;
const grace: Grace = { waiting: 4, calm: 1, holdSeconds: 3, pointsPerSecond: 15 };

/** A gateway over a small and a slow large emulated engine, scored by the emulator's judge. */
async function start(given: Grace | null) {
  const { call, describe } = await emulators.start(timeScale);
  const model = (name: string, tokens: number) => ({
    ...{ model: name, outputTokens: prompts.map(() => tokens), label: prompts.map(() => 100), judged: Object.values(judged) },
  });
  const inputTokens = prompts.map(() => 100);
  await call("PUT", "/outcomes", { name: "burst", promptIds: prompts, inputTokens, models: [model(MODEL, 20), model(LARGE, 150)] });
  const started = await Promise.all([MODEL, LARGE].map((name, gpu) => call("POST", "/engines", engineOn(gpu, { model: name }))));
  const engines = await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine));
  await until(async () => (await Promise.all(engines.map(({ url }) => isReady(url)))).every(Boolean));
  const { judge } = await describe();
  const stages = [MODEL, LARGE].map((name, at) => ({ model: name, urls: [engines[at]?.url ?? ""] }));
  const config = testConfig({ stages, thresholds: [planned], judgeUrl: judge.url, maxInFlight: 2 });
  const { policy } = config;
  if (policy.kind !== "cascade") throw new Error("The configuration of a cascade was asked for.");
  const ranged = { ...policy, approvedRanges: { thresholds: [{ min: least, max: 90 }] }, ...(given && { grace: given }) };
  const gateway = await startTestGateway();
  await gateway.put({ ...config, ...hashed(ranged), judge, timeScale });
  const ask = async (prompt: string) => {
    const answer = await gateway.chat({ messages: [{ role: "user", content: `[prompt ${prompt}] What is it?` }] });
    await answer.text();
    return answer;
  };
  const admin = async (path: string) => (await fetch(`${gateway.adminUrl}${path}`)).text();
  const status = async () => gatewayStatusSchema.parse(JSON.parse(await admin("/status")));
  return { gateway, ask, admin, status };
}

const escalated = (decisions: readonly Decision[]): number =>
  decisions.filter(({ stages }) => stages.some(({ verdict }) => verdict === "escalated")).length;

function p95Of(decisions: readonly Decision[]): number {
  const seconds = decisions.map(({ endToEndSeconds }) => endToEndSeconds).sort((a, b) => a - b);
  return seconds[Math.floor(0.95 * seconds.length)] ?? Number.NaN;
}

/** A burst far beyond what the large model serves at once. */
async function serveBurst(given: Grace | null) {
  const running = await start(given);
  const answers = await Promise.all(Array.from({ length: burst }, (_, at) => running.ask(prompts[at % prompts.length] ?? "")));
  return { ...running, answers, decisions: await running.gateway.decisions() };
}

describe("a cascade with grace before emulated engines", () => {
  it("escalates less in a burst and answers sooner, inside the approved range, and says so wherever it did", async () => {
    const { answers, decisions, ...running } = await serveBurst(grace);
    const stages = decisions.flatMap((decision) => decision.stages.filter(({ model }) => model === MODEL));
    const lowered = stages.filter(({ plannedThreshold }) => plannedThreshold !== undefined);
    const kept = lowered.filter(({ reason }) => reason === "score-at-or-above-lowered-threshold");
    expect(kept.length).toBeGreaterThan(0);
    for (const { threshold, plannedThreshold } of lowered) {
      expect(plannedThreshold).toBe(planned);
      expect(threshold).toBeLessThan(planned);
      expect(threshold).toBeGreaterThanOrEqual(least);
    }
    for (const { judgedScore } of kept) expect(judgedScore).toBe(judged.middling);

    const headers = answers.flatMap((answer) => answer.headers.get("x-weir-grace") ?? []);
    expect(headers.sort()).toEqual(lowered.map(({ threshold }) => `${planned}->${threshold}`).sort());
    const metrics = await running.admin("/metrics");
    expect(metrics).toContain(`weir_gateway_grace_answers_total{model="${MODEL}",outcome="kept"} ${kept.length}\n`);

    await until(async () => (await running.status()).grace === undefined);
    await until(async () => (await running.admin("/audit")).includes("grace ended"));
    const audit = await running.admin("/audit");
    expect(audit).toContain("grace began");
    expect(audit).toMatch(new RegExp(`${MODEL} from ${planned} to [4-6][0-9]`));
    expect(await running.admin("/metrics")).toContain(`weir_gateway_grace_points{model="${MODEL}"} 0\n`);
    // As planned again.
    const after = await running.ask("middling");
    expect([after.headers.get("x-weir-model"), after.headers.get("x-weir-grace")]).toEqual([LARGE, null]);

    await emulators.end();
    emulators = new TestEmulators(await freePort());
    const plain = await serveBurst(null);
    expect(plain.answers.every((answer) => answer.headers.get("x-weir-grace") === null)).toBe(true);
    // All bad and middling answers; with grace the middling ones that were judged before the thresholds fell.
    expect(escalated(plain.decisions)).toBe((2 * burst) / prompts.length);
    expect(escalated(decisions)).toBeLessThan(0.8 * escalated(plain.decisions));
    expect(p95Of(decisions)).toBeLessThan(p95Of(plain.decisions));
    expect(await plain.admin("/metrics")).not.toContain("weir_gateway_grace_points{");
  });

  it("reports the lowered thresholds and since when while the overload lasts", async () => {
    const { ask, status } = await start(grace);
    const begunMs = Date.now();
    const answers = Array.from({ length: burst }, () => ask("bad"));
    await until(async () => (await status()).grace !== undefined);
    const { grace: reported } = await status();
    expect(reported).toMatchObject([{ model: MODEL, planned }]);
    expect(reported?.[0]?.inForce).toBeLessThan(planned);
    expect(reported?.[0]?.sinceMs).toBeGreaterThanOrEqual(begunMs);
    expect(reported?.[0]?.sinceMs).toBeLessThanOrEqual(Date.now());
    await Promise.all(answers);
  });
});
