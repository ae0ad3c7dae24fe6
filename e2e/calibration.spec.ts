import { readFileSync, writeFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import { accessible } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

/** A window of steady load is a minute of the cluster, and 15 s of wall time. */
test.use({ studioEnvironment: { WEIR_TIME_SCALE: "4" } });

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
  await signIn(page, studio.signInLink);

  await test.step("a plan is put into force and load runs, of which rows are taken below", async () => {
    await page.getByLabel("Requests per second").fill("10");
    await page.getByLabel("Requests per second").press("Enter");
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 60_000 });
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByLabel("Rate", { exact: true }).fill("10");
    await page.getByLabel("For", { exact: true }).fill("600");
    await page.getByRole("button", { name: "Start load" }).click();
    await expect(page.getByTestId("load-status")).toContainText("running");
  });

  await page.getByRole("link", { name: "Calibration" }).click();
  await expect(page.getByText("used for planning")).toBeVisible();

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
    await expect(page.getByText('runs.csv line 10: the model "mystery-1b" is not known')).toBeVisible();
    await page.reload();
    await expect(page.getByTestId("scatter-chart").locator("text")).toHaveCount(runs.length);
    await expect(page.getByText("runs.csv: 8 runs read.")).toBeVisible();
  });

  await test.step("a fit that is stopped says so, and one that runs is found again after a reload", async () => {
    await page.getByLabel("Name of the profile").fill("stopped");
    await page.getByLabel("Efficiencies of kernels").selectOption("fitted too");
    await page.getByRole("button", { name: "Fit to these rows" }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByText("Stopped", { exact: true })).toBeVisible();
  });

  await test.step("a fit is kept, used for planning, and taken back", async () => {
    await page.getByLabel("Name of the profile").fill("our engines");
    await page.getByLabel("Efficiencies of kernels").selectOption("fitted if that predicts unseen rows better");
    const withStoppedFit = page.url();
    await page.getByRole("button", { name: "Fit to these rows" }).click();
    await expect(page).not.toHaveURL(withStoppedFit);
    await page.reload();
    await expect(page.getByRole("table", { name: "Errors of both fits on held-out rows" })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText(/on rows kept aside the error is .* % with efficiencies and .* % without/)).toBeVisible();
    await page.getByRole("button", { name: "Save as profile" }).click();
    await page.getByRole("button", { name: "Use for planning" }).click();
    await expect(page.getByText("used for planning")).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    await page.getByRole("button", { name: "Use the built-in profile vLLM" }).click();
    await expect(page.getByText('Plans use "vLLM".')).toBeVisible();
  });

  await test.step("a profile is exported as calibrate writes it, and one of a file is looked at, imported and planned with", async () => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("combobox", { name: "Engine profile" }).selectOption({ label: "our engines (yours, vLLM)" });
    await expect(page.getByRole("heading", { name: "our engines" })).toBeVisible();
    await page.getByRole("button", { name: "Export" }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe("our-engines.json");
    const exported = JSON.parse(readFileSync(await file.path(), "utf8"));
    expect(exported).toMatchObject({ name: "our engines", engine: "vllm", fittedOn: { rows: runs.length } });

    const dialog = page.getByRole("dialog", { name: "Import a profile" });
    const choose = async (name: string, text: string): Promise<void> => {
      const path = info.outputPath(name);
      writeFileSync(path, text);
      await dialog.getByLabel("Profile").setInputFiles(path);
    };
    await page.getByRole("button", { name: "Import a profile" }).click();
    await choose("plan.json", "{}");
    await expect(dialog.getByText("plan.json is not an engine profile: it has no coefficients.")).toBeVisible();
    await choose("same.json", JSON.stringify(exported));
    await expect(dialog.getByText('This profile already exists as "our engines": its figures are the same.')).toBeVisible();
    const other = { ...exported, coefficients: { ...exported.coefficients, requestSeconds: 0.25 } };
    await choose("other.json", JSON.stringify(other));
    await expect(dialog.getByText(/There is another profile "our engines", fitted on .*: it stays as it is/)).toBeVisible();
    await expect(dialog.getByLabel("Name")).toHaveValue("our engines (2)");
    await expect(dialog.getByText("8 of vLLM, fitted")).toBeVisible();
    await accessible(page);
    await dialog.getByRole("button", { name: "Import profile" }).click();
    await expect(dialog).toHaveCount(0);
    await expect(page.getByRole("heading", { name: "our engines (2)" })).toBeVisible();
    await expect(page.getByRole("table", { name: "Coefficients of our engines (2)" }).getByText("250 ms")).toBeVisible();
    await page.getByRole("button", { name: "Use for planning" }).click();
    await expect(page.getByText("used for planning")).toBeVisible();
    await page.getByRole("button", { name: "Use the built-in profile vLLM" }).click();
    await expect(page.getByText('Plans use "vLLM".')).toBeVisible();
  });

  await test.step("rows are taken from the running cluster, called emulated, checked, and downloaded as a table", async () => {
    await page.goto(`${studio.url}/calibration`);
    const told = page.getByTestId("live-rows");
    await expect(async () => {
      await page.getByRole("button", { name: "Take rows" }).click();
      await expect(told.getByText(/^\d+ rows? from \d+ engines?: /)).toBeVisible({ timeout: 3_000 });
    }).toPass({ timeout: 60_000 });
    await expect(told.getByText("emulated", { exact: true })).toBeVisible();
    await expect(page.getByRole("table", { name: "Errors by model" }).getByText("All runs")).toBeVisible();
    const rows = Number(/^\d+/.exec(await told.getByText(/^\d+ rows? from /).innerText())?.[0]);
    await expect(page.getByText(/\(emulated\), hour to /).first()).toContainText(`${rows} run`);
    await expect(page.getByTestId("scatter-chart").locator("text")).toHaveCount(rows);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the rows" }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/emulated.*\.csv$/);
    const [header, ...lines] = readFileSync(await file.path(), "utf8")
      .trim()
      .split("\n");
    expect(header).toMatch(/^id,measured_on,engine,.*ttft_ms/);
    expect(lines.map((line) => line.split(",")[1])).toEqual(Array.from({ length: rows }, () => "emulated"));
  });

  await test.step("a profile that is not there is said to be gone", async () => {
    await page.goto(`${new URL(page.url()).origin}/calibration?profile=gone`);
    await expect(page.getByText('The profile "gone" no longer exists')).toBeVisible();
  });
});
