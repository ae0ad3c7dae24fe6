import { expect, it } from "vitest";
import { startTestEngine, streamEvent } from "@/server/gateway/testing/testEngine";
import { oneModel, startTestGateway } from "@/server/gateway/testing/testGateway";
import { chooseMapping } from "./chooseMapping";
import { parsePromText } from "./promText";
import { type MetricReadings, readCanonicalMetrics } from "./readCanonicalMetrics";

it("reads from a gateway's own metrics every metric that its row names", async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 5 };
  const end = `data: ${JSON.stringify({ id: "1", choices: [], usage })}\n\ndata: [DONE]\n\n`;
  const engine = await startTestEngine((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(streamEvent({ content: "a" }));
    setTimeout(() => response.end(`${streamEvent({ content: "b" }, "stop")}${end}`), 10);
  });
  const gateway = await startTestGateway();
  await gateway.put(oneModel([engine.url]));
  const ask = () => gateway.chat({ model: "large", stream: true, stream_options: { include_usage: true } });
  for (let request = 0; request < 3; request += 1) await (await ask()).text();
  const metrics = parsePromText(await (await fetch(`${gateway.adminUrl}/metrics`)).text());
  expect(metrics.bad).toEqual([]);
  const mapping = chooseMapping(metrics, null);
  expect(mapping?.engine).toBe("weir-gateway");
  const readings: Partial<MetricReadings> = mapping === undefined ? {} : readCanonicalMetrics(metrics, mapping);
  expect(readings).toMatchObject({
    running: { value: 0 },
    promptTokens: { value: 21 },
    generationTokens: { value: 15 },
    answered: { value: 3 },
    kvUse: { state: "not-applicable" },
  });
  expect(Object.entries(readings).filter(([, { state }]) => state === "absent")).toEqual([]);
});
