import { readFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, approveAndApply } from "./acts";
import { signIn } from "./asPage";
import { expect, type RunningStudio, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "5" }, actionTimeout: 30_000 });

/** The emulated cluster's own admin API. */
function emulatorOf({ emulatorUrl, stateDir }: RunningStudio) {
  const token = readFileSync(join(stateDir, "admin-token"), "utf8").trim();
  return async (method: string, path: string): Promise<Response> =>
    fetch(emulatorUrl + path, { method, headers: { authorization: `Bearer ${token}` } });
}

test("an operator sees which stage of the cascade is skipped since when, what remains is predicted to do, and refuses smaller answers", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(300_000);
  await signIn(page, studio.signInLink);
  await page.goto(`${studio.url}/plan?policy=cascade&rate=4&floor=60`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await approveAndApply(page);
  await page.getByRole("link", { name: "Live" }).click();
  await page.getByLabel("Rate", { exact: true }).fill("4");
  await page.getByLabel("For", { exact: true }).fill("600");
  await page.getByRole("button", { name: "Start load" }).click();
  await expect(page.getByTestId("load-status")).toContainText("running");

  const emulator = emulatorOf(studio);
  const { engines } = (await (await emulator("GET", "/cluster")).json()) as { engines: { id: string; model: string }[] };
  const models = [...new Set(engines.map(({ model }) => model))];
  expect(models.length).toBeGreaterThan(1);
  const answer = async () => {
    const body = JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "hello" }], max_tokens: 8 });
    const response = await fetch(`${studio.gatewayUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    await response.text();
    const header = (name: string) => response.headers.get(`x-weir-${name}`);
    return { status: response.status, model: header("model"), skipped: header("skipped"), degraded: header("degraded") };
  };
  const first = (await answer()).model ?? "";
  for (const { id, model } of engines) if (model === first) await emulator("DELETE", `/engines/${id}?graceSeconds=0`);

  const lost = page.getByTestId("lost-stages");
  await expect(lost).toContainText(`${first} is skipped since`, { timeout: 60_000 });
  await expect(page.getByTestId("attention")).toContainText("stage skipped");
  await expect(lost.getByRole("table")).toContainText("the whole cascade", { timeout: 60_000 });
  await expect(lost).toContainText("Modelled at");
  expect(await answer()).toMatchObject({ status: 200, skipped: expect.stringContaining(first) });

  const strict = page.getByTestId("strict-stages");
  await expect(strict).toContainText("the largest smaller one answers");
  await strict.getByRole("button", { name: "Refuse instead" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("quality is promised");
  await page.getByRole("dialog").getByRole("button", { name: "Refuse", exact: true }).click();
  await expect(strict).toContainText("requests are answered 503");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await accessible(page);
    await page.screenshot({ path: info.outputPath(`lost-stage-${colorScheme}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  for (const part of [lost, strict]) {
    const right = await part.evaluate((element) => element.getBoundingClientRect().right);
    expect(right).toBeLessThanOrEqual(390);
  }
  await page.setViewportSize({ width: 1440, height: 960 });
  await strict.getByRole("button", { name: "Let smaller models answer" }).click();
  await expect(strict).toContainText("the largest smaller one answers");

  await page.getByRole("link", { name: "Apply", exact: true }).click();
  const audit = page.getByRole("table", { name: "Audit" });
  for (const action of ["stage lost", "order strict stages", "strict stages"])
    await expect(audit.getByRole("cell", { name: action, exact: true }).first()).toBeVisible();
});
