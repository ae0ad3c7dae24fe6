import { attachEngines, startAttachedEngines } from "./attachedEngines";
import { expect, test } from "./fixtures";

test.use({ actionTimeout: 30_000 });

test("an operator of attached engines pins a model, and the plan keeps its engine", async ({ page, studio }) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const engines = await startAttachedEngines();
  try {
    await page.goto(studio.signInLink);
    await expect(page).toHaveURL(/\/plan/);
    const clusterId = await attachEngines(page, studio, engines, "attached");

    await test.step("without a pin, the plan for a high floor has the larger model alone", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&floor=30`);
      await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    });
  } finally {
    await engines.stop();
  }
  expect(problems).toEqual([]);
});
