import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { mintSignInLink } from "../server/auth/signIn";
import type { Role } from "../server/contracts/studio";
import { openStore } from "../server/store/store";
import { signIn } from "./asPage";
import { expect, type RunningStudio, test } from "./fixtures";

/** A sign-in link of another person, who came from a provider. */
function linkFor({ stateDir, url }: RunningStudio, name: string, role: Role): string {
  const store = openStore(stateDir);
  try {
    const id = randomUUID();
    store.users.insert({ id, name, role, issuer: "https://login.example", subject: id, createdAt: new Date().toISOString() });
    return mintSignInLink(store, url, { userId: id });
  } finally {
    store.close();
  }
}

/** Requests of the page that the studio refuses for lack of a permission. */
function refusalsOf(page: Page): readonly string[] {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(new URL(response.url()).pathname);
  });
  return refused;
}

test("an admin makes tokens and keys that work once shown, ends sessions, and changes roles; each act says what happens first", async ({
  page,
  studio,
  browser,
}) => {
  await signIn(page, studio.signInLink);
  await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name: "People" }).click();
  await expect(page.getByRole("heading", { name: "People and keys" })).toBeVisible();
  await expect(page.getByRole("row", { name: /local admin/ }).first()).toContainText("you");

  const token = await test.step("a token is shown once, works, and is refused after its revocation", async () => {
    await page.getByRole("button", { name: "Create a token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Label").fill("nightly");
    await dialog.getByRole("button", { name: "Create" }).click();
    const shown = dialog.getByLabel("Token", { exact: true });
    await expect(shown).toBeFocused();
    const made = await shown.inputValue();
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await expect(dialog).toHaveCount(0);
    expect(await page.content()).not.toContain(made);
    return made;
  });
  const call = () => page.request.get(`${studio.url}/api/trpc/session.me`, { headers: { authorization: `Bearer ${token}`, cookie: "" } });
  expect((await call()).status()).toBe(200);
  await page.reload();
  const row = page.getByRole("table", { name: "API tokens" }).getByRole("row", { name: /nightly/ });
  await expect(row).not.toContainText("never");
  await row.getByRole("button", { name: "Revoke the token nightly" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(row).toContainText("revoked");
  expect((await call()).status()).toBe(401);

  await test.step("the session of another ends with its page", async () => {
    const link = linkFor(studio, "vera", "viewer");
    const other = await (await browser.newContext()).newPage();
    await other.goto(link);
    await expect(other.getByText("vera")).toBeVisible();
    await page.reload();
    await page.getByRole("button", { name: /End the session of vera/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End the session" }).click();
    await expect(page.getByRole("table", { name: "Sessions" }).getByRole("row", { name: /vera/ })).toHaveCount(0);
    await other.reload();
    await expect(other).toHaveURL(/sign-in/);
    await other.context().close();
  });

  await test.step("a role changes after it is confirmed, and the last admin stays", async () => {
    await page.getByLabel("Role of vera").selectOption("approver");
    const dialog = page.getByRole("dialog", { name: "Make vera an approver?" });
    await dialog.getByRole("button", { name: "Stay viewer" }).click();
    await expect(page.getByLabel("Role of vera")).toHaveValue("viewer");
    await page.getByLabel("Role of vera").selectOption("approver");
    await page.getByRole("dialog").getByRole("button", { name: "Change the role" }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByLabel("Role of vera")).toHaveValue("approver");
    await expect(page.getByLabel("Role of local admin")).toBeDisabled();
  });
});

test("a viewer reads every page without a refused request, and buttons say who can", async ({ page, studio, browser }) => {
  const refused = refusalsOf(page);
  // Somebody has to be named.
  const admin = await (await browser.newContext()).newPage();
  await signIn(admin, studio.signInLink);
  await expect(admin.getByText("local admin")).toBeVisible();
  await admin.context().close();
  await page.goto(linkFor(studio, "vera", "viewer"));
  await expect(page.getByText("vera")).toBeVisible();
  const rail = page.getByRole("navigation", { name: "Studio" });
  await expect(rail.getByRole("link", { name: "Plan" })).toBeVisible();
  await expect(rail.getByRole("link", { name: "People" })).toHaveCount(0);

  const review = page.getByRole("button", { name: "Review and apply" }).first();
  await expect(review).toHaveAccessibleDescription("Your role, viewer, does not allow this. local admin can do it.", { timeout: 60_000 });
  await review.focus();
  await expect(review).toBeFocused();
  for (const path of [
    "history",
    "live",
    "workflows",
    "ensembles",
    "lab",
    "workloads",
    "workloads/prompts",
    "workloads/profiles",
    "clusters",
    "clusters?attach=endpoints",
    "cards",
    "calibration",
    "people",
  ]) {
    await page.goto(`${studio.url}/${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
  }
  await expect(page.getByText("Your role, viewer, does not allow this. local admin can do it.").first()).toBeVisible();
  expect(refused).toEqual([]);
});
