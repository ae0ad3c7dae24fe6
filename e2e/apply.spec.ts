import type { Page } from "@playwright/test";
import { accessible } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

/** Engines of the cluster work this much faster than the wall's clock. */
const TIME_SCALE = 5;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) }, actionTimeout: 30_000 });

test("an operator reads what a roll-out does and costs, rehearses it, breaks it off, goes through with it and rolls it back", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const show = async (name: string) => info.attach(name, { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  const state = page.getByTestId("application-state");

  const first = await test.step("put a first plan into force, where nothing ran", async () => {
    const hash = await review(page, 60);
    await expect(page.getByText(/No plan has been applied to this cluster yet/)).toBeVisible();
    await expect(page.getByTestId("dip")).toContainText(/Nothing is served until step \d+; then p95/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await expect(state).toContainText("done", { timeout: 120_000 });
    return hash;
  });

  const second = await review(page, 45);
  expect(second).not.toBe(first);

  await test.step("read what the second one changes: words, generated files, and what is unchanged on demand", async () => {
    const diff = page.getByTestId("plan-diff");
    await expect(diff).toContainText("changed");
    await expect(diff).toContainText(/\d+ unchanged, hidden/);
    await diff.getByLabel("Hide unchanged").press("Space");
    await expect(page).toHaveURL(/unchanged=shown/);
    await page.reload();
    await expect(diff.getByLabel("Hide unchanged")).not.toBeChecked();
    await expect(diff).not.toContainText(/unchanged, hidden/);
    await diff.getByLabel("Hide unchanged").check();
    await expect(page).not.toHaveURL(/unchanged/);
    await page.getByText("Generated files").press("Enter");
    await expect(page).toHaveURL(/manifests=open/);
    await expect(page.getByTestId("manifests").locator("pre").first()).not.toBeEmpty();
    // The images and weights of emulated engines are not configured, and none are invented.
    await page.getByRole("button", { name: "Kubernetes" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "weir export" })).toContainText("no connection");
  });

  await test.step("see what it costs while it is made, before approving it", async () => {
    const dip = page.getByTestId("dip");
    await expect(dip).toContainText("modelled", { timeout: 60_000 });
    await expect(page.getByTestId("dip-chart")).toHaveAccessibleName(/^Modelled: Before .*The rate is/);
    await dip.getByText("Table and assumptions").press("Enter");
    const table = dip.getByRole("table");
    await expect(table).toContainText("Before");
    await expect(table).toContainText(/Steps? \d+/);
    await expect(table).toContainText("After");
  });

  await test.step("rehearse it: every step answers, and nothing is written", async () => {
    await page.getByRole("button", { name: "Rehearse" }).click();
    await expect(page.getByTestId("rehearsal").getByRole("status")).toContainText("Nothing was written.", { timeout: 30_000 });
    await expect(page.getByRole("banner")).toContainText(`runs ${first.slice(0, 8)}`);
  });

  await test.step("no rule of accessibility is broken, in light or dark, wide or narrow", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await show(`reviewed, ${colorScheme}`);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await accessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await show("reviewed, narrow");
    await page.setViewportSize({ width: 1440, height: 960 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  await test.step("cancel in the grace by keyboard: nothing was changed", async () => {
    await page.getByLabel("Reason (optional)").fill("faster for the evening");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Apply", exact: true })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Roll-out" })).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(state).toContainText("aborted");
    await expect(state).toBeFocused();
    await expect(page.getByText(/cancelled before anything was changed/)).toBeVisible();
    await expect(page.getByRole("table", { name: "Revisions" }).getByRole("row").filter({ hasText: "cancelled" })).toContainText(
      second.slice(0, 8),
    );
    await expect(page.getByRole("banner")).toContainText(`runs ${first.slice(0, 8)}`);
  });

  await test.step("abort half way by keyboard: what was done is undone", async () => {
    // It is disabled while the plan is compared with the running state.
    await expect(page.getByRole("button", { name: "Apply", exact: true })).toBeEnabled();
    await page.getByRole("button", { name: "Apply", exact: true }).press("Enter");
    const steps = page.getByTestId("apply-steps");
    await expect(steps.getByText(/^.?(done|verified)$/).first()).toBeVisible({ timeout: 60_000 });
    await page.getByRole("button", { name: "Pause" }).press("Enter");
    await expect(state).toContainText("paused");
    await expect(page.getByTestId("plan-diff")).toContainText("changed");
    await expect(page.getByRole("row").filter({ hasText: "being replaced" })).toContainText(first.slice(0, 8));
    await expect(page.getByRole("heading", { name: "Predicted and measured" })).toHaveCount(0);
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Abort" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(state).toContainText("rolled back", { timeout: 60_000 });
    await expect(page.getByRole("banner")).toContainText(`runs ${first.slice(0, 8)}`);
    await show("rolled back");
  });

  await test.step("apply it to the end, every step verified and written down, and watched for what it promised", async () => {
    await page.getByLabel(/Roll back automatically/).check();
    await page.getByRole("button", { name: "Apply", exact: true }).press("Enter");
    await expect(page.getByText(/It rolls back automatically if it has to stop/)).toBeVisible();
    await expect(state).toContainText("done", { timeout: 120_000 });
    await expect(page.getByRole("banner")).toContainText(`runs ${second.slice(0, 8)}`);
    const steps = page.getByTestId("apply-steps");
    await expect(steps).toContainText("verified");
    await page.getByTestId("journal").locator("summary").press("Enter");
    await expect(page.getByRole("list", { name: "Journal", exact: true })).toContainText("intended");
    await expect(page.getByTestId("verification")).toContainText(/watching|passed|undecided/);
    await expect(page.getByText("This plan is already running.", { exact: true })).toBeVisible();
    await accessible(page);
    await show("in force");
  });

  await test.step("preview the way back, and go it", async () => {
    const revisions = page.getByRole("table", { name: "Revisions" });
    await expect(revisions.getByRole("row").filter({ hasText: "current" })).toContainText("faster for the evening");
    await revisions.getByRole("link", { name: "Preview rollback" }).click();
    await expect(page).toHaveURL(new RegExp(first));
    await expect(page.getByTestId("plan-diff")).toContainText("changed");
    await expect(page.getByTestId("dip")).toContainText("modelled", { timeout: 60_000 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("button", { name: "Roll back", exact: true }).press("Enter");
    await expect(state).toContainText("done", { timeout: 120_000 });
    await expect(page.getByRole("banner")).toContainText(`runs ${first.slice(0, 8)}`);
    await expect(page.getByRole("row").filter({ hasText: "current" })).toContainText(first.slice(0, 8));
    await show("rolled back to the first");
  });

  await test.step("Apply without a plan leads to where one is chosen", async () => {
    await page.goto(`${new URL(page.url()).origin}/apply`);
    await expect(page).toHaveURL(/\/history$/);
    await expect(page.getByRole("table", { name: "Revisions" })).toContainText("rolled back");
  });

  expect(problems).toEqual([]);
});

/** Goes from the Plan page to the review of a plan with this quality floor; returns its hash. */
async function review(page: Page, floor: number): Promise<string> {
  await page.goto(`${new URL(page.url()).origin}/plan?policy=cascade&rate=4&floor=${floor}`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  return (await page.getByTestId("plan-hash").innerText()).trim();
}
