import { describe, expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";

const secret = "the quarterly figures of a company that must not be written anywhere ".repeat(20);

/** Two engines of a model, which answer prompts that say "wait" once `opened` resolves. */
async function engines(opened: Promise<void> = Promise.resolve()) {
  return Promise.all(
    [0, 1].map(() =>
      startTestEngine(async ({ body }, response) => {
        if (JSON.stringify(body).includes("wait")) await opened;
        const usage = { prompt_tokens: 400, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 320 } };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }], usage }));
      }),
    ),
  );
}

const configOf = (place: PolicyDocument["place"], urls: readonly string[]): GatewayConfig => ({
  ...testConfig({ stages: [{ model: "large", urls: [...urls] }], maxInFlight: 8 }),
  ...hashed({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place }),
});

const chat = (content: string) => ({ model: "cascade/test", messages: [{ role: "user", content }] });

describe("placing by prefix in the gateway", () => {
  it("sends prompts with a beginning in common to one engine, keeps no text of them, and counts what engines found", async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const both = await engines(opened);
    const gateway = await startTestGateway();
    await gateway.put(
      configOf(
        { kind: "prefix" },
        both.map(({ url }) => url),
      ),
    );
    const ask = async (content: string) => (await gateway.post("/v1/chat/completions", chat(content), {})).text();
    const held = ask("wait");
    await until(() => both[0]?.asked.length === 1);
    await ask(`${secret}one`);
    open();
    await held;
    // Both engines are idle now: by least load the first would get these.
    for (const more of ["two", "three"]) await ask(secret + more);
    expect(both.map(({ asked }) => asked.length)).toEqual([1, 3]);
    const decisions = (await gateway.decisions()).filter(({ promptBlocks }) => promptBlocks !== "");
    expect(decisions).toHaveLength(3);
    const [first, second] = decisions.map(({ promptBlocks = "" }) => Buffer.from(promptBlocks, "base64"));
    expect(first?.length).toBe(4 * Math.floor(("user: ".length + secret.length) / 256));
    expect(second).toEqual(first);
    expect(JSON.stringify(decisions)).not.toContain("quarterly");
    expect(decisions[0]?.stages[0]?.cachedTokens).toBe(320);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_cached_tokens_total{model="large"} 1280');
  });

  it("makes no hashes for other places", async () => {
    const both = await engines();
    const gateway = await startTestGateway();
    await gateway.put(
      configOf(
        { kind: "least-load" },
        both.map(({ url }) => url),
      ),
    );
    await (await gateway.post("/v1/chat/completions", chat(secret), {})).text();
    expect((await gateway.decisions())[0]).not.toHaveProperty("promptBlocks");
  });
});
