import AxeBuilder from "@axe-core/playwright";
import type { Page, TestInfo } from "@playwright/test";
import { expect } from "./fixtures";

/** Approves and applies the displayed plan, and waits until that is done. */
export async function approveAndApply(page: Page): Promise<void> {
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180_000 });
}

/** axe finds no violation on the current page. */
export async function accessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`)).toEqual([]);
}

/** In light and dark, and narrow: no accessibility violation, nothing wider than the window. */
export async function lookOver(page: Page, info: TestInfo, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await accessible(page);
    await page.screenshot({ path: info.outputPath(`${name}-${colorScheme}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  // Charts adapt to the new width a moment after the window.
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth))
    .toBeLessThanOrEqual(0);
  await page.screenshot({ path: info.outputPath(`${name}-narrow.png`), fullPage: true });
  await page.setViewportSize({ width: 1440, height: 960 });
  await page.emulateMedia({ colorScheme: "light" });
}
