import type { Locator, Page, TestInfo } from "@playwright/test";
import { accessible, approveAndApply } from "./acts";
import { signIn } from "./asPage";
import { dragThumb, stepTimes } from "./dragSteps";
import { expect, test } from "./fixtures";

/** Engines of the cluster work this much faster than the wall's clock. */
const TIME_SCALE = 4;

/** Requests per engine second for which plans and loads are made. */
const RATE = 5;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) }, actionTimeout: 30_000 });

test("an operator drags quality and slack of a cascade, applies it, and turns its slack under load, inside and beyond what was approved", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(600_000);
  const problems = problemsOf(page);
  const effect = page.getByTestId("slack-effect");
  const floor = page.getByRole("spinbutton", { name: "Quality floor" });
  const slack = page.getByRole("spinbutton", { name: "Slack" });
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);

  await test.step("let Weir choose: all kinds of policies are on one frontier, and the recommended row is the plan below", async () => {
    await page.goto(`${studio.url}/plan?rate=${RATE}&floor=55`);
    await solved(page);
    await expect(page.getByLabel("Policy", { exact: true })).toHaveValue("any");
    const frontier = page.getByRole("table", { name: "Plans on the frontier" });
    for (const kind of ["cascade", "slack dispatch", "one model alone"]) await expect(frontier).toContainText(kind);
    await expect(page.getByText("slack dispatch over τ", { exact: true })).toBeVisible();
    const recommended = frontier.getByRole("row").filter({ hasText: /recommended(?!,? estimate)/ });
    await expect(recommended).toHaveCount(1);
    const p95 = /[\d.]+/.exec(await page.getByTestId("figure-p95").innerText())?.[0] ?? "no figure";
    await expect(recommended).toContainText(p95);
    const chosen = page.getByRole("table", { name: "Policies compared" }).getByRole("row").filter({ hasText: "this plan" });
    await expect(chosen).toHaveCount(1);
    await look(page, info, "any");
  });

  await test.step("drag the quality floor of a cascade by mouse and keyboard; undo and redo; the address keeps it", async () => {
    await page.getByLabel("Policy", { exact: true }).selectOption("cascade");
    await expect(page).toHaveURL(/policy=cascade/);
    const thumb = page.getByRole("slider", { name: "Quality floor" });
    const drag = await dragThumb(page, thumb, { by: 30, steps: 20, read: page.getByTestId("figure-quality") });
    console.log(`quality floor: ${stepTimes(drag)}`);
    expect(drag.texts.length).toBeGreaterThan(2);
    const dragged = Number(await floor.inputValue());
    expect(dragged).toBeGreaterThan(55);
    await expect(page).toHaveURL(new RegExp(`floor=${dragged}\\b`));
    await thumb.press("ArrowLeft");
    await expect(floor).toHaveValue(String(dragged - 0.5));
    await solved(page);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(floor).toHaveValue("55");
    await page.getByRole("button", { name: "Redo" }).click();
    await expect(floor).toHaveValue(String(dragged - 0.5));
    await page.keyboard.press("Control+z");
    await expect(floor).toHaveValue("55");
    await page.keyboard.press("Control+Shift+z");
    await expect(floor).toHaveValue(String(dragged - 0.5));
    await page.keyboard.press("Control+z");
    await expect(floor).toHaveValue("55");
    await solved(page);
  });

  await test.step("drag the slack: what it buys changes while the thumb is held, and the exact plan follows on release", async () => {
    const fastest = await page.getByTestId("plan-hash").innerText();
    const thumb = page.getByRole("slider", { name: "Slack" });
    const drag = await dragThumb(page, thumb, { by: 120, steps: 24, read: effect });
    console.log(`slack: ${stepTimes(drag)}; ${drag.texts.join(" | ")}`);
    expect(drag.texts.filter((text) => /^\+\d+\s% p95 → \+[\d.]+ points/.test(text)).length).toBeGreaterThan(2);
    await slack.fill("20");
    await slack.press("Enter");
    await expect(page).toHaveURL(/slack=20\b/);
    await solved(page);
    await expect(page.getByText(/^A slack of 20\s% allows a p95 of/)).toBeVisible();
    expect(await page.getByTestId("plan-hash").innerText()).not.toBe(fastest);
    await page.reload();
    await expect(floor).toHaveValue("55");
    await expect(slack).toHaveValue("20");
    await solved(page);
    await look(page, info, "cascade");
  });

  await test.step("approve it with the range of its slack on the frontier, and apply it", async () => {
    await page.getByRole("button", { name: "Review and apply" }).click();
    const range = page.getByTestId("approved-range");
    await expect(range).toContainText(/Approved with this plan: threshold \d+–\d+; slack 0–\d+ %/);
    await expect(page.getByTestId("approved-range-chart")).toBeVisible();
    await expect(range).toContainText("needs a new plan");
    await look(page, info, "approve");
    await approveAndApply(page);
  });

  await turnUnderLoad(page, info, {
    name: "cascade",
    inside: "ArrowLeft",
    beyond: "End",
    says: /slack \d+ → \d+ % \(thresholds \d+ → \d+\)/,
  });
  await expect(page).toHaveURL(/policy=cascade/);
  await expect(slack).not.toHaveValue("20");
  await expect(page).toHaveURL(/slack=\d+/);
  expect(problems).toEqual([]);
});

test("an operator drags τ of slack dispatch, applies it, and turns τ under load, inside and beyond what was approved", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(600_000);
  const problems = problemsOf(page);
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  const tau = page.getByRole("spinbutton", { name: "τ" });

  await test.step("drag τ: its figures change while the thumb is held, and the exact plan follows on release", async () => {
    await page.goto(`${studio.url}/plan?rate=${RATE}&floor=55&budget=16`);
    await page.getByLabel("Policy", { exact: true }).selectOption("slack");
    await expect(page.getByTestId("tau-effect")).toContainText(/The planner takes τ [\d.]+: p95/, { timeout: 60_000 });
    await solved(page);
    const drag = await dragThumb(page, page.getByRole("slider", { name: "τ" }), {
      by: 150,
      steps: 16,
      read: page.getByTestId("tau-effect"),
    });
    console.log(`τ: ${stepTimes(drag)}; ${drag.texts.join(" | ")}`);
    expect(drag.texts.filter((text) => /^p95 .*(simulated|interpolated)/.test(text)).length).toBeGreaterThan(2);
    await tau.fill("0.5");
    await tau.press("Enter");
    await expect(page).toHaveURL(/policy=slack/);
    await expect(page).toHaveURL(/tau=0.5/);
    await solved(page);
    await expect(page.getByRole("region", { name: "Slack dispatch" })).toContainText("0.5");
    await look(page, info, "dispatch");
  });

  await test.step("approve it with the range of τ on the frontier, and apply it", async () => {
    await page.getByRole("button", { name: "Review and apply" }).click();
    await expect(page.getByTestId("approved-range")).toContainText(/Approved with this plan: slack τ [\d.]+–[\d.]+/);
    await expect(page.getByTestId("approved-range-chart")).toBeVisible();
    await look(page, info, "approve dispatch");
    await approveAndApply(page);
  });

  await turnUnderLoad(page, info, { name: "dispatch", inside: "PageUp", beyond: "End", says: /tau 0.5 → [\d.]+/ });
  await expect(page).toHaveURL(/policy=slack/);
  await expect(tau).toHaveValue("8");
  expect(problems).toEqual([]);
});

/** On Live, under load: turns the slack inside its range, reads forecast and measurement, puts it back, and moves it beyond. Ends on Plan. */
async function turnUnderLoad(
  page: Page,
  info: TestInfo,
  { name, inside, beyond, says }: Readonly<Record<"name" | "inside" | "beyond", string>> & { readonly says: RegExp },
): Promise<void> {
  const knobs = page.getByTestId("knobs");
  const thumb = knobs.getByRole("slider", { name: "Slack" });
  const hash = page.getByTestId("routing").getByTestId("policy-hash");
  const change = knobs.getByTestId("last-change");

  await test.step("put load on it", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByLabel("Rate", { exact: true }).fill(String(RATE));
    await page.getByLabel("For", { exact: true }).fill("3000");
    await page.getByRole("button", { name: "Start load" }).click();
    await expect(page.getByTestId("load-status")).toContainText("running");
    await expect.poll(() => finished(page), { timeout: 60_000 }).toBeGreaterThan(200);
  });

  const planned = await hash.innerText();
  await test.step("turn the slack inside its range: an estimate, then a forecast, then what is measured beside it", async () => {
    await knobs.getByRole("button", { name: "Set controls" }).click();
    await thumb.press(inside);
    await expect(knobs.getByTestId("control-forecast")).toContainText("p95 end to end");
    await expect(knobs.getByTestId("control-forecast")).toContainText("Simulated on the engines that serve now", { timeout: 30_000 });
    await picture(knobs, info, `${name} forecast`);
    await knobs.getByRole("button", { name: "Apply controls" }).click();
    await expect(hash).not.toHaveText(planned);
    await expect(change).toContainText(says);
    await expect(change).toContainText(/\d+ answered requests in/, { timeout: 60_000 });
    await expect(change.getByRole("table")).toContainText("p95 end to end");
    await page.waitForTimeout(10_000);
    await picture(knobs, info, `${name} turned`);
  });

  await test.step("put it back: the policy is the planned one again", async () => {
    await change.getByRole("button", { name: "Put back" }).click();
    await expect(hash).toHaveText(planned);
  });

  await test.step("beyond the range nothing can be set: the page prepares a new plan instead", async () => {
    await thumb.press(beyond);
    await expect(knobs).toContainText("This needs a new plan");
    await expect(knobs.getByRole("button", { name: "Apply controls" })).toHaveCount(0);
    await picture(knobs, info, `${name} beyond`);
  });

  await test.step("no request was lost, and the audit has each change", async () => {
    expect(await page.getByTestId("load-status").innerText()).toContain(" 0 failed");
    await page.getByRole("button", { name: "Stop load" }).click();
    await expect(page.getByTestId("load-status")).toContainText(" 0 failed");
    await knobs.getByRole("link", { name: "Prepare the new plan" }).click();
    // A budget that ends the range is in the way of any replicas.
    await expect(page.getByTestId("plan-hash").or(page.getByText("No plan meets this"))).toBeVisible({ timeout: 60_000 });
    await page.screenshot({ path: info.outputPath(`${name} new plan.png`), fullPage: true });
    const address = page.url();
    await page.getByRole("link", { name: "Apply", exact: true }).click();
    const audit = page.getByRole("table", { name: "Audit" });
    await expect(audit.getByRole("row").filter({ hasText: says })).not.toHaveCount(0);
    await expect(audit.getByRole("row").filter({ hasText: "put back" })).not.toHaveCount(0);
    await page.goto(address);
  });
}

/** Waits until the exact plan has replaced the estimate. */
async function solved(page: Page): Promise<void> {
  await expect(page.getByTestId("plan-hash")).toBeVisible({ timeout: 60_000 });
}

/** Requests of the load that have ended. */
async function finished(page: Page): Promise<number> {
  return Number(/([\d,]+) finished/.exec(await page.getByTestId("load-status").innerText())?.[1]?.replaceAll(",", "") ?? 0);
}

/** Errors that the page throws from now on. */
function problemsOf(page: Page): readonly string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  return problems;
}

/** Light and dark, wide and narrow: no accessibility violation, and a picture. */
async function look(page: Page, info: TestInfo, name: string): Promise<void> {
  for (const [colorScheme, width] of [
    ["dark", 800],
    ["light", 1440],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 960 });
    await accessible(page);
    await page.screenshot({ path: info.outputPath(`${name} ${colorScheme}.png`), fullPage: true });
  }
}

/** A picture of a part of a page that draws all the time: another spec looks over all of it. */
const picture = (part: Locator, info: TestInfo, name: string) => part.screenshot({ path: info.outputPath(`${name}.png`) });
