import { describe, expect, it } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { type Answer, sayCompletion, startTestEngine, streamEvent } from "./testEngine";
import { startTestGateway, testConfig, until } from "./testGateway";

const perSecond = 200;
const seconds = 3;
const tokens = 40;

/** An engine that fails in one of seven ways as often as it answers. */
function unreliable(): Answer {
  let asked = 0;
  return ({ body }, response) => {
    asked += 1;
    const fault = asked % 14;
    if (fault === 0) return response.writeHead(500).end("{}");
    if (fault === 1) return response.writeHead(429).end("{}");
    if (fault === 2) return response.writeHead(200).end("<html>");
    if (fault === 3) return response.destroy();
    if (fault === 4) return undefined;
    if (body.stream !== true) return setTimeout(() => sayCompletion(response, "whole"), 5);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let token = 0; token < tokens / 2; token += 1) response.write(streamEvent({ content: "x" }));
    if (fault === 5) return setTimeout(() => response.destroy(), 5);
    if (fault === 6) return setTimeout(() => response.end(), 5);
    return setTimeout(() => {
      for (let token = 0; token < tokens / 2; token += 1) response.write(streamEvent({ content: "x" }));
      response.end("data: [DONE]\n\n");
    }, 5);
  };
}

/** A judge that fails, is too slow, and scores, in turn. */
function moodyJudge(): Answer {
  let asked = 0;
  return (_, response) => {
    asked += 1;
    if (asked % 5 === 0) return response.writeHead(500).end();
    if (asked % 5 === 1) return undefined;
    return sayCompletion(response, String((asked * 37) % 101));
  };
}

type Outcome = "answered" | "shed" | "failed" | "left" | "lost";

async function outcomeOf(asking: Promise<Response>, { stream, signal }: { readonly stream: boolean; readonly signal: AbortSignal }) {
  try {
    const answer = await asking;
    const text = await answer.text();
    if (answer.status === 429) return "shed";
    if (answer.status !== 200) return (JSON.parse(text) as { error?: { message?: string } }).error?.message ? "failed" : "lost";
    if (!stream) return text.includes('"choices"') ? "answered" : "lost";
    if (text.endsWith("data: [DONE]\n\n")) return "answered";
    return /data: \{"error":\{"message":"[^"]+/.test(text) ? "failed" : "lost";
  } catch {
    return signal.aborted ? "left" : "lost";
  }
}

describe("at 200 requests a second, half of them streamed, with engines and a judge that fail in every way, an engine killed and plans that change", () => {
  it("answers, sheds or clearly fails every request, and keeps none back", { timeout: 60_000 }, async () => {
    const engines = await Promise.all(Array.from({ length: 5 }, () => startTestEngine(unreliable())));
    const judge = await startTestEngine(moodyJudge());
    const urls = engines.map(({ url }) => url);
    const plan = (index: number) =>
      testConfig({
        stages: [
          { model: "small", urls: urls.slice(0, 2 + (index % 2)) },
          { model: "large", urls: urls.slice(2) },
        ],
        thresholds: [20 + 10 * (index % 5)],
        judgeUrl: judge.url,
        maxInFlight: 16,
        planId: `plan-${index}`,
        whenDown: index % 2 === 0 ? "accept" : "largest",
      });
    const gateway = await startTestGateway({ requestSeconds: 2, streamSilenceSeconds: 0.3, judgeSeconds: 0.1, queuedPerModel: 40 });
    await gateway.put(plan(0));
    const outcomes: Promise<Outcome>[] = [];
    const startedMs = performance.now();
    let plans = 0;
    for (let sent = 0; sent < perSecond * seconds; ) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      for (; sent < perSecond * seconds && startedMs + (sent * 1000) / perSecond <= performance.now(); sent += 1) {
        const stream = sent % 2 === 0;
        const leaving = new AbortController();
        if (sent % 7 === 0) setTimeout(() => leaving.abort(), 40);
        const model = sent % 3 === 0 ? "large" : "cascade/default";
        const headers = { "x-weir-stream": sent % 4 === 0 ? "last" : "buffer" };
        outcomes.push(outcomeOf(gateway.chat({ model, stream }, { signal: leaving.signal, headers }), { stream, signal: leaving.signal }));
      }
      if (performance.now() - startedMs > (plans + 1) * 500) {
        plans += 1;
        if (plans === 2) await engines[4]?.close();
        await gateway.put(plan(plans));
      }
    }
    const all = await Promise.all(outcomes);
    const count = (kind: Outcome) => all.filter((outcome) => outcome === kind).length;
    expect(count("lost")).toBe(0);
    expect(count("answered") + count("shed") + count("failed") + count("left")).toBe(perSecond * seconds);
    expect(count("answered")).toBeGreaterThan((perSecond * seconds) / 4);
    const status = async () => gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    await until(async () => (await status()).replicas.every(({ inFlight }) => inFlight === 0));
    expect((await status()).queued).toEqual({ small: 0, large: 0 });
    // All whose client stayed are on record, and none twice; who left may have done so before the gateway knew what was asked.
    const decisions = await gateway.decisions();
    const ids = new Set(decisions.map(({ id }) => id));
    expect(ids.size).toBe(decisions.length);
    expect(ids.size).toBeGreaterThanOrEqual(perSecond * seconds - count("left"));
    expect(new Set(decisions.map(({ planId }) => planId)).size).toBeGreaterThan(3);
  });
});
