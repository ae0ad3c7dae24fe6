import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayLimits } from "../http/limits";
import { type Answer, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, until } from "../testing/testGateway";

const question = { model: "large", messages: [{ role: "user", content: "q" }] };
const path = "/v1/messages/count_tokens";
type Keys = NonNullable<GatewaySettings["keys"]>;
type Terms = Omit<Keys[number], "name" | "sha256">;

/** Answers as vLLM's `/tokenize` does. */
const counts =
  (more: object = {}): Answer =>
  (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ count: 5, tokens: [1, 2, 3, 4, 5], ...more }));

/** A gateway before such an engine, with one API key of these terms. */
async function counting(answer: Answer, { terms, limits }: { terms?: Terms; limits?: Partial<GatewayLimits> } = {}) {
  const engine = await startTestEngine(answer);
  const gateway = await startTestGateway(limits);
  const sha256 = createHash("sha256").update("secret").digest("hex");
  const settings = terms === undefined ? {} : { settings: { keys: [{ name: "one", sha256, ...terms }] } };
  await gateway.put({ ...oneModel([engine.url]), ...settings });
  return { ...gateway, engine, count: (body: object = question) => gateway.post(path, body, { "x-api-key": "secret" }) };
}

it("counts against the requests a minute of its key", async () => {
  const { count } = await counting(counts(), { terms: { requestsPerMinute: 1 } });
  const first = await count();
  expect([first.status, await first.json()]).toEqual([200, { input_tokens: 5 }]);
  const second = await count();
  expect([second.status, await second.json()]).toMatchObject([429, { error: { details: { error_code: "rate_limit_exceeded" } } }]);
});

it("counts for no model that its key may not ask for", async () => {
  const { count, engine } = await counting(counts(), { terms: { models: ["other"] } });
  const answer = await count();
  expect([answer.status, await answer.json()]).toMatchObject([403, { error: { details: { error_code: "model_not_allowed" } } }]);
  expect(engine.asked).toEqual([]);
});

it("holds its answer to hostile bodies back as other endpoints do", async () => {
  const { count } = await counting(counts(), { limits: { heldAnswerSeconds: 600, bodyJson: { depth: 8, nodes: 20, commas: 100 } } });
  const hostile = { ...question, system: Array.from({ length: 30 }, () => "x") };
  for (let sent = 0; sent < 20; sent += 1) expect((await count(hostile)).status).toBe(413);
  const held = count(hostile).then(
    () => "answered",
    () => "ended",
  );
  expect([(await count()).status, (await count()).status]).toEqual([200, 200]);
  expect(await Promise.race([held, Promise.resolve("held")])).toBe("held");
});

it("is ended when the gateway shuts down, and says so", async () => {
  const { count, engine, close } = await counting(() => undefined, { limits: { drainSeconds: 0.05 } });
  const answer = count();
  await until(() => engine.asked.length > 0);
  expect(await close()).toBe(1);
  expect([(await answer).status, await (await answer).json()]).toMatchObject([
    503,
    { error: { details: { error_code: "shutting_down" } } },
  ]);
});

it("reads no answer of an engine that is far longer than the prompt", async () => {
  const { count } = await counting(counts({ token_strs: "x".repeat(2 * 1024 * 1024) }));
  expect((await count()).status).toBe(501);
  const long = await count({ ...question, messages: [{ role: "user", content: "q".repeat(512 * 1024) }] });
  expect(await long.json()).toEqual({ input_tokens: 5 });
});
