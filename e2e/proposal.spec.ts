import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

/** Windows of traffic are five minutes of the cluster's time: a dozen seconds at this scale. */
const TIME_SCALE = 25;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) } });

test("traffic at a fraction of the planned rate drifts on Live, a plan is proposed, reviewed and dismissed", async ({ page, studio }) => {
  test.setTimeout(400_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page, studio.signInLink);
  // Signed in once the link has redirected.
  await expect(page).toHaveURL(/\/plan/);
  await page.goto(`${studio.url}/plan?policy=cascade&rate=60&floor=45`);
  const running = await apply(page);

  await test.step("Live shows how the traffic stands, and what has drifted", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByLabel("Rate", { exact: true }).fill("3");
    await page.getByLabel("For", { exact: true }).fill("6000");
    await page.getByRole("button", { name: "Start load" }).click();
    const traffic = page.getByTestId("traffic");
    await expect(traffic.getByRole("row", { name: /^rate 60\/s/ })).toBeVisible();
    await expect(traffic.getByRole("row", { name: /^rate 60\/s .* drifted$/ })).toBeVisible({ timeout: 120_000 });
    await expect(traffic.getByRole("row", { name: /^input tokens .* as planned$/ })).toBeVisible();
    await expect(page.getByTestId("attention")).toContainText(/traffic drifted.*rate 0\.\d+ times planned since .*a plan is proposed/, {
      timeout: 60_000,
    });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });

  await test.step("the proposal opens where plans are approved and applied; nothing was applied by it", async () => {
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    const card = page.getByTestId("proposal");
    await expect(card).toContainText("Nothing changes until you apply it.");
    await card.getByText("Assumptions").click();
    await expect(card).toContainText("Seen at the gateway: ");
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    await card.getByRole("link", { name: "Review the proposed plan" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    await expect(page.getByRole("button", { name: "Approve", exact: true })).toBeVisible();
    expect((await page.getByTestId("plan-hash").innerText()).trim()).not.toBe(running);
    await expect(page.getByRole("banner")).toContainText(`runs ${running.slice(0, 8)}`);
  });

  await test.step("dismissed, it is gone from both pages", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await expect(page.getByText("a plan is proposed")).toHaveCount(0);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 30_000 });
    await expect(page.getByTestId("proposal")).toHaveCount(0);
  });
  expect(problems).toEqual([]);
});

/** Goes from the Plan page to a plan in force; returns the approved hash. */
async function apply(page: Page): Promise<string> {
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  const hash = (await page.getByTestId("plan-hash").innerText()).trim();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180_000 });
  return hash;
}
