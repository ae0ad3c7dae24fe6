import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every page of the studio; `x` stands for a name in its path. */
const pages = readdirSync(join(root, "app"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("page.tsx"))
  .map((file) => `/${file.replace(/\(studio\)\/|\/?page\.tsx$/g, "").replace(/\[\w+\]/g, "x")}`);

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly unknown[] }>>>>;
}

/** What the studio serves to those who are signed in, from its own reference. */
function protectedCalls(): readonly { readonly method: string; readonly path: string }[] {
  const file = join(root, "docs", "public", "reference", "studio.openapi.json");
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as OpenApi;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security === undefined)
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, "x") })),
  );
}

test("another server on this machine receives the session's cookie, and opens no page, route or procedure with it", async ({
  page,
  studio,
  context,
}) => {
  const secrets: string[] = [];
  const bodies: Promise<string>[] = [];
  page.on("response", (response) => {
    if (!response.url().endsWith("/api/sign-in") && !/event-stream/.test(response.headers()["content-type"] ?? ""))
      bodies.push(response.text().catch(() => ""));
  });
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();
  const pageToken = await page.evaluate(() => window.localStorage.getItem("weir.pageToken"));
  expect(pageToken).toMatch(/^[\w-]{43}$/);
  secrets.push(pageToken ?? "");

  const received: string[] = [];
  const neighbour = createServer((request, response) => {
    received.push(request.headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.end("<title>neighbour</title>");
  });
  await new Promise<void>((resolve) => neighbour.listen(0, "127.0.0.1", resolve));
  const { port } = neighbour.address() as AddressInfo;
  try {
    const other = await context.newPage();
    await other.goto(`http://127.0.0.1:${port}/`);
    expect(await other.evaluate(() => window.localStorage.getItem("weir.pageToken"))).toBeNull();
    await other.close();
  } finally {
    neighbour.close();
  }
  const cookie = received[0] ?? "";
  expect(cookie, "the browser sends the cookie to every port").toContain("weir_session=");

  const opened: string[] = [];
  const calls = protectedCalls();
  for (const { method, path } of calls) {
    const body = method === "GET" ? {} : { body: "{}" };
    const type = path === "/api/uploads" ? "application/octet-stream" : "application/json";
    const headers = { cookie, "content-type": type };
    const response = await fetch(`${studio.url}${path}`, { method, headers, ...body, redirect: "manual" });
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 403) opened.push(`${method} ${path}: ${response.status}`);
  }
  /** The page without the nonce of its scripts, which is another for each answer. */
  const pageText = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(`${studio.url}${path}`, { headers, redirect: "manual" });
    const nonce = /'nonce-([^']+)'/.exec(response.headers.get("content-security-policy") ?? "")?.[1] ?? "no nonce";
    return (await response.text()).replaceAll(nonce, "");
  };
  for (const path of pages) {
    const [stolen, plain] = [await pageText(path, { cookie }), await pageText(path, {})];
    if (stolen !== plain) opened.push(path);
    for (const secret of secrets) expect(stolen).not.toContain(secret);
  }
  console.log(`opened by the cookie alone: ${opened.length} of ${calls.length} procedures and routes and ${pages.length} pages`);
  expect(opened).toEqual([]);
  expect(calls.length).toBeGreaterThan(150);
  expect(pages.length).toBeGreaterThan(20);
  for (const body of await Promise.all(bodies)) for (const secret of secrets) expect(body.includes(secret)).toBe(false);
});
