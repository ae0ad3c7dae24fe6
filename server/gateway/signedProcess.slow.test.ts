import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { hashOf, partsOf, signatureHeader } from "@/server/contracts/gateway/signedOrder";
import { orderSigner, studioKey } from "@/server/lib/studioKey";
import { workerFile } from "@/server/threads/workerFile";
import { sayCompletion, startTestEngine } from "./testing/testEngine";
import { oneModel, temporaryDirectory } from "./testing/testGateway";
import { startGatewayProcess } from "./testing/testProcesses";

const authorization = "Bearer secret";

it("does not start without being told whose orders it follows", async () => {
  const { WEIR_STUDIO_PUBLIC_KEY: _, ...environment } = process.env;
  const places = {
    WEIR_ADMIN_TOKEN: "secret",
    WEIR_STATE_DIR: await temporaryDirectory(),
    WEIR_GATEWAY_PORT: "0",
    WEIR_GATEWAY_ADMIN_PORT: "0",
  };
  const child = spawn(process.execPath, [workerFile("gateway")], {
    env: { ...environment, ...places },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, "close");
  expect(code).toBe(1);
  expect(said).toMatch(/WEIR_STUDIO_PUBLIC_KEY is not set: .*\.\n$/);
});

it("follows the studio of its key file and no holder of the token alone, serves on when killed, and panics without the studio", async () => {
  const [folder, stateDirectory] = [await temporaryDirectory(), await temporaryDirectory()];
  const sign = orderSigner(studioKey(folder));
  const stranger = orderSigner(studioKey(await temporaryDirectory()));
  const told = { WEIR_STUDIO_PUBLIC_KEY: `${folder}/studio-key.pub`, WEIR_CLUSTER_ID: "ours" };
  let gateway = await startGatewayProcess(stateDirectory, told);
  const engine = await startTestEngine((_, response) => sayCompletion(response, "four"));
  const config = gatewayConfigSchema.parse(oneModel([engine.url]));

  const ask = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${gateway.adminUrl}${path}`, {
      method,
      headers: { authorization, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const put = async (planned: GatewayConfig, signer: typeof sign | null): Promise<string> => {
    const body = { ...planned, by: "ann", reason: "" };
    const text = signer?.({ clusterId: "ours", order: "PUT /config", body, parts: partsOf(planned) });
    const match = { "if-match": (await ask("GET", "/config")).headers.get("etag") ?? "" };
    const answer = await ask("PUT", "/config", body, { ...match, ...(text === undefined ? {} : { [signatureHeader]: text }) });
    return answer.ok ? "in force" : ((await answer.json()) as { error: { message: string } }).error.message;
  };
  expect(await put(config, null)).toMatch(/^This order is not signed by the studio: /);
  expect(await put(config, stranger)).toMatch(/^This order is not signed by the studio of this gateway: another studio signed it/);
  expect(await put(config, sign)).toBe("in force");

  await gateway.kill();
  gateway = await startGatewayProcess(stateDirectory, told);
  expect(hashOf(gatewayConfigSchema.parse(await (await ask("GET", "/config")).json()))).toBe(hashOf(config));
  const panic = { model: "large", by: "eve", reason: "outage" };
  expect((await ask("PUT", "/panic", panic)).status).toBe(200);
  expect((await ask("DELETE", "/panic", { by: "eve", reason: "over" })).status).toBe(200);
  const { lines } = (await (await ask("GET", "/audit")).json()) as { lines: { action: string }[] };
  expect(lines.map(({ action }) => action).slice(-2)).toEqual(["panic", "panic lifted"]);
});
