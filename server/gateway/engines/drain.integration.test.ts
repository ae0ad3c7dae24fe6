import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";

const tokens = 12;

/** Streams tokens, one every few milliseconds. */
function writeSlowly(response: ServerResponse): void {
  let written = 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(() => {
    written += 1;
    response.write(streamEvent({ content: `t${written} ` }));
    if (written < tokens) return;
    clearInterval(timer);
    response.end(`${streamEvent({}, "stop")}data: [DONE]\n\n`);
  }, 4);
  response.once("close", () => clearInterval(timer));
}

type Leaving = "cordoned" | "removed";

/** The configuration without its first engine. */
function leaving(config: GatewayConfig, how: Leaving): GatewayConfig {
  const [first, ...rest] = config.replicas;
  return { ...config, replicas: how === "removed" ? rest : [{ ...first!, state: "cordoned" }, ...rest] };
}

const inFlight = async ({ adminUrl }: TestGateway, id: string): Promise<number> => {
  const { replicas } = gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json());
  return replicas.find((replica) => replica.id === id)?.inFlight ?? 0;
};

describe("an engine that drains", () => {
  it.each<Leaving>(["cordoned", "removed"])(
    "gets no request once its being %s is acknowledged, under load, and ends its streams",
    async (how) => {
      const [draining, staying] = await Promise.all([0, 1].map(() => startTestEngine((_, response) => writeSlowly(response))));
      const gateway = await startTestGateway();
      const config = oneModel([draining!.url, staying!.url], 6);
      await gateway.put(config);
      let over = false;
      const texts: string[] = [];
      const loop = async (): Promise<void> => {
        while (!over) texts.push(await (await gateway.chat({ stream: true })).text());
      };
      const load = Promise.all(Array.from({ length: 24 }, loop));
      await until(() => texts.length > 30);
      expect(await inFlight(gateway, "large-0")).toBeGreaterThan(0);
      await gateway.put(leaving(config, how));
      const acknowledgedSeconds = performance.now() / 1000;
      const before = staying!.asked.length;
      await until(async () => (await inFlight(gateway, "large-0")) === 0);
      await until(() => staying!.asked.length > before + 30);
      over = true;
      await load;
      const whole = (text: string) => text.includes(`t${tokens} `) && text.endsWith("data: [DONE]\n\n");
      expect(texts.filter((text) => !whole(text))).toEqual([]);
      const stays = (await gateway.decisions()).flatMap(({ stages }) => stages);
      const drained = stays.filter(({ replica }) => replica === "large-0");
      expect(drained.length).toBe(draining!.asked.length);
      expect(Math.max(...drained.map(({ at }) => at!.dispatched))).toBeLessThan(acknowledgedSeconds);
      expect(stays.filter(({ at }) => at!.dispatched > acknowledgedSeconds).length).toBeGreaterThan(30);
    },
  );

  it("ends a stream that is too long for the deadline with an error that says so, and is idle then", async () => {
    const endless = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ content: "for ever" }));
    });
    const other = await startTestEngine((_, response) => writeSlowly(response));
    const gateway = await startTestGateway({ requestSeconds: 0.5 });
    const config = oneModel([endless.url, other.url]);
    await gateway.put(config);
    const stream = await gateway.chat({ stream: true });
    await gateway.put(leaving(config, "cordoned"));
    expect(await inFlight(gateway, "large-0")).toBe(1);
    const text = await stream.text();
    expect(text).toContain("for ever");
    expect(text).toMatch(/data: \{"error":\{"message":"The request took longer than the gateway allows\.[^\n]*"deadline"\}\}\n\n$/);
    await endless.asked[0]?.cutOff;
    expect(await inFlight(gateway, "large-0")).toBe(0);
    expect((await gateway.decisions()).at(-1)).toMatchObject({ status: 504, stages: [{ replica: "large-0", verdict: "failed" }] });
  });
});
