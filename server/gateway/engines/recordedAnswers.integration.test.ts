import { describe, expect, it } from "vitest";
import { bodyOf, type RecordedExchange, recordedVllm } from "@/server/engines/testing/recordedEngine";
import { startReplay } from "@/server/engines/testing/replayServer";
import { oneModel, startTestGateway } from "../testing/testGateway";

const recorded = recordedVllm();

const isStream = ({ response }: RecordedExchange): boolean =>
  response.status === 200 && !response.cut && (response.headers["content-type"] ?? "").startsWith("text/event-stream");

/** The endpoints that the gateway relays. */
const relayed = recorded.exchanges.filter(
  ({ request }) => request.method === "POST" && ["/v1/chat/completions", "/v1/completions"].includes(request.path),
);

/** The recorded body for a model of the gateway; its text if it is no JSON object. */
function bodyFor({ request }: RecordedExchange, model: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(request.body ?? "");
    return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body, model } : null;
  } catch {
    return null;
  }
}

async function serving() {
  const engine = await startReplay(recorded);
  const gateway = await startTestGateway();
  await gateway.put(oneModel([engine.url]));
  return { engine, gateway };
}

describe("a gateway in front of a real vLLM", () => {
  it("relays every recorded stream byte by byte: text, log probabilities, tool calls, usage", async () => {
    const { engine, gateway } = await serving();
    const streams = relayed.filter(isStream);
    expect(streams.length).toBeGreaterThan(10);
    for (const exchange of streams) {
      engine.answerWith(exchange.name);
      const answer = await gateway.post(exchange.request.path, bodyFor(exchange, "large"));
      expect(answer.status, exchange.name).toBe(200);
      expect(await answer.text(), exchange.name).toBe(bodyOf(exchange));
    }
  });

  it("gives every recorded whole answer with the engine's fields, and counts its tokens", async () => {
    const { engine, gateway } = await serving();
    const answers = relayed.filter((exchange) => exchange.response.status === 200 && !exchange.response.cut && !isStream(exchange));
    for (const exchange of answers) {
      engine.answerWith(exchange.name);
      const answer = await gateway.post(exchange.request.path, bodyFor(exchange, "large"));
      expect(answer.status, exchange.name).toBe(200);
      const { model: _, ...said } = (await answer.json()) as Record<string, unknown>;
      const { model: __, ...real } = JSON.parse(bodyOf(exchange)) as Record<string, unknown>;
      expect(said, exchange.name).toEqual(real);
    }
  });

  it("passes an engine's refusal on with its status and its reason, and does not try again", async () => {
    const { engine, gateway } = await serving();
    const refusals = relayed.filter(({ response }) => response.status === 400);
    expect(refusals.length).toBeGreaterThan(10);
    let passed = 0;
    for (const exchange of refusals) {
      const body = bodyFor(exchange, "large");
      if (body === null) continue;
      engine.answerWith(exchange.name);
      const before = engine.asked.length;
      const answer = await gateway.post(exchange.request.path, body);
      const text = await answer.text();
      expect(answer.status, `${exchange.name}: ${text}`).toBe(400);
      // The gateway itself refuses what no engine takes; everything else is the engine's to say.
      if (engine.asked.length === before) continue;
      passed += 1;
      expect(engine.asked.length, exchange.name).toBe(before + 1);
      const { error } = JSON.parse(bodyOf(exchange)) as { error: { message: string } };
      expect((JSON.parse(text) as { error: { message: string } }).error.message, exchange.name).toContain(error.message.slice(0, 60));
    }
    expect(passed).toBeGreaterThan(5);
  });

  it("ends a stream that the engine breaks off with an error event", async () => {
    const { engine, gateway } = await serving();
    engine.answerWith("chat stream that the client leaves");
    const answer = await gateway.chat({ model: "large", stream: true });
    expect(await answer.text()).toContain("the stream ended without [DONE]");
  });
});
