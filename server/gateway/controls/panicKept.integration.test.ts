import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { startTestGateway, temporaryDirectory, testConfig } from "../testing/testGateway";
import { lift, panic, said, signed, statusOf, threeModels } from "../testing/testPanic";

it("is still in force after a restart, and is told by status and audit", async () => {
  const { middle, config } = await threeModels();
  const stateDirectory = await temporaryDirectory();
  const first = await startTestGateway({}, { stateDirectory });
  await first.put(config);
  await panic(first, { model: "middle", ...signed });
  await first.close();
  await writeFile(join(stateDirectory, "audit.jsonl"), '{"sequence":9,"half a li', { flag: "a" });
  const second = await startTestGateway({}, { stateDirectory });
  expect(await said(second.chat({}))).toEqual([200, "middle", "panic"]);
  expect(middle.asked).toHaveLength(1);
  expect((await statusOf(second)).controls.panic).toMatchObject({ model: "middle", ...signed });
  await lift(second);
  const page = gatewayAuditPageSchema.parse(await (await fetch(`${second.adminUrl}/audit?after=0`)).json());
  const told = page.lines.filter(({ action }) => action.startsWith("panic"));
  expect(told.map(({ action, by }) => [action, by])).toEqual([
    ["panic", "ada"],
    ["panic lifted", "ada"],
  ]);
  expect(told[0]?.detail).toBe("Every request for text goes to middle: node b1 burns");
  expect(page.lines.map(({ sequence }) => sequence)).toEqual(page.lines.map((_, index) => index + 1));
  expect([page.latest, (await statusOf(second)).lastAudit]).toEqual([page.lines.length, page.lines.length]);
});

it("is taken up again where another control beside it cannot be, and the file as it was is kept", async () => {
  const { config } = await threeModels();
  const stateDirectory = await temporaryDirectory();
  const first = await startTestGateway({}, { stateDirectory });
  await first.put(config);
  await panic(first, { model: "middle", ...signed });
  await first.close();
  const path = join(stateDirectory, "controls.json");
  const kept = JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), mirror: { share: 1, maxInFlight: 5000, ...signed } });
  await writeFile(path, kept);
  const second = await startTestGateway({}, { stateDirectory });
  expect(await said(second.chat({}))).toEqual([200, "middle", "panic"]);
  expect((await statusOf(second)).controls).toMatchObject({ panic: { model: "middle" }, mirror: null });
  const mirror = JSON.stringify({ share: 1, maxInFlight: 5, ...signed });
  expect(
    (await fetch(`${second.adminUrl}/mirror`, { method: "PUT", headers: { "content-type": "application/json" }, body: mirror })).status,
  ).toBe(200);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ panic: { model: "middle" }, mirror: { maxInFlight: 5 } });
  expect(await readFile(`${path}.unusable`, "utf8")).toBe(kept);
});

it("is in force even where it cannot be kept, and says that it could not", async () => {
  const { config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  await mkdir(join(gateway.stateDirectory, "controls.json.new"));
  const answer = await panic(gateway, { model: "middle", ...signed });
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining("EISDIR")]);
  expect(await said(gateway.chat({}))).toEqual([200, "middle", "panic"]);
  expect(await (await fetch(`${gateway.adminUrl}/panic`)).json()).toMatchObject({ model: "middle", ...signed });
});

it("moves to another model by a second call", async () => {
  const { config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  await panic(gateway, { model: "middle", ...signed });
  await panic(gateway, { model: "small", ...signed });
  expect(await said(gateway.chat({}))).toEqual([200, "small", "panic"]);
});

it("stays through another configuration, which must have engines of its model", async () => {
  const { small, middle, config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  await panic(gateway, { model: "middle", ...signed });
  const other = testConfig({ stages: [{ model: "small", urls: [small.url] }], planId: "plan-b" });
  await expect(gateway.put(other)).rejects.toThrow("409");
  await expect(gateway.put(other)).rejects.toThrow("Every request goes to middle until the panic is cleared");
  const replica = { id: "middle-9", model: "middle", url: middle.url, state: "active" as const, maxInFlight: 8 };
  await gateway.put({ ...other, replicas: [...other.replicas, replica] });
  expect(await said(gateway.chat({}))).toEqual([200, "middle", "panic"]);
  await lift(gateway);
  expect(await said(gateway.chat({}))).toEqual([200, "small", other.policyHash]);
});
