import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "@/server/gateway/testing/testEngine";
import { oneModel, startTestGateway, temporaryDirectory } from "@/server/gateway/testing/testGateway";
import { weirIn } from "../testing/testWeir";

it("prints the use of keys as a table, CSV and JSON without a studio, and says why it cannot", async () => {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway();
  const key = { name: "app\u001b", sha256: createHash("sha256").update("s").digest("hex") };
  await gateway.put({ ...oneModel([engine.url]), settings: { keys: [key] } });
  const weir = weirIn(await temporaryDirectory(), { WEIR_GATEWAY_ADMIN_URL: gateway.adminUrl });
  expect(await weir("keys", "usage")).toEqual({ code: 0, stdout: "No request with a key was answered in that time.\n", stderr: "" });
  expect((await gateway.chat({ model: "large" }, { headers: { authorization: "Bearer s" } })).status).toBe(200);
  const today = new Date().toISOString().slice(0, 10);
  const table = await weir("keys", "usage", "--from", today);
  expect(table.stdout).toMatch(new RegExp(`${today} +app +large +1 +7 +3 +0\\.0000 \\+ 1 without a price`));
  expect(table.stdout).toContain("In all 0.00 USD.");
  expect(table.stdout).not.toContain("\u001b");
  const csv = await weir("keys", "usage", "--csv");
  expect(csv.stdout.split("\r\n")[0]).toBe("day,key,team,project,model,requests,inputTokens,outputTokens,usd,unpriced");
  expect(csv.stdout.split("\r\n")).toHaveLength(3);
  const [row] = JSON.parse((await weir("keys", "usage", "--json")).stdout) as unknown[];
  expect(row).toMatchObject({ day: today, key: key.name, model: "large", requests: 1, inputTokens: 7, outputTokens: 3, unpriced: 1 });
  const wrong = await weir("keys", "usage", "--from", "monday");
  expect([wrong.code === 0, wrong.stdout, wrong.stderr]).toEqual([false, "", expect.stringContaining("`from` is wrong")]);
  const both = await weir("keys", "usage", "--csv", "--json");
  expect([both.code === 0, both.stderr]).toEqual([false, expect.stringContaining("Give --csv or --json, not both.")]);
});
