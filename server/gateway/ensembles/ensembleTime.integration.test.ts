import { describe, expect, it } from "vitest";
import { type Answer, streamEvent } from "../testing/testEngine";
import { ask, contentOf, ensembleOf, held, says, served, serving, told } from "../testing/testEnsembles";

/** Starts to write, and never ends. */
const begun: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(streamEvent({ role: "assistant", content: "Well" }));
};

/** A request's time in these tests: in half of it experts that answer at once have answered, however busy the machine. */
const requestSeconds = 2;

describe("the time of a request of an ensemble", () => {
  it("is half the aggregator's, whatever the deadline: what experts said by then is not lost", async () => {
    const slow = held("A");
    const { gateway, engines } = await serving({ c: slow.answer, sum: says("D") }, { deadlineSeconds: 600 }, { requestSeconds });
    const answer = await ask(gateway);
    expect(told(answer)).toEqual({ outcome: "aggregated", votes: "2:0", confidence: 0.6667, model: "sum" });
    await engines.c.asked[0]?.cutOff;
    const { atDeadline, experts, decidesAfterSeconds, ensemble } = await served(gateway);
    expect([atDeadline, experts[2]?.late, experts[2]?.notNeeded]).toEqual([1, 1, 0]);
    expect([decidesAfterSeconds, ensemble.deadlineSeconds]).toEqual([requestSeconds / 2, 600]);
  });

  it("leaves a deadline alone that ends before, in engine seconds", async () => {
    const { gateway, config } = await serving({}, { deadlineSeconds: 60 });
    expect((await served(gateway)).decidesAfterSeconds).toBe(60);
    const long = { ...config, settings: { ensembles: [ensembleOf({ deadlineSeconds: 80_000 })] } };
    await gateway.put(long);
    expect((await served(gateway)).decidesAfterSeconds).toBe(300);
    await gateway.put({ ...long, timeScale: 20 });
    expect((await served(gateway)).decidesAfterSeconds).toBe(6000);
  });

  it("ends an aggregator that has written nothing, and the answer that leads is given, whole, streamed, or behind comments", async () => {
    const slow = held("D");
    const one = await serving({ c: says("B"), sum: slow.answer }, {}, { requestSeconds });
    const beating = await serving({ c: says("B"), sum: slow.answer }, {}, { requestSeconds, heartbeatSeconds: 0.1 });
    const [whole, streamed, commented] = await Promise.all([
      ask(one.gateway),
      ask(one.gateway, { stream: true }),
      ask(beating.gateway, { stream: true }),
    ]);
    const outcome = { outcome: "aggregator-failed", votes: "2:1", model: "a" };
    expect([whole, streamed].map((answer) => [answer.status, told(answer)])).toMatchObject([
      [200, outcome],
      [200, outcome],
    ]);
    expect(await contentOf(whole)).toContain("Answer: A");
    const text = await commented.text();
    expect(text).toContain(": x-weir-ensemble-outcome aggregator-failed\n");
    for (const stream of [await streamed.text(), text]) expect(stream).toMatch(/Answer: A.*data: \[DONE\]\n\n$/s);
    await Promise.all([...one.engines.sum.asked, ...beating.engines.sum.asked].map(({ cutOff }) => cutOff));
    expect((await served(one.gateway)).outcomes).toMatchObject({ "aggregator-failed": 2, failed: 0 });
  });

  it("breaks a stream off with an error that the aggregator has begun to write", async () => {
    const { gateway, engines } = await serving({ c: says("B"), sum: begun }, {}, { requestSeconds });
    const answer = await ask(gateway, { stream: true });
    expect(told(answer)).toMatchObject({ outcome: "aggregated", model: "sum" });
    const events = (await answer.text()).trim().split("\n\n");
    const [first, last] = events.map((event) => JSON.parse(event.slice("data: ".length)));
    expect([events.length, first.choices[0].delta.content]).toEqual([2, "Well"]);
    expect(last.error).toMatchObject({
      type: "timeout_error",
      code: "deadline",
      message: expect.stringContaining("sum did not finish its answer"),
    });
    await engines.sum.asked[0]?.cutOff;
    expect((await served(gateway)).outcomes).toMatchObject({ failed: 1, aggregated: 0 });
  });

  it.each([false, true])("ends with 504 and what each model did where nobody answered (streamed: %s)", async (stream) => {
    const slow = held("A");
    const { answer: hangs } = slow;
    const { gateway, engines } = await serving({ a: hangs, b: hangs, c: hangs, sum: hangs }, {}, { requestSeconds: 0.4 });
    const answer = await ask(gateway, { stream });
    expect([answer.status, answer.headers.get("x-weir-ensemble-outcome")]).toEqual([504, "failed"]);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error).toMatchObject({ type: "timeout_error", code: "deadline" });
    for (const model of ["a did", "b did", "c did", "aggregator sum: "]) expect(error.message).toContain(model);
    await Promise.all([engines.a.asked[0]?.cutOff, engines.sum.asked[0]?.cutOff]);
    expect((await served(gateway)).outcomes.failed).toBe(1);
  });
});
