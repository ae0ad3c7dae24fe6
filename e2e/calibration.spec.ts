import { writeFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./fixtures";

/** Runs of an engine whose requests wait 100 ms and more before their first token. */
const runs = [1, 2, 4, 8].flatMap((users) =>
  [200, 1000].map((prompt) => `vllm,llama-3.1-8b,h100-sxm,1,${prompt},40,${users},bf16,${100 + prompt / 20 + 3 * users},${8 + users / 10}`),
);
const table = ["engine,model,gpu,tp,isl,osl,concurrency,precision,ttft_ms,tpot_ms", ...runs];

test("an operator holds predictions against runs, fits a profile to them and plans with it", async ({ page, studio }, info) => {
  const good = info.outputPath("runs.csv");
  writeFileSync(good, [...table, "vllm,mystery-1b,h100-sxm,1,200,40,1,bf16,1,1"].join("\n"));
  const bad = info.outputPath("bad.csv");
  writeFileSync(bad, "engine,model\nvllm,llama-3.1-8b\n");
  await page.goto(studio.signInLink);
  await page.getByRole("link", { name: "Calibration" }).click();
  await expect(page.getByText("plans are made with it")).toBeVisible();

  await test.step("a table without its columns is refused in a sentence", async () => {
    await page.getByLabel("Measured runs").setInputFiles(bad);
    await expect(page.getByText(/bad\.csv line 1: gpu or system: no such column/)).toBeVisible();
  });

  await test.step("runs are drawn and listed, and what was left out is named", async () => {
    await page.getByLabel("Measured runs").setInputFiles(good);
    await expect(page.getByRole("table", { name: "Errors by model" }).getByText("All runs")).toBeVisible();
    await expect(page.getByTestId("scatter-chart").locator("text")).toHaveCount(runs.length);
    await page.getByLabel("Metric").selectOption("TTFT");
    await expect(page).toHaveURL(/metric=ttft/);
    await page.getByRole("button", { name: "Line 2, show in the chart" }).focus();
    await expect(page.getByTestId("scatter-chart").locator("circle")).toHaveCount(1);
    await page.getByText("1 row not predicted").click();
    await expect(page.getByText(/runs\.csv line 10: .*mystery-1b/)).toBeVisible();
    await page.reload();
    await expect(page.getByTestId("scatter-chart").locator("text")).toHaveCount(runs.length);
    await expect(page.getByText("runs.csv: 8 runs read.")).toBeVisible();
  });

  await test.step("a fit that is stopped says so, and one that runs is found again after a reload", async () => {
    await page.getByLabel("Name of the profile").fill("stopped");
    await page.getByLabel("Efficiencies of kernels too").check();
    await page.getByRole("button", { name: "Fit to these rows" }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByText("Stopped", { exact: true })).toBeVisible();
  });

  await test.step("a fit is kept, used for planning, and taken back", async () => {
    await page.getByLabel("Name of the profile").fill("our engines");
    await page.getByLabel("Efficiencies of kernels too").uncheck();
    const withStoppedFit = page.url();
    await page.getByRole("button", { name: "Fit to these rows" }).click();
    await expect(page).not.toHaveURL(withStoppedFit);
    await page.reload();
    await page.getByRole("button", { name: "Save as profile" }).click({ timeout: 60_000 });
    await page.getByRole("button", { name: "Use for planning" }).click();
    await expect(page.getByText("plans are made with it")).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    await page.getByRole("button", { name: "Go back to the built-in vLLM" }).click();
    await expect(page.getByText('Plans are made with "vLLM".')).toBeVisible();
  });

  await test.step("a profile that is not there is said to be gone", async () => {
    await page.goto(`${new URL(page.url()).origin}/calibration?profile=gone`);
    await expect(page.getByText('There is no profile "gone" any more')).toBeVisible();
  });
});
