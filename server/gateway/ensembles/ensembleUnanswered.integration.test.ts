import { describe, expect, it } from "vitest";
import type { Answer } from "../testing/testEngine";
import { ask, fails, held, says, served, serving, told } from "../testing/testEnsembles";

const refuses =
  (status: number, error: object, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ error }));

const tooLong = refuses(400, { message: "This model has a context of 2048 tokens.", type: "invalid", code: "context_length_exceeded" });
const busy = refuses(429, { message: "Too many requests.", code: "busy" }, { "retry-after": "7" });

const everywhere = (answer: Answer) => ({ a: answer, b: answer, c: answer, sum: answer });

describe("a request that no model answers", () => {
  it.each([false, true])(
    "is refused as they refuse it, where all refuse it alike, and is no failure of the ensemble's (streamed: %s)",
    async (stream) => {
      const { gateway } = await serving(everywhere(tooLong));
      const answer = await ask(gateway, { stream });
      expect([answer.status, answer.headers.get("x-weir-ensemble-outcome")]).toEqual([400, null]);
      const { error } = (await answer.json()) as { error: object };
      expect(error).toEqual({
        ...{
          message: "This model has a context of 2048 tokens.",
          type: "invalid_request_error",
          param: null,
          code: "context_length_exceeded",
        },
      });
      const { requests, belowQuorum, experts } = await served(gateway);
      expect([requests, belowQuorum, experts[0]?.failed]).toEqual([0, 0, 0]);
      const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      expect(metrics).not.toContain("weir_gateway_ensemble_requests_total{");
      expect(metrics).toMatch(/ensemble\/trio.*400|400.*ensemble\/trio/);
    },
  );

  it("is one to come again with where all have too much to do, and is counted, as an ensemble that is overloaded is asked all the same", async () => {
    const { gateway } = await serving(everywhere(busy));
    const answer = await ask(gateway);
    expect([answer.status, (await answer.json()) as object]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(told(answer).outcome).toBe("failed");
    const { requests, outcomes, latest } = await served(gateway);
    expect([requests, outcomes.failed, latest.map(({ outcome }) => outcome)]).toEqual([1, 1, ["failed"]]);
  });

  it("is still the aggregator's, whose context may be longer, where all experts refuse it", async () => {
    const { gateway } = await serving({ ...everywhere(tooLong), sum: says("D") });
    expect(told(await ask(gateway))).toMatchObject({ outcome: "aggregated", votes: "0", model: "sum" });
  });

  it.each([
    ["refuse it otherwise", { ...everywhere(tooLong), b: refuses(422, { message: "No." }) }],
    ["fail", { ...everywhere(tooLong), sum: fails }],
    ["are served by nobody's leave", everywhere(refuses(404, { message: "No such model." }))],
  ])("is a failure of the ensemble's where some %s", async (_, answers) => {
    const { gateway } = await serving(answers);
    const answer = await ask(gateway);
    expect([answer.status, (await answer.json()) as object]).toMatchObject([502, { error: { code: "ensemble_failed" } }]);
    expect((await served(gateway)).outcomes.failed).toBe(1);
  });

  it("is a failure where experts answer and no vote can be read, and the aggregator refuses it", async () => {
    const { gateway } = await serving({ ...everywhere(tooLong), a: says("nothing") });
    expect((await ask(gateway)).status).toBe(502);
  });
});

describe("experts that were not waited for", () => {
  it("are not late: they were not needed, and no vote that is tied has led", async () => {
    const slow = held("B");
    const { gateway } = await serving({ c: slow.answer }, { tau: 2 / 3 });
    expect(told(await ask(gateway))).toMatchObject({ outcome: "skipped", votes: "2:0" });
    const { experts, latest, votes } = await served(gateway);
    expect(experts[2]).toMatchObject({ asked: 1, late: 0, notNeeded: 1 });
    expect(latest[0]?.experts[2]?.state).toBe("not-needed");
    expect(votes).toEqual({ "2:0": { requests: 1, skipped: 1, withQuorum: 1, early: 1 } });
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_ensemble_experts_total{ensemble="trio",model="c",state="not-needed"} 1');
  });
});

describe("votes with the majority", () => {
  it("are counted where one answer leads by weight, not where the first of several as good stands for them", async () => {
    const split = await serving({ b: says("B"), c: says("C") });
    await (await ask(split.gateway)).text();
    expect((await served(split.gateway)).experts.map(({ inMajority }) => inMajority)).toEqual([0, 0, 0]);
    const two = await serving({ a: says("B") });
    await (await ask(two.gateway)).text();
    expect((await served(two.gateway)).experts.map(({ inMajority }) => inMajority)).toEqual([0, 1, 1]);
  });
});
