import { accessible, approveAndApply } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "10" }, actionTimeout: 30_000 });

const workflow = {
  name: "pair",
  agents: [{ name: "draft" }, { name: "revise", reads: ["draft"], part: "revises" }],
};

test("an operator plans engines for single requests and a workflow together, compares them with the plan in force and reviews the plan", async ({
  page,
  studio,
}) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));

  await test.step("a plan for single requests alone is in force, and a workflow is declared", async () => {
    await signIn(page, studio.signInLink);
    await page.goto(`${studio.url}/plan?policy=cascade&rate=4&floor=50`);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await approveAndApply(page);
    await page.goto(`${studio.url}/workflows?tab=mix`);
    await expect(page.getByText("No workflow is declared yet.")).toBeVisible();
    await page.getByRole("link", { name: "Declare one" }).click();
    await page.getByRole("button", { name: "Import a workflow" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("JSON").fill(JSON.stringify(workflow));
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page).toHaveURL(/workflow=pair/);
  });

  const rate = page.getByLabel("Rate of pair", { exact: true });

  await test.step("nothing ticked is nothing to plan, and rates that are too high are refused with the share that is carried", async () => {
    await page.getByRole("button", { name: "Plan for a mix" }).click();
    const singles = page.getByRole("checkbox", { name: "single requests" });
    await singles.uncheck();
    await expect(page.getByRole("button", { name: "Plan engines" })).toBeDisabled();
    await singles.check();
    await page.getByLabel("Rate of single requests").fill("4000");
    await page.getByRole("button", { name: "Plan engines" }).click();
    await expect(page.getByText("of these rates at most")).toBeVisible({ timeout: 60_000 });
    await page.getByLabel("Rate of single requests").fill("3");
  });

  await test.step("planning can be cancelled and goes on when asked again", async () => {
    await page.getByRole("checkbox", { name: "pair" }).check();
    await rate.fill("0.5");
    await page.getByLabel("Quality floor of pair").fill("40");
    await page.getByRole("button", { name: "Plan engines" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect(page.getByText("Cancelled.")).toBeVisible();
    await page.getByRole("button", { name: "Plan again" }).click();
  });

  await test.step("the plan has figures by class and engines by model, beside those in force", async () => {
    const result = page.getByTestId("mix-plan");
    await expect(result).toBeVisible({ timeout: 90_000 });
    await expect(result.getByRole("list", { name: "What it brings" })).toContainText("Against the plan in force");
    const classes = result.getByRole("table", { name: /Figures by class/ });
    await expect(classes.getByRole("row").filter({ hasText: "single requests" })).toContainText(/3(\.0+)?\/s/);
    await expect(classes.getByRole("row").filter({ hasText: "pair" })).toContainText(/0\.50*\/s/);
    await expect(result.getByRole("table", { name: "Engines by model" })).toContainText("tp");
    await accessible(page);
    await rate.fill("0.6");
    await expect(page.getByText("Stale: planned for other rates or floors than those above.")).toBeVisible();
    await rate.fill("0.5");
    for (const [scheme, width] of [
      ["light", 1280],
      ["dark", 1280],
      ["light", 390],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      await expect(result).toBeVisible();
      await page.screenshot({ path: test.info().outputPath(`mix-${scheme}-${width}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  await test.step("it is reviewed and applied like any plan", async () => {
    await page.getByTestId("mix-plan").getByRole("button", { name: "Review and apply" }).click();
    await expect(page).toHaveURL(/\/apply\//);
    await expect(page.getByText(/Modelled: outcomes of workflows/).first()).toBeAttached();
    await approveAndApply(page);
  });

  await test.step("while it is in force, each class is compared with its own prediction: a program by its whole time", async () => {
    const send = async (path: string, body: object): Promise<void> => {
      const answer = await fetch(`${studio.gatewayUrl}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
    };
    const input = "Which river is longer, the Rhine or the Elbe?";
    const messages = [{ role: "user", content: input }];
    for (let round = 0; round < 4; round += 1)
      await Promise.all([
        ...Array.from({ length: 5 }, () => send("/v1/workflows/pair/runs", { input })),
        ...Array.from({ length: 10 }, () => send("/v1/chat/completions", { model: "cascade/default", messages })),
      ]);
    await page.goto(`${studio.url}/live`);
    await page.getByText("Each prediction and its inputs").click();
    const promises = page.getByRole("table", { name: "Predicted and measured" });
    for (const name of ["p95 of single requests", "p95 of pair"]) {
      const [, predicted, measured] = await promises.getByRole("row").filter({ hasText: name }).getByRole("cell").all();
      await expect(predicted!).toContainText(/\d/, { timeout: 30_000 });
      await expect(measured!).toContainText(/\d/, { timeout: 30_000 });
    }
    await page.screenshot({ path: test.info().outputPath("mix-live.png"), fullPage: true });
  });
  expect(problems).toEqual([]);
});
