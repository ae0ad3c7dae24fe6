import AxeBuilder from "@axe-core/playwright";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

test("an operator trains a predictor of lengths, reads how good it is, and has a plan order by it", async ({ page, studio }, info) => {
  await signIn(page, studio.signInLink);

  await test.step("a plan is kept", async () => {
    await page.goto(`${studio.url}/plan?policy=cascade&rate=10`);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await expect(page).toHaveURL(/\/apply\//);
  });

  await test.step("a predictor is trained, one training after another", async () => {
    await page.goto(`${studio.url}/lab?tab=predictors`);
    await expect(page.getByText("No predictor yet")).toBeVisible();
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await expect(page.getByText(/It continues when you leave this page/)).toBeVisible();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await expect(page.getByText("No predictor yet")).toBeVisible();
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await expect(page.getByText(/^Trained: [0-9a-f]{8}\.$/)).toBeVisible({ timeout: 90_000 });
  });

  await test.step("what it learnt of is said beside what it does", async () => {
    const item = page.getByTestId("predictor");
    await expect(item).toHaveCount(1);
    await expect(item.getByRole("heading")).toContainText("Lengths v1 of Generated");
    await expect(item).toContainText("emulated or generated");
    await expect(item).toContainText("No texts were available");
    // One row per model, and their mean.
    await expect(item.locator("tbody tr")).toHaveCount(4);
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`)).toEqual([]);
      await page.screenshot({ path: info.outputPath(`predictors-${scheme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.screenshot({ path: info.outputPath("predictors-narrow.png"), fullPage: true });
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("a plan that orders by it is kept and says that its figures are another's", async () => {
    const form = page.getByRole("form", { name: "Plan that uses predictors" });
    await expect(form.getByRole("button", { name: "Save as a plan" })).toBeDisabled();
    await expect(form).toContainText("Choose a predictor for it to use.");
    await form.getByLabel("Lengths by").selectOption({ index: 1 });
    await form.getByLabel("Name of the plan").fill("By predicted length");
    await form.getByRole("button", { name: "Save as a plan" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/, { timeout: 15_000 });
    await expect(page.getByRole("region", { name: "Limits of these figures" })).toContainText("nothing predicts them under this one");
    await page.goto(`${studio.url}/lab?tab=predictors`);
    await expect(page.getByTestId("predictor").getByRole("link", { name: "By predicted length" })).toBeVisible();
  });

  await test.step("it is removed after asking", async () => {
    await page.getByRole("button", { name: /^Remove Lengths v1/ }).click();
    await expect(page.getByRole("dialog")).toContainText("By predicted length can then no longer be approved");
    await page.getByRole("button", { name: "Remove predictor" }).click();
    await expect(page.getByText("No predictor yet")).toBeVisible();
  });
});
