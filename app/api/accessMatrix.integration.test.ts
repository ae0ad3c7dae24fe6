import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servedRouter } from "@/server/api/deprecatedProcedures";
import { tokenOf } from "@/server/api/testing/signedInHeaders";
import { pageTokenHeader } from "@/server/auth/identify";
import { may, roles } from "@/server/auth/roles";
import { hashSecret } from "@/server/auth/secret";
import { mintSignInLink, signIn } from "@/server/auth/signIn";
import type { Permission, Role } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore, type Store } from "@/server/store/store";
import { POST as mutate, GET as query } from "./trpc/[trpc]/route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";

interface Definition {
  readonly type: "query" | "mutation" | "subscription";
  readonly meta?: { readonly permission: Permission };
}

const procedures = Object.entries(servedRouter._def.procedures as unknown as Readonly<Record<string, { readonly _def: Definition }>>).map(
  ([path, { _def }]) => ({ path, ..._def }),
);

let folder: string;
let runtime: Runtime;
let store: Store;
const users = new Map<Role, string>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-access-"));
  runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  store = openStore(folder);
  for (const role of roles) {
    const id = randomUUID();
    users.set(role, id);
    store.users.insert({
      id,
      name: `the ${role}`,
      issuer: "https://people.example",
      subject: role,
      role,
      createdAt: "2026-01-01T00:00:00.000Z",
    });
  }
});
afterAll(async () => {
  store.close();
  await runtime.close();
  rmSync(folder, { recursive: true });
});

const session = (role: Role) => {
  const made = signIn(store, tokenOf(mintSignInLink(store, origin, { userId: users.get(role) ?? null })));
  if (made === null) throw new Error(`no session for ${role}`);
  return { cookie: `weir_session=${made.cookieSecret}`, [pageTokenHeader]: made.pageToken };
};

/** A token of an admin that expired a second ago. */
function expiredToken(): Record<string, string> {
  const secret = randomUUID();
  const made = { id: randomUUID(), hash: hashSecret(secret), label: "old", role: "admin", createdBy: users.get("admin") ?? "" } as const;
  store.apiTokens.insert({ ...made, createdAt: "2026-01-01T00:00:00.000Z", expiresAt: new Date(Date.now() - 1000).toISOString() });
  return { authorization: `Bearer ${secret}` };
}

/** Headers of each sender. Each request gets new ones, because some procedures end sessions. */
const senders: Readonly<Record<string, { readonly role: Role | null; readonly headers: () => Record<string, string> }>> = {
  "no session": { role: null, headers: () => ({ origin }) },
  viewer: { role: "viewer", headers: () => ({ ...session("viewer"), origin }) },
  operator: { role: "operator", headers: () => ({ ...session("operator"), origin }) },
  approver: { role: "approver", headers: () => ({ ...session("approver"), origin }) },
  admin: { role: "admin", headers: () => ({ ...session("admin"), origin }) },
  "expired token": { role: null, headers: expiredToken },
  "cookie alone, from another port": { role: null, headers: () => ({ cookie: session("admin").cookie, origin: "http://127.0.0.1:4999" }) },
  "cookie alone": { role: null, headers: () => ({ cookie: session("admin").cookie, origin }) },
  "other session's page token": { role: null, headers: () => ({ ...session("admin"), cookie: session("admin").cookie, origin }) },
  "wrong origin": { role: null, headers: () => ({ ...session("admin"), origin: "https://evil.example" }) },
};

async function statusOf({ path, type }: { readonly path: string; readonly type: Definition["type"] }, headers: Record<string, string>) {
  const signal = AbortSignal.timeout(20_000);
  const host = { host: "127.0.0.1:4600" };
  const response =
    type === "mutation"
      ? await mutate(
          new Request(`${origin}/api/trpc/${path}`, {
            ...{ method: "POST", body: "{}", signal },
            headers: { ...host, "content-type": "application/json", ...headers },
          }),
        )
      : await query(new Request(`${origin}/api/trpc/${path}?input=%7B%7D`, { headers: { ...host, ...headers }, signal }));
  await response.body?.cancel();
  return response.status;
}

describe("access", () => {
  it("every procedure names a permission", () => {
    expect(procedures.filter(({ meta }) => meta === undefined).map(({ path }) => path)).toEqual([]);
    expect(procedures.length).toBeGreaterThan(150);
  });

  it.each(Object.keys(senders))("lets in of every procedure exactly what the table allows: %s", { timeout: 120_000 }, async (name) => {
    const { role, headers } = senders[name] ?? { role: null, headers: () => ({}) };
    const [allowed, refused, wrong] = [[] as string[], [] as string[], [] as string[]];
    for (const procedure of procedures) {
      const status = await statusOf(procedure, headers());
      const isRefused = status === 401 || status === 403;
      (isRefused ? refused : allowed).push(procedure.path);
      const expected = role !== null && procedure.meta !== undefined && may(role, procedure.meta.permission);
      if (expected === isRefused) wrong.push(`${procedure.path}: ${status}`);
    }
    console.log(`${name}: ${allowed.length} procedures allowed, ${refused.length} refused`);
    expect(wrong).toEqual([]);
    expect(allowed.length + refused.length).toBe(procedures.length);
  });

  it("keeps acts with consequences to the roles that answer for them", () => {
    const rolesOf = (path: string) => {
      const permission = procedures.find((procedure) => procedure.path === path)?.meta?.permission;
      return permission === undefined ? [] : roles.filter((role) => may(role, permission));
    };
    for (const path of ["plans.approve"]) expect(rolesOf(path), path).toEqual(["approver", "admin"]);
    for (const path of [
      "clusters.attach",
      "clusters.detach",
      "clusters.tryConnection",
      "people.setRole",
      "people.createToken",
      "gateway.startCapture",
    ])
      expect(rolesOf(path), path).toEqual(["admin"]);
    for (const path of ["applications.start", "gateway.panic", "gateway.setControls", "workloads.import", "profiles.start"])
      expect(rolesOf(path), path).toEqual(["operator", "approver", "admin"]);
    const changes = procedures.filter(({ type, meta }) => type === "mutation" && meta?.permission === "read").map(({ path }) => path);
    expect(changes).toEqual(["session.signOut"]);
  });
});

/** Routes that answer anybody, and why: they hold no names, no data and no secrets. */
const openRoutes = ["docs/[[...path]]", "api/health", "metrics"];
/** What each other route needs. */
const permissionOfRoute: Readonly<Record<string, Permission>> = {
  "api/audit/export": "audit",
  "api/keys/usage": "manage",
  "api/batches/[id]/results": "prepare",
  "api/plans/[id]": "read",
  "api/uploads": "prepare",
  "api/workloads/[id]": "read",
};
/** They trade what a stranger holds for a session. */
const signInRoutes = ["api/sign-in", "api/sign-in/oidc", "api/sign-in/oidc/callback"];

describe("route handlers", () => {
  const files = readdirSync("app", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("route.ts") && !file.includes("trpc"))
    .map((file) => `app/${file}`);
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

  it("answer nobody but who has both factors or a valid API token, on every method", { timeout: 60_000 }, async () => {
    let asked = 0;
    const counts: Record<string, { readonly allowed: number; readonly refused: number }> = {};
    for (const file of files) {
      const route = file.slice("app/".length, -"/route.ts".length);
      if (openRoutes.includes(route) || signInRoutes.includes(route)) continue;
      const handlers = (await import(join(process.cwd(), file))) as Partial<
        Record<(typeof methods)[number], (request: Request, context: object) => Promise<Response>>
      >;
      const params = Promise.resolve({ id: "none" });
      for (const method of methods) {
        const handler = handlers[method];
        if (handler === undefined) continue;
        for (const [name, { role, headers }] of Object.entries(senders)) {
          const init = method === "GET" || method === "HEAD" ? {} : { body: "x" };
          const request = new Request(`${origin}/${route}?kind=outcomes&name=x`, {
            method,
            ...init,
            headers: { host: "127.0.0.1:4600", ...headers() },
          });
          const { status } = await handler(request, { params });
          asked += 1;
          const permission = permissionOfRoute[route];
          if (permission === undefined) throw new Error(`${route} is not in the table of routes.`);
          const isRefused = status === 401 || status === 403;
          expect(isRefused, `${method} ${route}: ${name}`).toBe(role === null || !may(role, permission));
          counts[name] = {
            allowed: (counts[name]?.allowed ?? 0) + (isRefused ? 0 : 1),
            refused: (counts[name]?.refused ?? 0) + (isRefused ? 1 : 0),
          };
        }
      }
    }
    console.log(`${files.length} route handlers, ${asked} requests to those that are not open: ${JSON.stringify(counts)}`);
    expect(asked).toBeGreaterThan(30);
  });
});
