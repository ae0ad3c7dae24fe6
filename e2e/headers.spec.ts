import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request } from "@playwright/test";
import { signIn } from "./asPage";
import { expect, type RunningStudio, sharedTest as test } from "./fixtures";

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A request as an attacker's program or a rebound name sends it: no header is added or protected. */
function ask(url: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, async (response) => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";

const redeem = ({ url, signInLink }: RunningStudio, headers: Readonly<Record<string, string>> = {}) =>
  ask(`${url}/api/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ token: tokenOf(signInLink) }),
  });

/** Headers of a signed-in page: more than a program on another port of this host would get. */
async function signedIn(studio: RunningStudio): Promise<{ readonly cookie: string; readonly "x-weir-page-token": string }> {
  const { headers, text } = await redeem(studio);
  const { pageToken } = JSON.parse(text) as { pageToken: string };
  return { cookie: (headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "", "x-weir-page-token": pageToken };
}

const everywhere = [
  ...["/", "/plan", "/live", "/no-such-page", "/sign-in", "/docs", "/docs/weir.svg", "/metrics", "/icon.svg"],
  ...["/api/health", "/api/trpc/session.me", "/api/plans/x", "/api/workloads/x", "/api/batches/x/results", "/api/sign-in"],
];

test("every page and route answers with the security headers, and scripts run by nonce or hash only", async ({ studio }) => {
  const nonces = new Set<string>();
  for (const path of everywhere) {
    const { headers } = await ask(`${studio.url}${path}`);
    const policy = String(headers["content-security-policy"]);
    expect([path, policy]).toEqual([path, expect.stringMatching(/^default-src 'none'; script-src [^;]+;.*frame-ancestors 'none'/)]);
    expect([path, policy]).not.toEqual([path, expect.stringMatching(/script-src[^;]*'unsafe/)]);
    for (const [, nonce = ""] of policy.matchAll(/script-src 'nonce-([^']+)'/g)) {
      expect(nonces).not.toContain(nonce);
      nonces.add(nonce);
    }
    expect([path, headers]).toEqual([
      path,
      expect.objectContaining({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": expect.stringMatching(/^(same-origin|no-referrer)$/),
        "permissions-policy": expect.stringContaining("camera=()"),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      }),
    ]);
    expect(headers["strict-transport-security"]).toBeUndefined();
  }
});

test("a page whose name was made to point to this machine gets nothing, with both factors of a session neither", async ({ studio }) => {
  const own = await signedIn(studio);
  const { port } = new URL(studio.url);
  expect((await ask(`${studio.url}/api/trpc/session.me`, { headers: own })).status).toBe(200);
  for (const host of [`rebound.example:${port}`, "127.0.0.1:1", "rebound.example"])
    for (const method of ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
      for (const path of everywhere) {
        const headers = { host, ...own, "content-type": "application/json" };
        expect([host, method, path, (await ask(`${studio.url}${path}`, { method, headers })).status]).toEqual([host, method, path, 421]);
      }
});

test("a sign-in link that is looked at by HEAD or prefetched still signs in, once", async ({ studio }) => {
  const page = studio.signInLink.replace(/#.*/, "");
  const query = `${studio.url}/api/sign-in?token=${tokenOf(studio.signInLink)}`;
  for (const [url, sent] of [
    [page, { method: "HEAD" }],
    [page, { headers: { "sec-purpose": "prefetch" } }],
    [page, {}],
    [query, { method: "HEAD" }],
    [query.replace("sign-in", "sign%2Din"), { method: "HEAD" }],
    [query, { headers: { purpose: "prefetch" } }],
    [query, {}],
  ] as const)
    expect((await ask(url, sent)).headers["set-cookie"]).toBeUndefined();
  expect((await redeem(studio, { "content-type": "text/plain" })).status).toBe(415);
  expect((await redeem(studio, { origin: "https://evil.example" })).status).toBe(403);
  expect((await redeem(studio)).status).toBe(200);
  expect((await redeem(studio)).status).toBe(401);
});

test("a body that a form of another site can send is stored and read nowhere", async ({ studio }) => {
  const own = await signedIn(studio);
  const table = "task,metric,prompt_id,category,family,size_rank,model,score,in_tok,out_tok\ngsm,correct,p1,math,F,1,m,1,1,1\n";
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    const sent = { method: "POST", headers: { ...own, "content-type": type }, body: table };
    expect((await ask(`${studio.url}/api/uploads?kind=outcomes&name=t.csv`, sent)).status).toBe(415);
    expect((await ask(`${studio.url}/api/trpc/session.signOut`, { ...sent, body: "{}" })).status).toBe(415);
  }
  expect((await ask(`${studio.url}/api/trpc/session.me`, { headers: own })).status).toBe(200);
});

test("a page of another port of this host, with whose requests the browser sends the studio's cookies, reaches nothing", async ({
  context,
  studio,
}) => {
  const own = await context.newPage();
  await signIn(own, studio.signInLink);
  const pageToken = await own.evaluate(() => window.localStorage.getItem("weir.pageToken"));
  await own.close();
  const paths = ["/api/trpc/session.me", "/api/trpc/plans.list", "/metrics", "/api/plans/x", "/docs", "/plan"];
  const script = `const credentials = "include", mode = "no-cors";
    for (const path of ${JSON.stringify(paths)}) fetch("${studio.url}" + path, { mode, credentials }).catch(() => {});
    fetch("${studio.url}/api/trpc/session.signOut", { method: "POST", mode, credentials, body: "{}" }).catch(() => {});`;
  const other = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<iframe src="${studio.url}/plan"></iframe><img src="${studio.url}/api/trpc/session.me"><script>${script}</script>`);
  });
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
  const page = await context.newPage();
  const outcomes = new Map<string, string>();
  const note = (sent: Request, outcome: string) =>
    sent.url().startsWith(studio.url) && outcomes.set(`${sent.resourceType()} ${sent.url()}`, outcome);
  page.on("response", (response) => note(response.request(), String(response.status())));
  // The browser keeps the answer from the page, whatever the status.
  page.on("requestfailed", (sent) => note(sent, sent.failure()?.errorText ?? ""));
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  await expect.poll(() => outcomes.size).toBe(paths.length + 3);
  for (const [sent, outcome] of outcomes) expect([sent, outcome]).toEqual([sent, expect.stringMatching(/^403$|ERR_BLOCKED_BY_RESPONSE/)]);
  other.close();
  const cookie = (await context.cookies(studio.url)).map(({ name, value }) => `${name}=${value}`).join("; ");
  const asSent = { cookie, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "empty" };
  for (const path of paths) expect([path, (await ask(`${studio.url}${path}`, { headers: asSent })).status]).toEqual([path, 403]);
  const headers = { cookie, "x-weir-page-token": pageToken ?? "" };
  expect((await ask(`${studio.url}/api/trpc/session.me`, { headers })).status).toBe(200);
});

/** Opens every kind of page that links lead to, one of each: of pages for one thing, and of each folder of the documentation. */
async function walk(
  page: Page,
  { url }: RunningStudio,
  { from, lead }: { readonly from: string; readonly lead: RegExp },
): Promise<ReadonlySet<string>> {
  const kindOf = (path: string) => path.replace(/[0-9a-f]{8}[0-9a-f-]{8,}|embedded/g, "ID").replace(/^(\/docs\/[^/]+)\/.*/, "$1");
  const seen = new Set<string>();
  const waiting = [from];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(kindOf(path))) continue;
    seen.add(kindOf(path));
    await page.goto(url + path);
    await page.waitForLoadState("domcontentloaded");
    await expect(page.locator("h1").first()).toBeVisible();
    await page.waitForTimeout(300);
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
    // Files are downloaded.
    waiting.push(...links.filter((link) => lead.test(link) && !/\.[a-z]+$/i.test(link)));
  }
  return seen;
}

// The fixture fails a test in which the browser reports a violation of a content security policy.
test("no page of the studio breaks its content security policy, signed out and signed in", async ({ page, studio }) => {
  test.setTimeout(600_000);
  await page.goto(`${studio.url}/plan`);
  // The page itself goes to the sign-in page: the next address must not meet it on its way.
  await expect(page).toHaveURL(/\/sign-in/);
  await expect(page.locator("h1").first()).toBeVisible();
  await page.goto(`${studio.url}/sign-in?reason=used`);
  await signIn(page, studio.signInLink);
  await page.waitForURL(/\/plan/);
  for (const path of ["/no-such-page", "/apply", "/workloads/compare", "/workloads/prompts", "/workloads/profiles/new", "/calibration"])
    await page.goto(`${studio.url}${path}`);
  await page.goto(`${studio.url}/plan`);
  const seen = await walk(page, studio, { from: "/plan", lead: /^\/(?!api|docs)/ });
  for (const path of ["/plan", "/live", "/history", "/clusters", "/workloads", "/workflows", "/ensembles", "/lab", "/cards"])
    expect([...seen]).toContain(path);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("no page of the documentation breaks its content security policy", async ({ page, studio }) => {
  test.setTimeout(600_000);
  await page.goto(`${studio.url}/docs/`);
  const seen = await walk(page, studio, { from: "/docs/", lead: /^\/docs\// });
  expect(seen.size).toBeGreaterThan(5);
  await page.getByRole("switch").first().click();
  await page.getByRole("button", { name: /search/i }).click();
  await page.getByRole("searchbox").fill("floor");
  await expect(page.getByRole("option").first()).toBeVisible();
});
