import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({
  studioEnvironment: {
    WEIR_EMBEDDED: JSON.stringify({
      gpu: "h100-sxm",
      nodes: Array.from({ length: 2 }, (_, index) => ({ name: `node${index + 1}`, gpus: 8 })),
    }),
  },
});

test("an operator reads the frontier over other axes, narrows it, compares plans and sets baselines beside them", async ({
  page,
  studio,
}) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await signIn(page, studio.signInLink);
  const chart = page.getByTestId("frontier-chart");
  await expect(chart.locator("circle").first()).toBeVisible({ timeout: 60_000 });
  const group = page.getByRole("group", { name: "Frontier chart" });
  const rows = page.getByRole("table", { name: "Plans on the frontier" }).locator("tbody tr");

  await test.step("pick cost for an axis: plans on fewer GPUs appear, and the address says so", async () => {
    const evaluated = () => page.getByText(/of [\d,]+ feasible/).innerText();
    const before = await evaluated();
    await page.getByLabel("X axis").selectOption({ label: "Cost per request" });
    await expect(page).toHaveURL(/x=cost/);
    await expect(chart).toContainText("cost per request, $");
    expect(counted(await evaluated())).toBeGreaterThan(counted(before));
    // The other axis swaps its quantity with it.
    await page.getByLabel("Y axis").selectOption({ label: "Cost per request" });
    await expect(page.getByLabel("X axis")).toHaveValue("latency");
    await page.goBack();
    await page.goBack();
    await expect(page.getByLabel("X axis")).toHaveValue("quality");
    await expect(page.getByLabel("Y axis")).toHaveValue("latency");
  });

  await test.step("drag a range: the table lists what lies in it, and Esc clears it before the pins", async () => {
    await drag(page, chart, { from: [0.3, 0.2], to: [0.7, 0.8] });
    await expect(page.getByTestId("brush-chip")).toContainText(/Quality .* to .*, p95 latency/);
    const address = page.url();
    expect(address).toContain("brush=");
    await page.reload();
    await expect(page.getByTestId("brush-chip")).toBeVisible({ timeout: 60_000 });
    await expect(page.getByTestId("brush")).toBeVisible();
    await group.focus();
    await page.keyboard.press("Escape");
    await expect(page.getByTestId("brush-chip")).toBeHidden();
  });

  await test.step("make, grow and shrink a range by keyboard", async () => {
    await group.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    const first = await brushOf(page);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowUp");
    const grown = await brushOf(page);
    expect(grown[1]).toBeGreaterThan(first[1] ?? 0);
    expect(grown[3]).toBeGreaterThan(first[3] ?? 0);
    expect([grown[0], grown[2]]).toEqual([first[0], first[2]]);
    await page.keyboard.press("Shift+ArrowLeft");
    expect((await brushOf(page))[1]).toBe(first[1]);
    await page.getByRole("button", { name: "Clear the range" }).click();
    await expect(page.getByTestId("brush-chip")).toBeHidden();
  });

  await test.step("pin two plans by keyboard and from the table; the tray survives a reload", async () => {
    await group.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("p");
    await rows.getByRole("checkbox", { checked: false }).last().check();
    const tray = page.getByTestId("compare-tray");
    await expect(tray.getByRole("columnheader", { name: /Pin \d/ })).toHaveCount(2);
    await expect(tray).toContainText("best");
    const text = await tray.innerText();
    await page.reload();
    await expect(tray).toBeVisible({ timeout: 60_000 });
    expect(await tray.innerText()).toBe(text);
  });

  await test.step("choose a pinned plan: the plan is made of its cascade, and one click returns to the recommendation", async () => {
    await page.getByTestId("compare-tray").getByRole("button", { name: "Choose" }).first().click();
    await expect(page).toHaveURL(/fixed=/);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Return to the recommendation" }).click();
    await expect(page).not.toHaveURL(/fixed=/);
  });

  await test.step("show the baselines: each is drawn and named, or refused with a reason, for the knobs as they stand", async () => {
    const floor = page.getByRole("spinbutton", { name: "Quality floor" });
    const stale = page.getByText("The baselines use earlier settings.");
    await floor.fill(String(Number(await floor.inputValue()) - 5));
    await floor.blur();
    await page.getByRole("button", { name: "Show baselines" }).click();
    await expect(page).toHaveURL(/baselines=1/);
    await expect(page.getByText(/▽ full simulation/)).toBeVisible({ timeout: 120_000 });
    await expect(stale).toBeHidden();
    await rows.getByRole("checkbox", { checked: false }).last().check();
    await page.waitForTimeout(1_000);
    await expect(stale).toBeHidden();
    await floor.fill(String(Number(await floor.inputValue()) + 1));
    await expect(stale).toBeVisible();
    await page.getByRole("button", { name: "Plan them again" }).click();
    await expect(page.getByText(/▽ full simulation/)).toBeVisible({ timeout: 120_000 });
    await expect(stale).toBeHidden({ timeout: 120_000 });
    // Also the exact plan of that floor: until it arrives the last one is paled.
    await expect(page.getByTestId("plan-hash")).toBeVisible({ timeout: 60_000 });
  });

  await test.step("with range, pins and baselines shown the page breaks no accessibility rule, in light or dark", async () => {
    await drag(page, chart, { from: [0.3, 0.2], to: [0.9, 0.8] });
    await expect(page.getByTestId("brush-chip")).toBeVisible();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${colorScheme}: ${id} at ${nodes[0]?.target.join(" ")}`)).toEqual([]);
    }
    await page.getByRole("button", { name: "Clear the range" }).click();
    await page.getByRole("button", { name: "Hide baselines" }).click();
    await expect(page.getByText(/▽ full simulation/)).toBeHidden();
  });

  await test.step("Esc with no range clears the pins", async () => {
    await group.focus();
    await page.keyboard.press("Escape");
    await expect(page.getByTestId("compare-tray")).toBeHidden();
  });
  expect(problems).toEqual([]);
});

/** The second number of `12 of 340 feasible`. */
const counted = (text: string): number => Number(/of ([\d,]+)/.exec(text)?.[1]?.replaceAll(",", ""));

/** The range in the address: low and high to the right, low and high upwards. */
async function brushOf(page: Page): Promise<readonly number[]> {
  await expect(page.getByTestId("brush-chip")).toBeVisible();
  return (new URL(page.url()).searchParams.get("brush") ?? "").split(" ").map(Number);
}

/** Drags across an element, from and to parts of its width and height. */
async function drag(page: Page, over: Locator, { from, to }: Readonly<Record<"from" | "to", readonly [number, number]>>): Promise<void> {
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (box === null) throw new Error("The chart is not on the page.");
  const at = ([x, y]: readonly [number, number]) => [box.x + x * box.width, box.y + y * box.height] as const;
  await page.mouse.move(...at(from));
  await page.mouse.down();
  for (const part of [0.3, 0.6, 1]) await page.mouse.move(...at([from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])]));
  await page.mouse.up();
}
