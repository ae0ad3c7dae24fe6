import { describe, expect, it } from "vitest";
import { heldEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, until } from "../testing/testGateway";

/** A gateway whose only engine answers one request at a time, earliest deadline first, once it is opened. */
async function earliestDeadlineFirst({ timeScale = 1 } = {}) {
  const engine = await heldEngine();
  const gateway = await startTestGateway();
  const order = { kind: "deadline", impliedSeconds: 30, agingThreshold: 100 } as const;
  const policy = { kind: "fixed", model: "large", order, place: { kind: "round-robin" } } as const;
  const put = (impliedSeconds: number) => {
    const own = { ...policy, order: { ...order, impliedSeconds } };
    return gateway.put({ ...oneModel([engine.url], 1), ...hashed(own), timeScale });
  };
  await put(order.impliedSeconds);
  const ask = (name: string, deadline?: string) =>
    gateway.post(
      "/v1/chat/completions",
      { model: "cascade/test", messages: [{ role: "user", content: name }] },
      deadline === undefined ? {} : { "x-weir-deadline-seconds": deadline },
    );
  const queued = async () => ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: { large: number } }).queued.large;
  return { engine, ask, put, queued, decisions: gateway.decisions };
}

describe("a deadline that a client states", () => {
  it("decides which request goes first, stays in the record, and is not passed on", async () => {
    const { engine, ask, queued, decisions } = await earliestDeadlineFirst();
    const answers = [ask("first")];
    await until(() => engine.asked.length === 1);
    answers.push(ask("can wait", "3600"), ask("implied"), ask("urgent", "2.5"));
    await until(async () => (await queued()) === 3);
    engine.open();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    const order = engine.asked.map(({ body }) => (body.messages as { content: string }[])[0]?.content);
    expect(order).toEqual(["first", "urgent", "implied", "can wait"]);
    expect(engine.asked.every(({ headers }) => !("x-weir-deadline-seconds" in headers))).toBe(true);
    const due = (await decisions()).map(({ due, stages: [first] }) => due && due - (first?.at?.queued ?? 0));
    // First, urgent, implied, can wait; a request joins its queue a moment after it arrived.
    expect(due).toEqual([undefined, expect.closeTo(2.5, 0), undefined, expect.closeTo(3600, 0)]);
  });

  it("is in seconds of the wall, also where engines run on a faster clock", async () => {
    const { engine, ask, decisions } = await earliestDeadlineFirst({ timeScale: 100 });
    engine.open();
    await ask("one", "20");
    const [one] = await decisions();
    expect((one?.due ?? 0) - (one?.stages[0]?.at?.queued ?? 0)).toBeCloseTo(2000, -2);
  });

  it("counts from the request's arrival, also when another policy takes it over", async () => {
    const { engine, ask, put, queued, decisions } = await earliestDeadlineFirst();
    const answers = [ask("first")];
    await until(() => engine.asked.length === 1);
    answers.push(ask("waits", "500"));
    await until(async () => (await queued()) === 1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await put(31);
    answers.push(ask("newer", "500"));
    await until(async () => (await queued()) === 2);
    engine.open();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    const [waits = 0, newer = 0] = (await decisions()).flatMap(({ due }) => due ?? []);
    expect(newer - waits).toBeGreaterThan(0.45);
  });

  it.each(["0", "-5", "soon", "", "1e3", "86401", "5, 6"])("is refused in one sentence when it is %j", async (value) => {
    const { engine, ask } = await earliestDeadlineFirst();
    const answer = await ask("x", value);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error).toMatchObject({
      code: "invalid_header",
      message: `The header x-weir-deadline-seconds says ${JSON.stringify(value)}, but it must be seconds above 0, at most 86400.`,
    });
    expect(engine.asked).toHaveLength(0);
  });
});
