import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConfigRequest, type GatewayConfig, withKeys } from "@/server/contracts/gateway/gatewayAdmin";
import { revisedPolicy } from "@/server/contracts/gateway/policyHash";
import {
  hashOf,
  partsOf,
  policyPart,
  publicKeyText,
  type Statement,
  signatureHeader,
  signStatement,
} from "@/server/contracts/gateway/signedOrder";
import type { GatewayLimits } from "../http/limits";
import { trustedStudio } from "../serving/studioOrders";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig } from "../testing/testGateway";

const studio = generateKeyPairSync("ed25519");
const another = generateKeyPairSync("ed25519");
const clusterId = "ours";
const token = "admin";
const signature = { by: "ann", reason: "" };

interface Order {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The revision of the next order, unless a test names one. */
let revision = 1000;

function signed(order: Order, parts: Statement["parts"], other: Partial<Statement> = {}, key: KeyObject = studio.privateKey): string {
  revision += 1;
  const { method, path, body } = order;
  return signStatement({ clusterId, revision, order: `${method} ${path}`, body: hashOf(body), parts, ...other }, key);
}

async function send({ adminUrl }: Pick<TestGateway, "adminUrl">, { method, path, body }: Order, signedText?: string) {
  const etag = (await fetch(`${adminUrl}/config`, { headers: { authorization: `Bearer ${token}` } })).headers.get("etag") ?? "";
  const answer = await fetch(`${adminUrl}${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json", "if-match": etag },
      ...(signedText === undefined ? {} : { [signatureHeader]: signedText }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const { error } = (JSON.parse(text) ?? {}) as { error?: { message: string; code: string } };
  return {
    status: answer.status,
    code: error?.code ?? null,
    message: error?.message ?? "",
    revision: answer.headers.get("x-weir-revision"),
  };
}

const read = async <Value>({ adminUrl }: Pick<TestGateway, "adminUrl">, path: string): Promise<Value> =>
  (await (await fetch(`${adminUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as Value;

const start = async (
  given: { stateDirectory?: string; clusterId?: string | null; key?: KeyObject; limits?: Partial<GatewayLimits> } = {},
): Promise<TestGateway> => {
  const keys = [given.key ?? studio.publicKey];
  const own = given.clusterId === undefined ? clusterId : given.clusterId;
  const stateDirectory = given.stateDirectory ?? (await temporaryDirectory());
  return startTestGateway(given.limits ?? {}, { adminToken: token, studio: { keys, clusterId: own }, stateDirectory });
};

async function twoStages(planId = "plan-a"): Promise<GatewayConfig> {
  const [small, large] = [await startTestEngine(answers), await startTestEngine(answers)];
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  const config = testConfig({ stages, thresholds: [60], judgeUrl: "http://127.0.0.1:9", planId });
  const ranged = { ...config.policy, approvedRanges: { thresholds: [{ min: 50, max: 70 }] } } as GatewayConfig["policy"];
  return { ...config, ...hashed(ranged) };
}

const answers: Parameters<typeof startTestEngine>[0] = (_, response) => sayCompletion(response, "four");

const putOf = (config: GatewayConfig): Order & { readonly body: ConfigRequest } => ({
  ...{ method: "PUT", path: "/config" },
  body: { ...config, by: "ann", reason: "" },
});
const put = (gateway: TestGateway, config: GatewayConfig) => send(gateway, putOf(config), signed(putOf(config), partsOf(config)));

/** A gateway with a signed configuration in force. */
async function signedGateway(given: Parameters<typeof start>[0] = {}) {
  const gateway = await start(given);
  const config = await twoStages();
  expect(await put(gateway, config)).toMatchObject({ status: 200 });
  return { gateway, config };
}

describe("a plan that is put into force", () => {
  it("is refused with the admin token alone, from another studio, for another cluster, altered, sent again, or signed in part", async () => {
    const { gateway, config } = await signedGateway();
    const own = { ...config, planId: "plan-b" };
    const order = putOf(own);
    const refusals = {
      unsigned_order: undefined,
      foreign_signature: signed(order, partsOf(own), {}, another.privateKey),
      other_cluster: signed(order, partsOf(own), { clusterId: "theirs" }),
      altered_order: signed(putOf(config), partsOf(own)),
      old_revision: signed(order, partsOf(own), { revision: 1000 }),
      part_not_signed: signed(order, { ...partsOf(own), policy: partsOf(config).policy }),
    };
    for (const [code, text] of Object.entries(refusals)) {
      const answer = await send(gateway, order, text);
      expect(answer).toMatchObject({ code, status: code === "old_revision" ? 409 : 403 });
      expect(answer.message).toMatch(/^[A-Z][^\n]*\.$/);
    }
    expect((await read<GatewayConfig>(gateway, "/config")).planId).toBe("plan-a");
    expect(await send(gateway, order, signed(order, partsOf(own)))).toMatchObject({ status: 200 });
  });

  it("leaves a line in the gateway's audit for each kind of attempt that is refused, a wrong admin token included", async () => {
    const { gateway, config } = await signedGateway();
    const order = putOf({ ...config, planId: "plan-b" });
    const parts = partsOf({ ...config, planId: "plan-b" });
    const attempts = [
      undefined,
      undefined,
      signed(order, parts, {}, another.privateKey),
      signed(order, parts, { clusterId: "theirs" }),
      signed(putOf(config), parts),
    ];
    for (const text of attempts) expect(await send(gateway, order, text)).toMatchObject({ status: 403 });
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await fetch(`${gateway.adminUrl}/status`, { headers: { authorization: "Bearer guessed" } });
      expect(answer.status).toBe(401);
    }
    const { lines } = await read<{ lines: { action: string; by: string; detail: string }[] }>(gateway, "/audit");
    const refused = lines.filter(({ action }) => action === "order refused");
    expect(refused.map(({ by, detail }) => [by, detail.slice(0, detail.indexOf(":"))])).toEqual([
      ...Array.from({ length: 4 }, () => ["unknown", "PUT /config"]),
      ["unknown", "GET /status"],
    ]);
  });

  it("is not reached by guessing the admin token: after some wrong ones the answers come late, and the right one is not slowed down", async () => {
    const gateway = await start({ limits: { heldAnswerSeconds: 0.4 } });
    const took = async (guess: string): Promise<number> => {
      const begunMs = performance.now();
      await fetch(`${gateway.adminUrl}/status`, { headers: { authorization: `Bearer ${guess}` } });
      return performance.now() - begunMs;
    };
    for (let sent = 0; sent < 25; sent += 1) await took(`guess ${sent}`);
    expect(await took("another guess")).toBeGreaterThan(350);
    expect(await took(token)).toBeLessThan(350);
  });

  it("is not accepted a second time, also after a restart, and the answer names the last revision", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, config } = await signedGateway({ stateDirectory });
    const [first, second] = [config, { ...config, planId: "plan-b" }];
    const replayed = signed(putOf(first), partsOf(first));
    expect(await send(gateway, putOf(first), replayed)).toMatchObject({ status: 200 });
    expect(await put(gateway, second)).toMatchObject({ status: 200 });
    const last = revision;
    expect(await send(gateway, putOf(first), replayed)).toMatchObject({ status: 409, code: "old_revision", revision: String(last) });
    await gateway.close();
    const again = await start({ stateDirectory });
    expect(await send(again, putOf(first), replayed)).toMatchObject({ status: 409, code: "old_revision", revision: String(last) });
    expect((await read<GatewayConfig>(again, "/config")).planId).toBe("plan-b");
  });

  it("is refused whatever in it is altered after it was signed", async () => {
    const gateway = await start();
    const config = await twoStages();
    const text = signed(putOf(config), partsOf(config));
    const changes: readonly ((was: GatewayConfig) => object)[] = [
      () => ({ planId: "another" }),
      ({ policy }) => hashed({ ...policy, thresholds: [61] } as GatewayConfig["policy"]),
      ({ policy }) => hashed({ ...policy, approvedRanges: { thresholds: [{ min: 0, max: 100 }] } } as GatewayConfig["policy"]),
      ({ replicas }) => ({ replicas: replicas.map((replica) => ({ ...replica, url: "http://127.0.0.1:6666" })) }),
      () => ({ judge: { model: "weir-judge", url: "http://127.0.0.1:6666" } }),
      () => ({ settings: { recordedPromptCharacters: 2000 } }),
      () => ({ timeScale: 2 }),
      () => ({ by: "somebody else" }),
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...changes), async (change) => {
        const order = { ...putOf(config), body: { ...putOf(config).body, ...change(config) } };
        expect(await send(gateway, order, text)).toMatchObject({ status: 403, code: "altered_order" });
      }),
      { numRuns: 16 },
    );
    expect(await send(gateway, putOf(config), text)).toMatchObject({ status: 200 });
  });

  it("binds a gateway that was told no cluster to that of the first order", async () => {
    const { gateway, config } = await signedGateway({ clusterId: null });
    const other = signed(putOf(config), partsOf(config), { clusterId: "theirs" });
    const refused = await send(gateway, putOf(config), other);
    expect(refused).toMatchObject({ status: 403, message: "This order was signed for the cluster theirs, and this gateway serves ours." });
  });
});

describe("live controls", () => {
  const knobs = (thresholds: readonly number[]): Order => ({ method: "PATCH", path: "/knobs", body: { thresholds, ...signature } });
  it("are turned by the studio's signature, and only inside the approved range of the signed policy", async () => {
    const { gateway, config } = await signedGateway();
    const inside = revisedPolicy(config, { thresholds: [65] });
    if (typeof inside === "string") throw new Error(inside);
    const policy = policyPart({ ...config, policyHash: inside.policyHash });
    expect(await send(gateway, knobs([65]))).toMatchObject({ status: 403, code: "unsigned_order" });
    expect(await send(gateway, knobs([65]), signed(knobs([65]), {}))).toMatchObject({ status: 403, code: "part_not_signed" });
    expect(await send(gateway, knobs([65]), signed(knobs([65]), { policy }))).toMatchObject({ status: 200 });
    const beyond = policyPart({ ...config, ...hashed({ ...config.policy, thresholds: [90] } as GatewayConfig["policy"]) });
    const outside = await send(gateway, knobs([90]), signed(knobs([90]), { policy: beyond }));
    expect(outside).toMatchObject({ status: 400, message: expect.stringMatching(/90/) });
    expect((await read<GatewayConfig>(gateway, "/config")).policy).toMatchObject({ thresholds: [65] });
  });

  it("begin only by the studio's signature, and end by the token", async () => {
    const { gateway, config } = await signedGateway();
    const candidate = { planId: "plan-b", ...hashed({ ...config.policy, thresholds: [62] } as GatewayConfig["policy"]) };
    const stop = { errorShare: 0.5, slow: null };
    const canary = { candidate, shares: [0.5, 1], stepSeconds: 1000, minRequests: 1, stop, ...signature };
    const capture = { share: 0.5, keys: ["*"], redactions: { builtIn: [], own: [] }, retentionDays: 3, mostBytes: 1_000_000, ...signature };
    const orders: readonly (Order & { readonly parts: Statement["parts"] })[] = [
      { method: "PUT", path: "/shadow", body: { candidate, ...signature }, parts: {} },
      { method: "PUT", path: "/canary", body: canary, parts: { policy: policyPart(candidate) } },
      { method: "PUT", path: "/mirror", body: { share: 0.5, maxInFlight: 1, ...signature }, parts: {} },
      { method: "PUT", path: "/strict-stages", body: signature, parts: {} },
      { method: "PUT", path: "/capture", body: capture, parts: {} },
    ];
    for (const order of orders) {
      expect(await send(gateway, order)).toMatchObject({ status: 403, code: "unsigned_order" });
      expect(await send(gateway, order, signed(order, order.parts, {}, another.privateKey))).toMatchObject({ code: "foreign_signature" });
      expect(await send(gateway, order, signed(order, order.parts))).toMatchObject({ status: 200 });
    }
    for (const { path } of orders) expect(await send(gateway, { method: "DELETE", path, body: signature })).toMatchObject({ status: 200 });
    const ensemble = { method: "DELETE", path: "/ensembles/any", body: signature };
    expect(await send(gateway, ensemble)).toMatchObject({ status: 403, code: "unsigned_order" });
  });

  it("let keys of clients in by the studio's signature only", async () => {
    const { gateway, config } = await signedGateway();
    const keys = [{ name: "eve", sha256: "e".repeat(64) }];
    const order = { method: "PUT", path: "/keys", body: { keys, ...signature } };
    const { engines } = partsOf(withKeys(config, keys));
    expect(await send(gateway, order)).toMatchObject({ status: 403, code: "unsigned_order" });
    expect(await send(gateway, order, signed(order, { engines: partsOf(config).engines }))).toMatchObject({ code: "part_not_signed" });
    expect(await send(gateway, order, signed(order, { engines }, {}, another.privateKey))).toMatchObject({ code: "foreign_signature" });
    expect((await read<{ keys: unknown }>(gateway, "/keys")).keys).toBeNull();
    expect(await send(gateway, order, signed(order, { engines }))).toMatchObject({ status: 200 });
  });

  it("leave the way back to the plan before to the token, and go nowhere else", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, config } = await signedGateway({ stateDirectory });
    expect(await put(gateway, { ...config, planId: "plan-b" })).toMatchObject({ status: 200 });
    const back = { method: "POST", path: "/rollback", body: signature };
    expect(await send(gateway, back)).toMatchObject({ status: 200 });
    expect((await read<GatewayConfig>(gateway, "/config")).planId).toBe("plan-a");
    await gateway.close();

    const file = join(stateDirectory, "gateway.json");
    const kept = JSON.parse(await readFile(file, "utf8")) as { previous: GatewayConfig };
    await writeFile(file, JSON.stringify({ ...kept, previous: { ...kept.previous, planId: "planted" } }));
    const again = await start({ stateDirectory });
    expect((await read<GatewayConfig>(again, "/config")).planId).toBe("plan-a");
    expect(await send(again, back)).toMatchObject({ status: 409, message: expect.stringMatching(/^No plan was in force before this one/) });
  });

  it("are resumed after a restart if the studio signed them, each of them", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, config } = await signedGateway({ stateDirectory });
    const candidate = { planId: "plan-b", ...hashed({ ...config.policy, thresholds: [62] } as GatewayConfig["policy"]) };
    const stop = { errorShare: 0.5, slow: { endToEndSeconds: 5, share: 0.1 } };
    const redactions = { builtIn: ["email"], own: [{ name: "badge", pattern: "B-[0-9]+", replacement: "a badge" }] };
    const orders = [
      { path: "/shadow", body: { candidate, ...signature } },
      { path: "/canary", body: { candidate, shares: [0.5, 1], stepSeconds: 1000, minRequests: 1, stop, ...signature } },
      { path: "/mirror", body: { share: 0.5, maxInFlight: 1, ...signature } },
      { path: "/strict-stages", body: signature },
      { path: "/capture", body: { share: 1, keys: ["*"], redactions, retentionDays: 3, mostBytes: 1_000_000, ...signature } },
    ].map((order) => ({ ...order, method: "PUT" }));
    for (const order of orders) expect(await send(gateway, order, signed(order, {}))).toMatchObject({ status: 200 });
    await gateway.close();
    const again = await start({ stateDirectory });
    for (const { path } of orders.slice(0, 4)) expect(await read(again, path)).not.toBeNull();
    expect(await read(again, "/capture")).toMatchObject({ running: { share: 1 } });
    await again.close();

    const file = join(stateDirectory, "controls.json");
    const kept = JSON.parse(await readFile(file, "utf8")) as Record<string, object>;
    const shares = { canary: { ...kept.canary, shares: [1] }, mirror: { ...kept.mirror, share: 1 }, shadow: { ...kept.shadow, by: "eve" } };
    await writeFile(file, JSON.stringify({ ...kept, ...shares, strictStages: { ...kept.strictStages, by: "eve" }, proofs: kept.proofs }));
    const altered = await start({ stateDirectory });
    for (const { path } of orders.slice(0, 4)) expect(await read(altered, path)).toBeNull();
    expect(await read(altered, "/capture")).toMatchObject({ running: { share: 1 } });
  });

  it("leave panic to the token, without a studio, and the gateway's audit tells of it", async () => {
    const { gateway } = await signedGateway();
    const panic = { method: "PUT", path: "/panic", body: { model: "large", by: "eve", reason: "outage" } };
    expect(await send(gateway, panic)).toMatchObject({ status: 200 });
    const answer = await gateway.chat({});
    expect(answer.headers.get("x-weir-model")).toBe("large");
    expect(await send(gateway, { method: "DELETE", path: "/panic", body: { by: "eve", reason: "over" } })).toMatchObject({ status: 200 });
    const { lines } = await read<{ lines: { action: string; by: string }[] }>(gateway, "/audit");
    expect(lines.slice(-2)).toMatchObject([
      { action: "panic", by: "eve" },
      { action: "panic lifted", by: "eve" },
    ]);
  });
});

describe("a canary's candidate", () => {
  const canaryOf = (config: GatewayConfig): Order => {
    const candidate = { planId: "plan-b", ...hashed({ ...config.policy, thresholds: [62] } as GatewayConfig["policy"]) };
    const stop = { errorShare: 0.99, slow: null };
    return { method: "PUT", path: "/canary", body: { candidate, shares: [1], stepSeconds: 0.05, minRequests: 1, stop, ...signature } };
  };
  const ended = async (gateway: TestGateway) => {
    for (;;) {
      await gateway.chat({});
      const canary = await read<{ state: string; endReason: string }>(gateway, "/canary");
      if (canary.state !== "running") return canary;
      await new Promise((wake) => setTimeout(wake, 20));
    }
  };

  it("is put into force by the gateway alone if the studio signed its policy, and the plan before it stays the way back", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, config } = await signedGateway({ stateDirectory });
    const order = canaryOf(config);
    const { candidate } = order.body as { candidate: GatewayConfig };
    expect(await send(gateway, order, signed(order, { policy: policyPart(candidate) }))).toMatchObject({ status: 200 });
    expect(await ended(gateway)).toMatchObject({ state: "promoted" });
    await gateway.close();
    const again = await start({ stateDirectory });
    expect((await read<GatewayConfig>(again, "/config")).planId).toBe("plan-b");
    const back = { method: "POST", path: "/rollback", body: signature };
    expect(await send(again, back)).toMatchObject({ status: 200 });
    expect((await read<GatewayConfig>(again, "/config")).planId).toBe("plan-a");
  });

  it("is stopped instead if the studio did not sign its policy", async () => {
    const { gateway, config } = await signedGateway();
    const order = canaryOf(config);
    expect(await send(gateway, order, signed(order, {}))).toMatchObject({ status: 200 });
    expect(await ended(gateway)).toMatchObject({
      state: "stopped",
      endReason: expect.stringMatching(/^The studio did not sign the policy/),
    });
    expect((await read<GatewayConfig>(gateway, "/config")).planId).toBe("plan-a");
  });
});

describe("a stored configuration", () => {
  it("is served again if the studio signed it, and not if its file was altered, or is another cluster's or studio's", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await signedGateway({ stateDirectory });
    await gateway.close();
    const file = join(stateDirectory, "gateway.json");
    const kept = JSON.parse(await readFile(file, "utf8")) as GatewayConfig;
    const planAt = async (given: Parameters<typeof start>[0]): Promise<string | null> => {
      const again = await start({ stateDirectory, ...given });
      const { planId } = await read<{ planId: string | null }>(again, "/status");
      await again.close();
      return planId;
    };
    expect(await planAt({})).toBe("plan-a");
    expect(await planAt({ key: another.publicKey })).toBeNull();
    expect(await planAt({ clusterId: "theirs" })).toBeNull();
    const { proofs: _, ...unsigned } = kept as GatewayConfig & { proofs: unknown };
    const policy = { ...kept.policy, thresholds: [61] } as GatewayConfig["policy"];
    for (const changed of [
      { ...kept, ...hashed(policy) },
      { ...kept, policy },
      { ...kept, planId: "x" },
      { ...kept, timeScale: 2 },
      unsigned,
    ]) {
      await writeFile(file, JSON.stringify(changed));
      expect(await planAt({})).toBeNull();
    }
  });

  it("is not served with a policy that the studio signed for a shadow only", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway, config } = await signedGateway({ stateDirectory });
    const candidate = { planId: "plan-b", ...hashed({ ...config.policy, thresholds: [62] } as GatewayConfig["policy"]) };
    const shadow = { method: "PUT", path: "/shadow", body: { candidate, ...signature } };
    const text = signed(shadow, { policy: policyPart(candidate) });
    expect(await send(gateway, shadow, text)).toMatchObject({ status: 200 });
    await gateway.close();
    const file = join(stateDirectory, "gateway.json");
    const kept = JSON.parse(await readFile(file, "utf8")) as GatewayConfig & { proofs: object };
    await writeFile(file, JSON.stringify({ ...kept, ...candidate, proofs: { ...kept.proofs, policy: text } }));
    const again = await start({ stateDirectory });
    expect((await read<{ planId: string | null }>(again, "/status")).planId).toBeNull();
  });

  it("of a gateway from before orders were signed is served until the studio signs another, and no other unsigned one", async () => {
    const stateDirectory = await temporaryDirectory();
    const before = await startTestGateway({}, { adminToken: token, stateDirectory });
    const config = await twoStages();
    expect(await send(before, putOf(config))).toMatchObject({ status: 200 });
    await before.close();
    for (let starts = 0; starts < 2; starts += 1) {
      const gateway = await start({ stateDirectory });
      const served = await read<GatewayConfig>(gateway, "/config");
      expect(served.planId).toBe("plan-a");
      const keys = [{ name: "ann", sha256: "a".repeat(64) }];
      const order = { method: "PUT", path: "/keys", body: { keys, ...signature } };
      const { engines } = partsOf(withKeys(served, keys));
      expect(await send(gateway, order, signed(order, { engines }))).toMatchObject({ code: "part_not_signed" });
      await gateway.close();
    }
    const file = join(stateDirectory, "gateway.json");
    await writeFile(file, (await readFile(file, "utf8")).replace('"plan-a"', '"planted"'));
    const planted = await start({ stateDirectory });
    expect((await read<{ planId: string | null }>(planted, "/status")).planId).toBeNull();
  });
});

describe("the studio that a gateway trusts", () => {
  it("must be named: by its key, by a file with keys, or as none", async () => {
    const file = join(await temporaryDirectory(), "studio-key.pub");
    const [text, other] = [publicKeyText(studio.publicKey), publicKeyText(another.publicKey)];
    await writeFile(file, `${text}\n${other}\n`);
    expect((await trustedStudio(text, null))?.keys.map(publicKeyText)).toEqual([text]);
    expect((await trustedStudio(file, "c"))?.keys.map(publicKeyText)).toEqual([text, other]);
    expect(await trustedStudio("none", null)).toBeNull();
    await expect(trustedStudio("", null)).rejects.toThrow(/^WEIR_STUDIO_PUBLIC_KEY is not set: .*\.$/);
    await writeFile(file, `${text}\nnonsense\n`);
    await expect(trustedStudio(file, null)).rejects.toThrow(/holds no key/);
    await expect(trustedStudio("ed25519:AAAA", null)).rejects.toThrow(/holds no key/);
  });
});
