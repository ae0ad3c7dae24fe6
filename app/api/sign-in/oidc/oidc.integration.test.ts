import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { oidcSettings } from "@/server/auth/oidc/oidcSettings";
import { signInAtProvider, startTestOidcProvider, type TestOidcProvider, type TestPerson } from "@/server/auth/testing/testOidcProvider";
import type { Caller } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { POST as redeem } from "../route";
import { GET as finish, HEAD as headFinish } from "./callback/route";
import { GET as begin, HEAD as headBegin } from "./route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";
const people: Record<string, TestPerson> = {};

let folder: string;
let provider: TestOidcProvider;
let runtime: Runtime;

const putUp = (studio: Runtime): void => void Object.assign(globalThis, { [Symbol.for("weir.runtime")]: studio });

/** A studio with its own state. */
function studioWith(environment: Readonly<Record<string, string>>): Runtime {
  const stateDir = mkdtempSync(join(folder, "state-"));
  const settings = studioSettings({ WEIR_STATE_DIR: stateDir, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere });
  return createRuntime(settings, oidcSettings(environment, settings.studioUrl));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-oidc-"));
  provider = await startTestOidcProvider(people, folder);
  provider.register(origin);
  runtime = studioWith({
    ...provider.environment,
    WEIR_OIDC_SCOPES: "openid profile email groups",
    WEIR_OIDC_ROLES: "admins=admin,/teams/approvers=approver,ops=operator,readers=viewer",
  });
});
beforeEach(() => putUp(runtime));
afterAll(async () => {
  await runtime.close();
  await provider.close();
  rmSync(folder, { recursive: true });
});

/** A browser at the studio: the cookies it holds, and the address it opens next. */
interface Step {
  readonly location: string;
  readonly cookie: string;
  readonly setCookie: string;
}

async function take(
  handler: (request: Request) => Promise<Response>,
  address: string | URL,
  headers: Record<string, string> = {},
): Promise<Step> {
  const response = await handler(new Request(address, { headers }));
  expect(response.status).toBe(302);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.text()).toBe("");
  const setCookie = response.headers.get("set-cookie") ?? "";
  return { location: response.headers.get("location") ?? "", setCookie, cookie: setCookie.split(";")[0] ?? "" };
}

const started = (): Promise<Step> => take(begin, `${origin}/api/sign-in/oidc`);
const finished = async (answer: string | URL, cookie: string): Promise<string> => (await take(finish, answer, { cookie })).location;

/** Signs in from beginning to end, as far as the studio lets. */
async function signInAs(login: string): Promise<{ readonly location: string; readonly caller: Caller | null; readonly headers: Headers }> {
  const { location, cookie } = await started();
  return redeemed(await finished(await signInAtProvider(location, login), cookie));
}

/** What the sign-in page does with its address. */
async function redeemed(location: string) {
  const token = /^\/sign-in#token=([\w-]{43})$/.exec(location)?.[1];
  if (token === undefined) return { location, caller: null, headers: new Headers() };
  const answer = await redeem(
    new Request(`${origin}/api/sign-in`, {
      method: "POST",
      body: JSON.stringify({ token }),
      headers: { "content-type": "application/json", origin, host: new URL(origin).host },
    }),
  );
  const { pageToken } = (await answer.json()) as { pageToken: string };
  const headers = new Headers({ cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "", "x-weir-page-token": pageToken });
  return { location, caller: runtime.callerOf(headers), headers };
}

const refusedSignIns = () => auditLines("sign-in").filter(({ outcome }) => outcome === "refused");
const auditLines = (action: string) => runtime.services.audit.list(1000).filter((line) => line.action === action);
const personNamed = (name: string) => runtime.services.people.list().find((person) => person.name === name);
const admin: Caller = { kind: "session", id: "", userId: "", name: "an admin", role: "admin" };

describe("sign-in by OIDC", () => {
  it("asks for a code with PKCE, state and nonce, bound to this browser by a cookie that no script reads", async () => {
    const { location, setCookie } = await started();
    const { searchParams } = new URL(location);
    expect(location).toMatch(`${provider.issuer}/auth?`);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: "weir",
      response_type: "code",
      redirect_uri: `${origin}/api/sign-in/oidc/callback`,
      scope: "openid profile email groups",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(setCookie).toMatch(/^weir_oidc=[\w-]{43}; Path=\/api\/sign-in\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
    for (const name of ["state", "nonce", "code_challenge"]) expect(setCookie).not.toContain(searchParams.get(name));
  });

  it("signs a person in with the highest role of their groups, and hands out the page token where a link does", async () => {
    people.ada = { preferred_username: "Ada", email: "ada@example.com", groups: ["readers", "/teams/approvers", "ops", "others"] };
    const { caller } = await signInAs("ada");
    expect(caller).toMatchObject({ kind: "session", name: "Ada", role: "approver" });
    expect(personNamed("Ada")).toMatchObject({ issuer: provider.issuer, role: "approver" });
    expect(auditLines("sign-in")[0]).toMatchObject({ actor: "Ada", detail: `by ${provider.issuer}` });
  });

  it("takes the role anew at each sign-in, and ends the streams of the former role", async () => {
    people.bob = { preferred_username: "bob", groups: "admins" };
    const first = await signInAs("bob");
    expect(first.caller?.role).toBe("admin");
    const stream = runtime.openStreams.open(first.caller as Caller);
    people.bob = { preferred_username: "robert", groups: ["readers"] };
    const second = await signInAs("bob");
    expect(second.caller).toMatchObject({ userId: first.caller?.userId, name: "bob", role: "viewer" });
    expect(stream?.signal.aborted).toBe(true);
    expect(runtime.callerOf(first.headers)?.role).toBe("viewer");
    expect(auditLines("set role")[0]).toMatchObject({ actor: "bob", detail: `admin to viewer, by ${provider.issuer}` });
  });

  it("gives nobody the name of another, of the terminal's person or of a program", async () => {
    people.eve = { preferred_username: "ADA", groups: ["ops"] };
    people.eva = { preferred_username: "\u202eAd\u200ba", groups: ["ops"] };
    people.mal = { preferred_username: "Local admin", email: "mal@example.com", groups: ["ops"] };
    people.token = { preferred_username: "token ci of Ada", groups: ["ops"] };
    const names = [];
    for (const login of ["eve", "eva", "mal", "token"]) names.push((await signInAs(login)).caller?.name);
    expect(names).toEqual(["ADA (2)", "Ada (3)", "mal@example.com", "token"]);
    expect((await signInAs("eve")).caller?.name).toBe("ADA (2)");
    const link = runtime.signInLink().slice(origin.length);
    expect((await redeemed(link)).caller).toMatchObject({ name: "local admin", role: "admin" });
  });

  it("refuses a person without a group that has a role, and ends what they had", async () => {
    people.dan = { preferred_username: "dan", groups: ["Admins", "others"] };
    const before = runtime.services.people.list().length;
    expect((await signInAs("dan")).location).toBe("/sign-in?reason=no-role");
    people.dan = { preferred_username: "dan" };
    expect((await signInAs("dan")).location).toBe("/sign-in?reason=no-role");
    expect(runtime.services.people.list()).toHaveLength(before);
    people.dan = { preferred_username: "dan", groups: ["ops"] };
    const { headers } = await signInAs("dan");
    expect(runtime.callerOf(headers)?.role).toBe("operator");
    people.dan = { preferred_username: "dan", groups: [] };
    expect((await signInAs("dan")).location).toBe("/sign-in?reason=no-role");
    expect(runtime.callerOf(headers)).toBeNull();
    expect(refusedSignIns()[0]).toMatchObject({ actor: "dan", detail: expect.stringContaining("no group") });
  });

  it("refuses a disabled person", async () => {
    people.fay = { preferred_username: "fay", groups: ["admins"] };
    await signInAs("fay");
    runtime.services.people.setDisabled(personNamed("fay")?.id ?? "", true, admin);
    expect((await signInAs("fay")).location).toBe("/sign-in?reason=disabled");
    expect(refusedSignIns()[0]).toMatchObject({ actor: "fay", detail: expect.stringContaining("disabled") });
  });

  it("says so where the provider refuses", async () => {
    const { location, cookie } = await started();
    expect(await finished(await signInAtProvider(location, null), cookie)).toBe("/sign-in?reason=denied");
  });
});

describe("an attack on a sign-in by OIDC", () => {
  beforeAll(() => {
    people.victim = { preferred_username: "victim", groups: ["admins"] };
    people.attacker = { preferred_username: "attacker", groups: ["readers"] };
  });
  const refused = "/sign-in?reason=expired";

  it("by a made-up state is refused", async () => {
    const { location, cookie } = await started();
    const answer = await signInAtProvider(location, "victim");
    const forged = new URL(answer);
    forged.searchParams.set("state", "A".repeat(43));
    expect(await finished(forged, cookie)).toBe(refused);
    forged.searchParams.delete("state");
    expect(await finished(forged, cookie)).toBe(refused);
    expect(await finished(answer, cookie)).toMatch(/#token=/);
  });

  it("by an answer that was used before is refused", async () => {
    const { location, cookie } = await started();
    const answer = await signInAtProvider(location, "victim");
    expect(await finished(answer, cookie)).toMatch(/#token=/);
    expect(await finished(answer, cookie)).toBe(refused);
  });

  it("by an answer in a browser that did not ask for it is refused", async () => {
    const [own, other] = [await started(), await started()];
    const answer = await signInAtProvider(own.location, "attacker");
    expect(await finished(answer, other.cookie)).toBe(refused);
    expect(await finished(answer, "")).toBe(refused);
    expect(await finished(answer, "weir_oidc=")).toBe(refused);
    expect(await finished(answer, own.cookie)).toMatch(/#token=/);
  });

  it("by another sign-in's code is refused, even one with the same nonce: it has another PKCE challenge", async () => {
    const [own, other] = [await started(), await started()];
    const asked = new URL(other.location);
    asked.searchParams.set("nonce", new URL(own.location).searchParams.get("nonce") ?? "");
    const stolen = await signInAtProvider(asked.href, "victim");
    const answer = await signInAtProvider(own.location, "attacker");
    answer.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    expect(await finished(answer, own.cookie)).toBe("/sign-in?reason=answer-refused");
  });

  it("by an ID token for another nonce is refused", async () => {
    const { location, cookie } = await started();
    const asked = new URL(location);
    asked.searchParams.set("nonce", "B".repeat(43));
    const answer = await signInAtProvider(asked.href, "victim");
    expect(answer.searchParams.get("code")).not.toBeNull();
    expect(await finished(answer, cookie)).toBe("/sign-in?reason=answer-refused");
  });

  it("by the name of another issuer in the answer is refused", async () => {
    const { location, cookie } = await started();
    const answer = await signInAtProvider(location, "victim");
    expect(answer.searchParams.get("iss")).toBe(provider.issuer);
    answer.searchParams.set("iss", "https://evil.example");
    expect(await finished(answer, cookie)).toBe("/sign-in?reason=answer-refused");
  });

  it("by text in the answer shows none of it", async () => {
    const { location, cookie } = await started();
    const state = new URL(location).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error: "<b>call +1 555</b>", error_description: "call me", state, iss: provider.issuer });
    expect(await finished(`${origin}/api/sign-in/oidc/callback?${query}`, cookie)).toBe("/sign-in?reason=answer-refused");
  });

  it("by HEAD, or from an image or a frame, does nothing", async () => {
    const { location, cookie } = await started();
    const answer = await signInAtProvider(location, "victim");
    expect(headBegin().status).toBe(405);
    expect(headFinish().status).toBe(405);
    for (const dest of ["image", "iframe", "empty", "script"]) {
      const headers = { cookie, "sec-fetch-dest": dest };
      for (const handler of [begin, finish]) {
        const response = await handler(new Request(answer, { headers }));
        expect([response.status, response.headers.get("set-cookie")], dest).toEqual([403, null]);
      }
    }
    expect((await take(finish, answer, { cookie, "sec-fetch-dest": "document" })).location).toMatch(/#token=/);
  });
});

describe("settings", () => {
  it("give people without a group the default role, where there is one", async () => {
    const open = studioWith({ ...provider.environment, WEIR_OIDC_DEFAULT_ROLE: "viewer" });
    putUp(open);
    people.gil = { email: "gil@example.com" };
    const { location, cookie } = await started();
    const next = await finished(await signInAtProvider(location, "gil"), cookie);
    expect(next).toMatch(/#token=/);
    expect(open.services.people.list()).toMatchObject([{ name: "gil@example.com", role: "viewer" }]);
    await open.close();
  });

  it("need a client secret that can be read", () => {
    const secret = join(folder, "empty");
    writeFileSync(secret, "\n");
    const roles = { WEIR_OIDC_ROLES: "a=admin" };
    expect(() => studioWith({ ...provider.environment, ...roles, WEIR_OIDC_CLIENT_SECRET_FILE: secret })).toThrow(/, is empty\.$/);
    expect(() => studioWith({ ...provider.environment, ...roles, WEIR_OIDC_CLIENT_SECRET_FILE: join(folder, "none") })).toThrow(
      /^The file of WEIR_OIDC_CLIENT_SECRET_FILE cannot be read: ENOENT/,
    );
  });

  it("with another client secret than the provider's let nobody in", async () => {
    const secret = join(folder, "wrong");
    writeFileSync(secret, "wrong");
    const wrong = studioWith({ ...provider.environment, WEIR_OIDC_DEFAULT_ROLE: "viewer", WEIR_OIDC_CLIENT_SECRET_FILE: secret });
    putUp(wrong);
    const { location, cookie } = await started();
    expect(await finished(await signInAtProvider(location, "gil"), cookie)).toBe("/sign-in?reason=answer-refused");
    await wrong.close();
  });

  it("of a provider that is down lead back to the sign-in page, and the studio works once it is up", async () => {
    const late = await startTestOidcProvider(people, folder);
    const studio = studioWith({ ...late.environment, WEIR_OIDC_DEFAULT_ROLE: "viewer" });
    putUp(studio);
    expect(await started()).toMatchObject({ location: "/sign-in?reason=provider-unavailable", cookie: "weir_oidc=" });
    late.register(origin);
    const { location, cookie } = await started();
    const answer = await signInAtProvider(location, "gil");
    await late.close();
    expect(await finished(answer, cookie)).toBe("/sign-in?reason=answer-refused");
    await studio.close();
  });

  it("of none leave the links alone", async () => {
    const closed = studioWith({});
    putUp(closed);
    expect((await begin(new Request(`${origin}/api/sign-in/oidc`))).status).toBe(404);
    expect((await finish(new Request(`${origin}/api/sign-in/oidc/callback?code=x&state=y`))).status).toBe(404);
    await closed.close();
  });
});
