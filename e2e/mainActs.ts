import type { Page } from "@playwright/test";
import { expect } from "./fixtures";

/** Types a quality floor. */
export async function setFloor(page: Page, floor: number): Promise<void> {
  const field = page.getByRole("spinbutton", { name: "Quality floor" });
  await field.fill(String(floor));
  await field.press("Enter");
}

/** Drags the floor's slider to the right with the mouse, and returns its value and the plan that follows. */
export async function dragFloorRight(
  page: Page,
): Promise<{ readonly floor: number; readonly plan: { readonly hash: string; readonly quality: number } }> {
  const thumb = page.getByRole("slider", { name: "Quality floor" }).last();
  await thumb.scrollIntoViewIfNeeded();
  const box = await thumb.boundingBox();
  if (box === null) throw new Error("The quality floor's slider is not on the page.");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 1; step <= 10; step += 1) await page.mouse.move(x + step * 4, y);
  await page.mouse.up();
  const floor = Number(await page.getByRole("spinbutton", { name: "Quality floor" }).inputValue());
  return { floor, plan: await exactPlan(page) };
}

/** Waits until the exact plan has replaced the estimate. */
export async function exactPlan(page: Page): Promise<{ readonly hash: string; readonly quality: number }> {
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 90_000 });
  const quality = Number(firstNumber(await page.getByTestId("figure-quality").innerText()));
  return { hash: await page.getByTestId("plan-hash").innerText(), quality };
}

/** Starts a replay of the workload from the Live page. */
export async function startLoad(page: Page, load: { readonly requestsPerSecond: number; readonly seconds: number }): Promise<void> {
  await page.getByRole("link", { name: "Live" }).click();
  await page.getByLabel("Rate", { exact: true }).fill(String(load.requestsPerSecond));
  await page.getByLabel("For", { exact: true }).fill(String(load.seconds));
  await page.getByRole("button", { name: "Start load" }).click();
  await expect(page.getByTestId("load-status")).toContainText("running");
}

/** Waits on the Live page until the load is done, and checks that no request was lost. */
export async function loadIsDone(page: Page, { withinSeconds = 180 } = {}): Promise<void> {
  await page.getByRole("link", { name: "Live" }).click();
  await expect(page.getByTestId("load-status")).toContainText("done", { timeout: 1000 * withinSeconds });
  await expect(page.getByTestId("load-status")).toContainText(/ 0 failed/);
}

/** The first number in a text. */
export const firstNumber = (text: string): string => /[\d.]+/.exec(text)?.[0] ?? "";

/** The first latency in a text, in seconds; NaN where it has none, as "overloaded". */
function firstSeconds(text: string): number {
  const [, value, unit] = /([\d.]+)\s(ms|s)\b/.exec(text) ?? [];
  return unit === "ms" ? Number(value) / 1000 : Number(value);
}

/** The answers of a load scatter by some points of quality. */
const qualityScatter = 12;
/**
 * Checks on the Live page that measured quality and p95 are near the predicted ones.
 * @param latencyFactor between the p95s: a busy machine slows engines down, and less work than planned makes them faster.
 * @returns what the page says of them.
 */
export async function expectNearPrediction(page: Page, { latencyFactor = 4 } = {}): Promise<string> {
  for (const figure of ["quality", "p95"]) await expect(page.getByTestId(`measured-${figure}`)).toHaveText(/\d/, { timeout: 30_000 });
  const read = (id: string): Promise<string> => page.getByTestId(id).innerText();
  const [quality, predictedQuality] = [await read("measured-quality"), await read("predicted-quality")];
  const [p95, predictedP95] = [await read("measured-p95"), await read("predicted-p95")];
  const said = `quality measured ${quality}, ${predictedQuality}; p95 measured ${p95}, ${predictedP95}`;
  expect(Math.abs(Number(firstNumber(quality)) - Number(firstNumber(predictedQuality))), said).toBeLessThan(qualityScatter);
  const [seconds, predictedSeconds] = [firstSeconds(p95), firstSeconds(predictedP95)];
  // NaN is neither.
  expect(seconds, said).toBeGreaterThan(predictedSeconds / latencyFactor);
  expect(seconds, said).toBeLessThan(predictedSeconds * latencyFactor);
  return said;
}

/** Goes from the Plan page through review and approval to a finished roll-out; returns the approved hash. */
export async function apply(page: Page, { withinSeconds = 180 } = {}): Promise<string> {
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  const hash = (await page.getByTestId("plan-hash").innerText()).trim();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  // The focus moves to the next step, so that a keyboard user need not start from the top of the page again.
  await expect(page.getByRole("button", { name: "Apply", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Roll-out" })).toBeFocused();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 1000 * withinSeconds });
  await expect(page.getByRole("banner")).toContainText(`runs ${hash.slice(0, 8)}`);
  return hash;
}

/** Makes these of the two models of arithmetic the stages of the plan, whatever the planner recommends. */
export async function chooseStages(page: Page, models: readonly string[]): Promise<void> {
  // Where another policy is better, such as slack dispatch beside a slow judge, there are no stages to choose.
  await page.getByLabel("Policy", { exact: true }).selectOption("cascade");
  const stages = page.getByRole("region", { name: "Cascade to plan" }).getByRole("list", { name: "Stages" });
  // Those that are wanted first: a cascade needs at least one model.
  for (const wanted of [true, false]) {
    for (const model of ["arith-small", "arith-large"].filter((one) => models.includes(one) === wanted)) {
      const stage = stages.getByRole("button", { name: model });
      await stage.hover();
      if ((await stage.getAttribute("aria-pressed")) !== String(wanted)) await stage.click();
      await expect(stage).toHaveAttribute("aria-pressed", String(wanted));
    }
  }
}
