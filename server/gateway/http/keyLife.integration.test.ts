import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey, GatewayKeys } from "@/server/contracts/gateway/gatewayKeys";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway } from "../testing/testGateway";

const sha256 = (secret: string) => createHash("sha256").update(secret).digest("hex");
const key = (name: string, more: Partial<GatewayKey> = {}): GatewayKey => ({ name, sha256: sha256(name), ...more });
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const body = { model: "large", messages: [{ role: "user", content: "?" }] };
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function guarded(settings: GatewaySettings) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway();
  await gateway.put({ ...oneModel([engine.url]), settings });
  const read = async () => {
    const answer = await fetch(`${gateway.adminUrl}/keys`);
    return { etag: answer.headers.get("etag") ?? "", ...((await answer.json()) as GatewayKeys) };
  };
  const putKeys = (keys: readonly GatewayKey[], etag: string) =>
    fetch(`${gateway.adminUrl}/keys`, {
      method: "PUT",
      headers: { "if-match": etag, "content-type": "application/json" },
      body: JSON.stringify({ keys, by: "ada", reason: "a test" }),
    });
  const ask = (secret: string) => gateway.post("/v1/chat/completions", body, bearer(secret));
  return { ...gateway, engine, ask, read, putKeys };
}
const errorOf = async (answer: Response) => ((await answer.json()) as { error: { message: string; code: string } }).error;

describe("a key of the gateway", () => {
  it("is refused from its expiry on and once it is revoked, with a sentence that says which", async () => {
    const expired = key("old", { expiresAt: "2026-01-01T00:00:00.000Z" });
    const revoked = key("lost", { revokedAt: "2026-01-01T00:00:00.000Z" });
    const { ask, engine } = await guarded({ keys: [expired, revoked, key("new", { expiresAt: inAnHour() })] });
    expect((await ask("new")).status).toBe(200);
    for (const [secret, code, words] of [
      ["old", "expired_api_key", /expired/],
      ["lost", "revoked_api_key", /revoked/],
      ["other", "invalid_api_key", /needs one of its API keys/],
    ] as const) {
      const answer = await ask(secret);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const error = await errorOf(answer);
      expect(error.code).toBe(code);
      expect(error.message).toMatch(words);
    }
    expect(engine.asked).toHaveLength(1);
  });

  it("expires while the gateway runs, without another configuration", async () => {
    const { ask } = await guarded({ keys: [key("brief", { expiresAt: new Date(Date.now() + 1500).toISOString() })] });
    expect((await ask("brief")).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1600));
    expect((await ask("brief")).status).toBe(401);
  });

  it("keeps a gateway closed after the last one was revoked", async () => {
    const { ask, read, putKeys, dataUrl } = await guarded({ keys: [key("only")] });
    const { etag, keys } = await read();
    const [only] = (keys ?? []).map(({ lastUsedAt: _, ...rest }) => rest);
    expect((await putKeys([{ ...(only as GatewayKey), revokedAt: new Date().toISOString() }], etag)).status).toBe(200);
    expect((await ask("only")).status).toBe(401);
    expect((await fetch(`${dataUrl}/v1/models`)).status).toBe(401);
  });

  it("has the time of its last use at the admin port, and after a restart too", async () => {
    const { ask, read, close, stateDirectory } = await guarded({ keys: [key("used"), key("unused")] });
    const beforeMs = Date.now();
    await ask("used");
    const used = (await read()).keys?.map(({ name, lastUsedAt }) => [name, lastUsedAt]);
    expect(used).toEqual([
      ["used", expect.any(String)],
      ["unused", null],
    ]);
    expect(Date.parse(String(used?.[0]?.[1]))).toBeGreaterThanOrEqual(beforeMs);
    await close();
    const again = await startTestGateway({}, { stateDirectory });
    const { keys } = (await (await fetch(`${again.adminUrl}/keys`)).json()) as GatewayKeys;
    expect(keys?.map(({ name, lastUsedAt }) => [name, lastUsedAt])).toEqual(used);
    expect(await readFile(join(stateDirectory, "key-uses.json"), "utf8")).not.toContain('"used"');
  });
});

describe("PUT /keys", () => {
  it("changes the keys of the configuration that was read and nothing else, and is noted without hashes", async () => {
    const { adminUrl, read, putKeys, ask } = await guarded({ recordedPromptCharacters: 10 });
    const before = await read();
    expect(before.keys).toBeNull();
    const made = await putKeys([key("first", { expiresAt: inAnHour() })], before.etag);
    expect(made.status).toBe(200);
    expect((await putKeys([key("second")], before.etag)).status).toBe(412);
    const unmatched = JSON.stringify({ keys: [key("a")], by: "x", reason: "" });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${adminUrl}/keys`, { method: "PUT", headers, body: unmatched })).status).toBe(428);
    expect((await ask("first")).status).toBe(200);
    expect((await ask("second")).status).toBe(401);
    const config = (await (await fetch(`${adminUrl}/config`)).json()) as { planId: string; settings: GatewaySettings };
    expect(config).toMatchObject({ planId: "plan-a", settings: { recordedPromptCharacters: 10, keys: [{ name: "first" }] } });
    const audit = (await (await fetch(`${adminUrl}/audit`)).json()) as { lines: { by: string; action: string; detail: string }[] };
    const line = audit.lines.at(-1);
    expect(line).toMatchObject({ by: "ada", action: "keys changed", detail: "API keys added: first: a test" });
  });

  it("refuses keys that a configuration may not have", async () => {
    const { read, putKeys } = await guarded({ keys: [key("a")] });
    const { etag } = await read();
    expect((await errorOf(await putKeys([key("b"), { ...key("b"), sha256: sha256("c") }], etag))).message).toMatch(
      /Two API keys are called b/,
    );
    expect((await putKeys([], etag)).status).toBe(400);
    expect((await putKeys([{ ...key("b"), expiresAt: "tomorrow" }], etag)).status).toBe(400);
  });
});
