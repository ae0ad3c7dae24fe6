import { describe, expect, it } from "vitest";
import { heldEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, until } from "../testing/testGateway";

/** A gateway whose only engine answers one request at a time, shortest total job first, once it is opened. */
async function shortestTotalFirst() {
  const engine = await heldEngine();
  const gateway = await startTestGateway();
  const order = { kind: "stjf", agingThreshold: 100 } as const;
  const policy = { kind: "fixed", model: "large", order, place: { kind: "round-robin" } } as const;
  await gateway.put({ ...oneModel([engine.url], 1), ...hashed(policy) });
  const ask = (name: string, most: number, headers: Record<string, string> = {}) =>
    gateway.post("/v1/chat/completions", { model: "cascade/test", messages: [{ role: "user", content: name }], max_tokens: most }, headers);
  const queued = async () => ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: { large: number } }).queued.large;
  return { engine, ask, queued, decisions: gateway.decisions };
}

describe("what a request says of its program", () => {
  it.each(["x-session-id", "x-conversation-id", "x-claude-code-session-id", "X-Dynamo-Session-ID"])("is taken from %s", async (header) => {
    const { engine, ask, decisions } = await shortestTotalFirst();
    engine.open();
    await ask("one", 5, { [header]: "session-7" });
    await ask("another", 5);
    expect((await decisions()).map(({ program }) => program)).toEqual(["session-7", undefined]);
  });

  it("makes a short request of a long program wait behind a longer one of a short program", async () => {
    const { engine, ask, queued } = await shortestTotalFirst();
    const answers = [ask("first", 5)];
    await until(() => engine.asked.length === 1);
    answers.push(ask("step of a long program", 10, { "x-session-id": "a", "x-weir-program-tokens": "5000" }));
    answers.push(ask("last of a short program", 200, { "x-session-id": "b", "x-weir-program-tokens": "200" }));
    answers.push(ask("says nothing", 900));
    await until(async () => (await queued()) === 3);
    engine.open();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    const order = engine.asked.map(({ body }) => (body.messages as { content: string }[])[0]?.content);
    expect(order).toEqual(["first", "last of a short program", "says nothing", "step of a long program"]);
    expect(engine.asked.every(({ headers }) => !("x-weir-program-tokens" in headers))).toBe(true);
  });

  it.each(["0", "-5", "1.5", "many", "", "1e3", "12345678901", "5, 6"])("is refused in one sentence when it is %j", async (value) => {
    const { engine, ask } = await shortestTotalFirst();
    const answer = await ask("x", 5, { "x-weir-program-tokens": value });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error.code).toBe("invalid_header");
    expect(error.message).toBe(
      `The header x-weir-program-tokens says ${JSON.stringify(value)}, but it must be a positive number of tokens below 1e9.`,
    );
    expect(engine.asked).toHaveLength(0);
  });
});
