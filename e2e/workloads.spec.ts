import { readFileSync, writeFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

test("an operator takes a workload out, changes it, brings it back, gives it other arrivals and compares", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(240_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));

  /** Checks the accessibility of the current page: light and dark, narrow and wide. */
  async function look(name: string): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 360]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => `${name} ${colorScheme} ${width}: ${id} at ${nodes[0]?.target.join(" ")}`)).toEqual([]);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(sideways, `${name} at ${width} scrolls sideways`).toBeLessThanOrEqual(0);
        await info.attach(`${name} ${colorScheme} ${width}`, { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }

  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  await page.getByRole("link", { name: "Workloads" }).click();
  await page.getByTestId("workload-row").getByRole("link").first().click();

  const changed = await test.step("export, and change a copy", async () => {
    await expect(page.getByRole("heading", { name: "Agreement between models" })).toBeVisible();
    await expect(page.getByText(/^AUC 0\.\d\d \(/).first()).toBeVisible();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
    const path = await download.path();
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const { hash: _, ...header } = JSON.parse(lines[0] ?? "");
    const rows = lines.slice(1, 1 + header.prompts).map((line) => JSON.parse(line));
    const smallest = header.models[0].model;
    for (const row of rows.slice(0, 200)) row.models[smallest].label = 100;
    const file = info.outputPath("better.jsonl");
    const text = [
      JSON.stringify({ ...header, name: "support chat" }),
      ...rows.map((row) => JSON.stringify(row)),
      ...lines.slice(1 + header.prompts),
    ];
    writeFileSync(file, text.join("\n"));
    return file;
  });
  await look("workload");

  await test.step("compare the gates of its stages", async () => {
    await page.getByRole("button", { name: "Gates", exact: true }).click();
    const gates = page.getByRole("table", { name: /^Gates for Answers of / }).first();
    await expect(gates.getByRole("row", { name: /^J? ?judge modelled 0\.\d\d \(/ })).toBeVisible();
    await expect(page.getByText(/Gates calibrated on \d+ prompts, measured on \d+ others/)).toBeVisible();
    await gates.getByRole("button", { name: "scorer" }).click();
    await page.reload();
    await expect(gates.getByRole("button", { name: "scorer" })).toHaveAttribute("aria-pressed", "true");
    await expect(page.getByRole("heading", { name: "Reliability of scorer" }).first()).toBeVisible();
  });
  await look("gates");

  await test.step("bring it back", async () => {
    await page.getByRole("link", { name: "Workloads" }).first().click();
    await page.getByRole("button", { name: "Import" }).click();
    await look("bring");
    await page.getByRole("button", { name: /a weir workload/i }).click();
    const damaged = info.outputPath("damaged.jsonl");
    writeFileSync(damaged, readFileSync(changed, "utf8").replace('"label":100', '"label":101'));
    await page.getByLabel("Workload file").setInputFiles(damaged);
    await expect(
      page.getByRole("alert").filter({ hasText: /damaged\.jsonl line \d+: models\..*\.label: give a score from 0 to 100/ }),
    ).toBeVisible();
    await page.getByLabel("Workload file").setInputFiles(changed);
    await expect(page.getByText(/“support chat”/)).toBeVisible();
    await page.getByRole("button", { name: "Import workload" }).click();
    await expect(page).toHaveURL(/\/workloads\/[0-9a-f]{64}/);
    await expect(page.getByRole("heading", { level: 1, name: "support chat" })).toBeVisible();
  });

  await test.step("give it other arrivals, a workload for day and night each", async () => {
    await page.getByRole("button", { name: "Other arrivals" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Arrivals", { exact: true }).selectOption("hours");
    await dialog.getByRole("button", { name: /day and night/i }).click();
    await expect(dialog.getByTestId("arrivals-preview")).toBeVisible();
    await look("rearrive");
    await dialog.getByRole("button", { name: "Make it" }).click();
    await expect(page.getByRole("link", { name: "support chat · night", exact: true })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("link", { name: "support chat · day v1" })).toBeVisible();
  });

  await test.step("compare it with what it came from", async () => {
    await page.getByRole("link", { name: "Workloads" }).first().click();
    const ticks = page.getByRole("checkbox", { name: /^Compare / });
    await expect(ticks).toHaveCount(4);
    await ticks.nth(2).check();
    await ticks.nth(3).check();
    await look("workloads");
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await expect(page.getByText(/compared prompt by prompt/)).toBeVisible();
    await expect(page.locator("[data-verdict=apart]")).toHaveCount(1);
    await look("compare");
    await page.getByLabel("Only differences beyond noise").check();
    await page.reload();
    await expect(page.locator("[data-verdict]")).toHaveCount(1);
  });

  expect(problems).toEqual([]);
});
