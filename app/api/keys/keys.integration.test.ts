import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { signedInHeaders } from "@/server/api/testing/signedInHeaders";
import { sayCompletion, startTestEngine } from "@/server/gateway/testing/testEngine";
import { oneModel, startTestGateway, temporaryDirectory } from "@/server/gateway/testing/testGateway";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime } from "@/server/runtime";
import { GET } from "./usage/route";

it("downloads the use of a gateway's keys as CSV, and refuses strangers and ranges that are none", async () => {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway();
  const key = { name: "=app", sha256: createHash("sha256").update("s").digest("hex"), labels: { team: 'the "web", too' } };
  const prices = { large: { usdPerMillionInputTokens: 1_000, usdPerMillionOutputTokens: 10_000 } };
  await gateway.put({ ...oneModel([engine.url]), settings: { keys: [key], prices } });
  for (let request = 0; request < 2; request += 1)
    expect((await gateway.chat({ model: "large" }, { headers: { authorization: "Bearer s" } })).status).toBe(200);
  const studio = createRuntime(
    studioSettings({
      WEIR_STATE_DIR: await temporaryDirectory(),
      WEIR_EMULATOR_URL: "http://127.0.0.1:9",
      WEIR_GATEWAY_ADMIN_URL: gateway.adminUrl,
    }),
  );
  onTestFinished(() => studio.close());
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: studio });
  const headers = signedInHeaders(studio);
  const today = new Date().toISOString().slice(0, 10);
  const get = (query: string, sender: Record<string, string> = headers) =>
    GET(new Request(`http://127.0.0.1:4600/api/keys/usage?${query}`, { headers: sender }));
  const range = `clusterId=embedded&from=${today}&to=${today}`;
  const answer = await get(range);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="key-usage-${today}-${today}.csv"`);
  expect((await answer.text()).split("\r\n")).toEqual([
    "day,key,team,project,model,requests,inputTokens,outputTokens,usd,unpriced",
    `"${today}","'=app","the ""web"", too","","large","2","14","6","0.074","0"`,
    "",
  ]);
  expect((await (await get("clusterId=embedded&from=2026-01-01&to=2026-01-02")).text()).split("\r\n")).toHaveLength(2);
  expect((await get(range, {})).status).toBe(401);
  const wrong = await get(`clusterId=embedded&from=monday&to=${today}`);
  expect([wrong.status, ((await wrong.json()) as { message: string }).message]).toEqual([400, expect.stringMatching(/^from: .+\.$/)]);
  expect((await get(`clusterId=embedded&from=${today}&to=2026-01-01`)).status).toBe(409);
  expect((await get(`clusterId=none&from=${today}&to=${today}`)).status).toBe(409);
});
