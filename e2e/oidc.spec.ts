import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "@playwright/test";
import Sqlite from "better-sqlite3";
import { startTestOidcProvider, type TestOidcProvider } from "../server/auth/testing/testOidcProvider";
import { accessible } from "./acts";
import { test as base, expect, type RunningStudio } from "./fixtures";

/** Whom the provider knows, by what they enter there. */
const people = {
  vera: { preferred_username: "Vera Viewer", groups: ["readers"] },
  otto: { preferred_username: "Otto Operator", groups: ["readers", "ops"] },
  anna: { preferred_username: "Anna Approver", groups: ["leads"] },
  nora: { preferred_username: "Nora Nobody", groups: ["others"] },
};
type Login = keyof typeof people;

const test = base.extend<object, { provider: TestOidcProvider }>({
  provider: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that this one needs from the pattern.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "weir-oidc-"));
      const provider = await startTestOidcProvider(people, folder);
      await use(provider);
      await provider.close();
      rmSync(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  studioEnvironment: [
    async ({ provider }, use) => {
      await use({
        ...provider.environment,
        WEIR_OIDC_NAME: "Company login",
        WEIR_OIDC_SCOPES: "openid profile email groups",
        WEIR_OIDC_ROLES: "readers=viewer,ops=operator,leads=approver",
      });
    },
    { scope: "worker" },
  ],
});

/** Opens a page of the studio in a browser of its own, and signs in at the provider where it is led to. */
async function pageOf(browser: Browser, studio: RunningStudio, login: Login, path = "/lab"): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  // The provider's pages ask for a font elsewhere.
  await page.route(/googleapis/, (route) => route.abort());
  await page.goto(`${studio.url}${path}`);
  await expect(page).toHaveURL(`${studio.url}/sign-in`);
  await page.getByRole("link", { name: "Sign in with Company login" }).click();
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  return page;
}

/** Calls a procedure as the page does. */
async function change(page: Page, { url }: RunningStudio, procedure: string, input: object) {
  const pageToken = (await page.evaluate(() => window.localStorage.getItem("weir.pageToken"))) ?? "";
  const headers = { "content-type": "application/json", "x-weir-page-token": pageToken, origin: url };
  const response = await page.request.post(`${url}/api/trpc/${procedure}`, { headers, data: input });
  return { status: response.status(), text: await response.text() };
}

test("people sign in at the OpenID provider with the roles of their groups: one proposes, another approves, a third may only read, and the audit tells it", async ({
  browser,
  studio,
  provider,
}, info) => {
  provider.register(studio.url);
  const approval = { planId: "none", clusterId: "embedded", hash: "0".repeat(64), reason: "" };

  await test.step("the launcher prints the studio's address and no link; looking at it begins nothing", async () => {
    expect(studio.signInLink).toBe(`${studio.url}/sign-in`);
    for (const path of ["", "/callback"]) {
      const response = await fetch(`${studio.url}/api/sign-in/oidc${path}`, { method: "HEAD", redirect: "manual" });
      expect([response.status, response.headers.get("set-cookie")]).toEqual([405, null]);
    }
  });

  const pages: Page[] = [];
  for (const [login, role] of [
    ["vera", "viewer"],
    ["otto", "operator"],
    ["anna", "approver"],
  ] as const) {
    await test.step(`${login} signs in, lands on the page that was asked for, and is a ${role}`, async () => {
      const page = await pageOf(browser, studio, login);
      await expect(page).toHaveURL(/\/lab/);
      await expect(page.getByTitle(`Role: ${role}`)).toHaveText(people[login].preferred_username);
      pages.push(page);
      const { status, text } = await change(page, studio, "plans.approve", approval);
      if (role === "approver") expect(status).toBe(200);
      else {
        expect(status).toBe(403);
        expect(text).toContain(`The role ${role} may not approve plans; the role approver or admin may.`);
      }
    });
  }

  const [vera, otto, anna] = pages as [Page, Page, Page];
  const denied = (role: string) => `Your role, ${role}, does not allow this. Anna Approver can do it.`;

  const address = await test.step("the operator proposes a plan, and the button says who can approve it", async () => {
    await otto.goto(`${studio.url}/plan?policy=cascade`);
    await otto.getByRole("button", { name: "Review and apply" }).click({ timeout: 90_000 });
    await expect(otto).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    await expect(otto.getByRole("button", { name: "Approve", exact: true })).toHaveAccessibleDescription(denied("operator"));
    return otto.url();
  });

  await test.step("the viewer reads the same page and cannot approve either, also by pressing the button", async () => {
    await vera.goto(address);
    const button = vera.getByRole("button", { name: "Approve", exact: true });
    await expect(button).toHaveAccessibleDescription(denied("viewer"));
    await button.click({ force: true });
    await expect(vera.getByText("approved", { exact: true })).toHaveCount(0);
    await info.attach("viewer", { body: await vera.screenshot(), contentType: "image/png" });
  });

  await test.step("the approver approves, and the operator sees it", async () => {
    await anna.goto(address);
    await anna.getByLabel("Reason (optional)").fill("figures are plausible");
    await anna.getByRole("button", { name: "Approve", exact: true }).click();
    await expect(anna.getByText("by Anna Approver")).toBeVisible();
    await otto.reload();
    await expect(otto.getByText("by Anna Approver")).toBeVisible();
  });

  await test.step("the audit tells that story, and its export is verified", async () => {
    await anna.goto(`${studio.url}/audit`);
    const lines = anna.getByRole("table", { name: "Lines of the audit, newest first" });
    await expect(lines.getByRole("row", { name: /Anna Approver.*approve.*figures are plausible/ })).toBeVisible();
    await expect(lines.getByRole("row", { name: /Otto Operator.*keep/ })).toBeVisible();
    await expect(lines.getByRole("row", { name: /Vera Viewer.*call.*refused.*plans\.approve/ })).toBeVisible();
    await info.attach("audit", { body: await anna.screenshot({ fullPage: true }), contentType: "image/png" });
    const downloading = anna.waitForEvent("download");
    await anna.getByRole("button", { name: "Export JSON lines" }).click();
    expect(verify(studio, "--file", await (await downloading).path())).toMatchObject({ status: 0 });
    expect(verify(studio)).toMatchObject({ status: 0 });
  });

  await test.step("signing out of one leaves the others in", async () => {
    await vera.getByRole("button", { name: "Sign out" }).click();
    await expect(vera.getByText("You are signed out.")).toBeVisible();
    await otto.reload();
    await expect(otto.getByTitle("Role: operator")).toBeVisible();
  });

  await test.step("a person in no group with a role reads that", async () => {
    const page = await pageOf(browser, studio, "nora");
    await expect(page.getByRole("status").filter({ hasText: "You have no role in Weir" })).toBeVisible();
    await expect(page.getByRole("link", { name: "Sign in with Company login" })).toBeVisible();
    await accessible(page);
    await info.attach("sign-in", { body: await page.screenshot(), contentType: "image/png" });
  });

  await test.step("one byte that is changed in the store is found, with its line", async () => {
    const file = new Sqlite(join(studio.stateDir, "weir.db"), { timeout: 5_000 });
    const { id } = file.prepare("SELECT id FROM audit WHERE action = 'approve' AND outcome = 'done'").get() as { id: number };
    file.exec("DROP TRIGGER audit_refuses_update");
    file.prepare("UPDATE audit SET detail = replace(detail, 'plausible', 'Plausible') WHERE id = ?").run(id);
    file.close();
    const { status, text } = verify(studio);
    expect(status).toBe(1);
    expect(text).toContain(`${id}`);
  });
});

/** `weir audit verify` on the machine of the studio. */
function verify({ environment }: RunningStudio, ...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const command = join(fileURLToPath(new URL("..", import.meta.url)), "dist", "weir.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, "audit", "verify", ...args], {
    env: { ...process.env, ...environment },
    encoding: "utf8",
  });
  return { status, text: `${stdout}${stderr}` };
}
