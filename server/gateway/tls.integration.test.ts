import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { condition, needs, program, skipWithout } from "@/scripts/needs.mjs";
import { testCertificates } from "@/server/contracts/testing/testCertificates";
import { dataServer } from "./http/dataServer";
import { defaultLimits } from "./http/limits";
import { sayCompletion, startTestEngine } from "./testing/testEngine";
import { oneModel, startTestGateway } from "./testing/testGateway";

const certificates = testCertificates();
describe("a gateway with a certificate", needs(program("openssl")), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-gateway-tls-"));
  const files = { certFile: join(folder, "c.pem"), keyFile: join(folder, "k.pem") };
  writeFileSync(files.certFile, certificates?.good.cert ?? "");
  writeFileSync(files.keyFile, certificates?.good.key ?? "", { mode: 0o600 });
  afterAll(() => rmSync(folder, { recursive: true }));

  const overTls = (url: string, body?: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { method: body === undefined ? "GET" : "POST", headers: { "content-type": "application/json" } };
      const trusting = { ca: certificates?.ca, checkServerIdentity: () => undefined, agent: false as const };
      const sent = request(url, { ...options, ...trusting }, (response) => resolve(response.resume().statusCode));
      sent.once("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });

  it("serves both ports over TLS, and in plain text to programs of this machine", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "hello"));
    const gateway = await startTestGateway({}, { tls: files });
    const [dataUrl, adminUrl] = [gateway.dataUrl, gateway.adminUrl].map((url) => url.replace("https", "http"));
    const put = await fetch(`${adminUrl}/config`, {
      method: "PUT",
      headers: { "content-type": "application/json", "if-match": (await fetch(`${adminUrl}/config`)).headers.get("etag") ?? "" },
      body: JSON.stringify(oneModel([engine.url])),
    });
    expect(put.status).toBe(200);
    const chat = { model: "cascade/test", messages: [{ role: "user", content: "What is 2 + 2?" }] };
    expect(await overTls(`${gateway.adminUrl}/health`)).toBe(200);
    expect(await overTls(`${gateway.dataUrl}/v1/chat/completions`, chat)).toBe(200);
    const plain = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(chat) };
    expect((await fetch(`${dataUrl}/v1/chat/completions`, plain)).status).toBe(200);
    expect(engine.asked).toHaveLength(2);
  });

  it("refuses what other machines send in plain text", async (context) => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const address = own.find(({ internal, family }) => !internal && family === "IPv4")?.address;
    skipWithout(context, condition("an address besides loopback", address !== undefined));
    const server = dataServer({
      limits: defaultLimits,
      tls: { files, onProblem: () => undefined },
      onRequest: (_, response) => response.end("answer"),
      onUnreadable: () => undefined,
    });
    await new Promise<void>((listening) => server.listen(0, address, listening));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://${address}:${port}/v1/models`);
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([403, "tls_required"]);
    expect(await overTls(`https://${address}:${port}/v1/models`)).toBe(200);
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
});
