import { accessible, approveAndApply } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "5" }, actionTimeout: 30_000 });

test("an operator allows grace, approves it with a plan, and sees which thresholds overload lowers and the quality predicted for that", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page, studio.signInLink);
  await page.goto(`${studio.url}/plan?policy=cascade&rate=4&floor=60&slack=40`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await approveAndApply(page);
  await page.getByRole("link", { name: "Live" }).click();

  const control = page.getByTestId("grace-control");
  const form = page.getByRole("form", { name: "Grace of a plan" });
  await test.step("grace is off, and the form says what it does and how far thresholds may fall", async () => {
    await expect(control).toContainText("off: thresholds stay as they are");
    await control.getByRole("button", { name: "Change grace" }).click();
    await expect(form).toContainText("The plan has no grace: nothing would change.");
    await expect(form.getByRole("button", { name: "Make the plan and review it" })).toBeDisabled();
    await form.getByLabel("Lower thresholds while a later stage is overloaded").check();
    await form.getByLabel("Requests that may wait for a later stage").fill("2");
    await form.getByLabel("Requests that may wait for a later stage").press("Tab");
    await expect(form).toContainText("thresholds fall by 1 a second while more than 2 requests wait for a later stage");
    await expect(form).toContainText(/from \d+ to at least \d+/);
    await expect(form.getByRole("status")).toHaveText("No engine is started or stopped for it.");
    await accessible(page);
    await control.screenshot({ path: info.outputPath("grace-form.png") });
  });

  await test.step("the plan that it makes has grace and changes no engine", async () => {
    await form.getByRole("button", { name: "Make the plan and review it" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    const diff = page.getByTestId("plan-diff");
    await expect(diff).toContainText("thresholds fall by 1 a second");
    await expect(diff).not.toContainText(/added|removed/);
    await approveAndApply(page);
  });

  await test.step("under overload Live names the lowered threshold, since when, and the predicted quality", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await expect(control).toContainText("thresholds fall while more than 2 requests wait");
    await page.getByLabel("Rate", { exact: true }).fill("60");
    await page.getByLabel("For", { exact: true }).fill("600");
    await page.getByRole("button", { name: "Start load" }).click();
    const notice = page.getByTestId("grace");
    await expect(notice).toContainText(/is \d+ in place of \d+, lowered since/, { timeout: 90_000 });
    await expect(notice).toContainText(/Predicted quality|not predicted/, { timeout: 90_000 });
    await accessible(page);
    await page.screenshot({ path: info.outputPath("grace.png"), fullPage: true });
  });
  expect(problems).toEqual([]);
});
