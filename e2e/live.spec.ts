import type { Page, Request } from "@playwright/test";
import { accessible } from "./acts";
import { signIn } from "./asPage";
import { childrenOf, expect, signal, test } from "./fixtures";

/** Engines of the cluster work this much faster than the wall's clock. */
const TIME_SCALE = 5;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) }, actionTimeout: 30_000 });

test("an operator watches a cluster under load: charts, one stream, pause, scopes, range and zoom in the address, by mouse and keyboard, and what breaks", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const streams = streamsOf(page);
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  const planned = await apply(page);
  const charts = page.getByRole("region", { name: "Charts" });

  await test.step("ten charts and more draw lines, of one stream", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByLabel("Rate", { exact: true }).fill("4");
    await page.getByLabel("For", { exact: true }).fill("3000");
    await page.getByRole("button", { name: "Start load" }).click();
    await expect(page.getByTestId("load-status")).toContainText("running");
    await expect.poll(() => drawnCharts(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(10);
    await expect(page.getByTestId("freshness")).toContainText("live");
    await expect(figureOf(page, "Latency end to end")).toContainText("predicted p95");
    await expect(page.getByTestId("predicted-p95")).toContainText("predicted");
    expect(planned).toMatch(/^[0-9a-f]{64}$/);
    expect(streams.open()).toBe(1);
  });

  await test.step("figures are of the range that is chosen, and state their window and number of requests", async () => {
    const over = page.getByTestId("over-p95");
    await expect(over).toHaveText(/^n = [\d,]+.*, last .*: measuring started then/);
    await page.getByRole("button", { name: "1 min", exact: true }).click();
    await expect(page).toHaveURL(/span=60/);
    // A minute of wall time, once as much has passed since the load began.
    await expect(over).toHaveText(new RegExp(`^n = [\\d,]+.*, last ${60 * TIME_SCALE}\\ss$`), { timeout: 90_000 });
    await expect(page.getByText(/share, scores and p95: n = [\d,]+/)).toBeVisible();
    await page.getByRole("button", { name: "5 min", exact: true }).click();
  });

  await test.step("no state of the page breaks an accessibility rule, in light or dark, wide or narrow", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await info.attach(`live, ${colorScheme}`, { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 900 });
    await accessible(page);
    // Only content that scrolls inside itself is wider than the window.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("a hold keeps the view and counts what waits; resumed, all of it is there", async () => {
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const resume = page.getByRole("button", { name: /^Resume, \+\d+ samples?$/ });
    const waiting = async () => Number(/\+(\d+)/.exec(await resume.innerText())?.[1]);
    const heldMs = Date.parse((await page.getByText("paused at").locator("time").getAttribute("datetime")) ?? "");
    const time = page.getByRole("slider", { name: "Time in Requests" });
    const endsMs = async () => Number(await time.getAttribute("aria-valuemax"));
    // Samples still arrive while the page is paused; however late a busy browser draws, it draws none of them.
    await expect.poll(waiting, { timeout: 30_000 }).toBeGreaterThanOrEqual(5);
    expect(await endsMs()).toBeLessThanOrEqual(heldMs);
    await resume.click();
    await expect.poll(endsMs).toBeGreaterThan(heldMs);
  });

  await test.step("the keyboard walks the crosshair, and values are said", async () => {
    const time = page.getByRole("slider", { name: "Time in Requests" });
    await time.focus();
    await page.keyboard.press("ArrowLeft");
    await expect(page.getByTestId("readout")).toContainText("answered");
    await expect(time).toHaveAttribute("aria-valuetext", /answered .*\/s/);
    await page.keyboard.press("Escape");
    await expect(page.getByTestId("readout")).toHaveCount(0);
  });

  await test.step("the keyboard zooms to what the crosshair is at", async () => {
    const time = page.getByRole("slider", { name: "Time in Requests" });
    await time.focus();
    for (const key of ["ArrowLeft", "ArrowLeft", "+"]) await page.keyboard.press(key);
    await expect(page).toHaveURL(/from=\d+&to=\d+/);
    await expect(page.getByTestId("zoom")).toBeVisible();
    await expect(charts).toHaveAttribute("aria-busy", "false");
    await page.goBack();
    await expect(page).not.toHaveURL(/from=/);
  });

  await test.step("an address that nobody can mean opens the page as it opens first, and says so of the cluster", async () => {
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/live?cluster=gone&scope=planet&span=-3&from=0&to=8640000000000000&outcome=odd&slower=soon`);
    await expect(page.getByText("There is no cluster gone: this is")).toBeVisible();
    await expect(page.getByRole("button", { name: "5 min", exact: true })).toHaveAttribute("aria-pressed", "true");
    await expect(page.getByTestId("zoom")).toHaveCount(0);
    await expect(page.getByRole("slider", { name: "Time in Requests" })).toBeVisible();
    await page.goto(`${origin}/live`);
    await expect(page.getByRole("slider", { name: "Time in Requests" })).toBeVisible();
  });

  await test.step("a stretch that is dragged over is zoomed to in the address, and both ways back return", async () => {
    const time = page.getByRole("slider", { name: "Time in Requests" });
    await drag(page, time);
    await expect(page).toHaveURL(/from=\d+&to=\d+/);
    await expect(page.getByTestId("zoom")).toBeVisible();
    await expect(charts).toHaveAttribute("aria-busy", "false");
    await page.goBack();
    await expect(page).not.toHaveURL(/from=/);
    await drag(page, time);
    await expect(page).toHaveURL(/from=\d+&to=\d+/);
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await expect(page).not.toHaveURL(/from=/);
    // The browser's own Back does not zoom in again afterwards.
    await page.goBack();
    await expect(page).not.toHaveURL(/from=/);
    await expect(page.getByTestId("zoom")).toHaveCount(0);
    await expect(charts).toHaveAttribute("aria-busy", "false");
  });

  await test.step("scope, choice and range survive a reload, and another scope does not blank the page", async () => {
    await page.getByRole("button", { name: "15 min" }).click();
    await page.getByRole("button", { name: "Engines", exact: true }).click();
    await expect(page).toHaveURL(/scope=engine/);
    await expect(charts.getByRole("heading", { name: "Running and waiting" })).toBeVisible();
    const engine = page.getByLabel("Engine", { exact: true });
    const last = (await engine.locator("option").allInnerTexts()).at(-1) ?? "";
    await engine.selectOption(last);
    await page.reload();
    await expect(page.getByRole("button", { name: "15 min" })).toHaveAttribute("aria-pressed", "true");
    await expect(page.getByLabel("Engine", { exact: true })).toHaveValue(last);
    await expect(page.getByTestId("engine-detail")).toContainText(last);
    await expect(page.getByTestId("decisions-matched")).toContainText(`reached ${last}`);
    await expect.poll(() => drawnCharts(page), { timeout: 30_000 }).toBeGreaterThanOrEqual(5);
    await accessible(page);
    for (const scope of ["Models", "GPUs"]) {
      await page.getByRole("button", { name: scope, exact: true }).click();
      await expect(charts).toHaveAttribute("aria-busy", "false");
      await expect.poll(() => drawnCharts(page), { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
      await info.attach(scope, { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
    }
    expect(streams.open()).toBe(1);
  });

  const attention = page.getByTestId("attention");

  await test.step("of a gateway that hangs the page says since when, and that its figures are not of now", async () => {
    await page.goto(`${new URL(page.url()).origin}/live`);
    await expect(page.getByTestId("freshness")).toContainText("live");
    const [gateway] = childrenOf(studio, "gateway.mjs");
    signal(gateway, "SIGSTOP");
    try {
      await expect(attention).toContainText(/(late|not answering)\s*gateway\s*(just now|for \d+)/, { timeout: 30_000 });
      await expect(page.getByText(/gateway last reported \d+/).first()).toBeVisible();
    } finally {
      signal(gateway, "SIGCONT");
    }
    await expect(page.getByText(/gateway last reported/)).toHaveCount(0);
  });

  await test.step("of engines that hang and then crash it says which, how and since when; their charts have a gap, not a line across it", async () => {
    const kv = figureOf(page, "KV cache in use, by engine");
    await kv.scrollIntoViewIfNeeded();
    await expect(kv.getByRole("slider")).toBeVisible();
    const gaps = async () => (await linesOf(page, "KV cache in use, by engine")).split(/(?=M)/).filter((run) => run.includes("L")).length;
    const before = await gaps();
    const [emulator] = childrenOf(studio, "emulator.mjs");
    signal(emulator, "SIGSTOP");
    try {
      await expect(attention).toContainText(/no answer in time.*(just now|for \d+)/, { timeout: 40_000 });
    } finally {
      // Even a suspended process ends; the launcher restarts it, with its engines.
      signal(emulator, "SIGKILL");
    }
    await expect(attention).toContainText(/restarted or reset/, { timeout: 60_000 });
    await expect.poll(gaps, { timeout: 30_000 }).toBeGreaterThan(before);
    await info.attach("after a crash", { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
  });

  await test.step("a lost connection is counted down to its next try, and comes back with what is shown still there", async () => {
    const [next] = childrenOf(studio, "dist/studio.mjs|next-server");
    const freshness = page.getByTestId("freshness");
    signal(next, "SIGKILL");
    await expect(freshness).toContainText(/connection lost for \d+ s, reconnecting in \d+ s/);
    expect(await page.getByRole("slider", { name: "Time in Requests" }).count()).toBe(1);
    await expect(freshness).toContainText("live", { timeout: 60_000 });
    await expect.poll(() => streams.open()).toBe(1);
  });
  expect(problems).toEqual([]);
});

/** Open streams of the page. */
function streamsOf(page: Page) {
  const open = new Set<Request>();
  page.on("request", (request) => request.url().includes("live.stream") && open.add(request));
  page.on("requestfailed", (request) => open.delete(request));
  page.on("requestfinished", (request) => open.delete(request));
  return { open: () => open.size };
}

/** Goes from the Plan page to a plan in force; returns its hash. */
async function apply(page: Page): Promise<string> {
  await page.goto(`${new URL(page.url()).origin}/plan?policy=cascade&rate=4&floor=60`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  const hash = (await page.getByTestId("plan-hash").innerText()).trim();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180_000 });
  return hash;
}

const figureOf = (page: Page, title: string) =>
  page.getByRole("region", { name: "Charts" }).getByRole("region", { name: title, exact: true }).getByRole("figure");

/** The lines of one chart, as they are drawn. */
const linesOf = (page: Page, title: string): Promise<string> =>
  figureOf(page, title)
    .locator("path[data-series]")
    .evaluateAll((paths) => paths.map((path) => path.getAttribute("d")).join(" "));

/** Charts with values: those have a crosshair. Charts below the window are drawn when they are scrolled to. */
async function drawnCharts(page: Page): Promise<number> {
  const figures = page.getByRole("region", { name: "Charts" }).getByRole("figure");
  for (const figure of await figures.all()) await figure.scrollIntoViewIfNeeded();
  return figures.getByRole("slider").count();
}

/** Drags over the middle third of a chart. */
async function drag(page: Page, time: ReturnType<Page["getByRole"]>): Promise<void> {
  await time.scrollIntoViewIfNeeded();
  const box = await time.boundingBox();
  if (box === null) throw new Error("the chart is not on the screen");
  const at = (share: number) => box.x + box.width * share;
  await page.mouse.move(at(0.6), box.y + 40);
  await page.mouse.down();
  await page.mouse.move(at(0.8), box.y + 40, { steps: 4 });
  await page.mouse.move(at(0.95), box.y + 40);
  await page.mouse.up();
}
