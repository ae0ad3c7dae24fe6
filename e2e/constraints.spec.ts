import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test("an operator constrains a plan, sees what conflicts, relaxes it by one click and cancels a solve", async ({ page, studio }) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page, studio.signInLink);
  // Signed in once the link has redirected.
  await expect(page).toHaveURL(/\/plan/);
  // A rate and a floor that leave room for other cascades on the emulated cluster's GPUs.
  await page.goto(`${studio.url}/plan?policy=cascade&rate=20&floor=52`);
  const free = await exactPlan(page);
  const editor = page.getByRole("dialog", { name: "Constraints" });
  const chips = page.getByRole("list", { name: "Constraints", exact: true });
  const dropped = free.models[0] ?? "";

  await test.step("a model is excluded, and the plan does without it", async () => {
    await page.getByRole("button", { name: "Edit constraints" }).click();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    await editor.getByRole("checkbox", { name: `${dropped} may be used` }).uncheck();
    await editor.getByRole("button", { name: "Done" }).click();
    await expect(page.getByRole("button", { name: "Edit constraints" })).toBeFocused();
    await expect(chips.getByText(`without ${dropped}`)).toBeVisible();
    const plan = await exactPlan(page);
    expect(plan.models.length).toBeGreaterThan(0);
    expect(plan.models).not.toContain(dropped);
  });

  await test.step("it is in the address, and given up by its chip", async () => {
    await page.reload();
    await expect(chips.getByText(`without ${dropped}`)).toBeVisible();
    await page.getByRole("button", { name: `Drop: without ${dropped}` }).click();
    await expect(page).not.toHaveURL(/constraints=/);
    expect((await exactPlan(page)).hash).toBe(free.hash);
  });

  await test.step("text that is no constraint is refused in a sentence; text that is one is taken", async () => {
    await page.getByRole("button", { name: "Edit constraints" }).click();
    await editor.getByText("As YAML").click();
    const text = editor.getByRole("textbox");
    await text.fill("maxUsdPerDay: 3");
    await expect(editor.getByRole("alert")).toHaveText("maxUsdPerDay: there is no such field.");
    await expect(editor.getByRole("button", { name: "Use this text" })).toBeDisabled();
    // Each is feasible alone: the pinned replicas leave too few of five GPUs for the larger model.
    await text.fill(`pinned: [{ model: ${free.models[0]}, replicas: 4 }]\nmaxGpus: 5`);
    await editor.getByRole("button", { name: "Use this text" }).click();
    await expect(text).toHaveValue(/^pinned:\n {2}- model: .*\n {4}replicas: 4\nmaxGpus: 5\n$/);
    await page.keyboard.press("Escape");
  });

  await test.step("constraints that conflict are named, and one click makes room for a plan", async () => {
    const conflict = page.getByRole("list", { name: "Constraints that conflict" });
    // With fewer constraints there is a plan: a lower floor would suffice in place of one of the two.
    await expect(conflict.getByRole("listitem")).toHaveCount(3, { timeout: 60_000 });
    for (const demand of ["at least 4 of", "at most 5 GPUs", "a quality of at least 52"]) await expect(conflict).toContainText(demand);
    await conflict.getByRole("button", { name: /^Allow \d GPUs: / }).click();
    expect((await exactPlan(page)).models.length).toBeGreaterThan(0);
    await expect(chips.getByText("at most 5 GPUs")).toHaveCount(0);
    await expect(chips.getByText(/at least 4 of/)).toBeVisible();
  });

  await test.step("a model that answers is offered as no judge; where it is asked for all the same, one click gives it up", async () => {
    await page.getByRole("button", { name: "Edit constraints" }).click();
    const judges = await editor.getByLabel("Answers are judged by").getByRole("option").allInnerTexts();
    expect(judges.length).toBeGreaterThan(1);
    for (const model of free.models) expect(judges.join()).not.toContain(`${model},`);
    await page.keyboard.press("Escape");
    await page.goto(`${studio.url}/plan?policy=cascade&rate=20&floor=52&judge=${dropped}*400*20`);
    const waysOut = page.getByRole("list", { name: "Constraints you can drop" });
    await waysOut.getByRole("button", { name: `Drop: judged by ${dropped}` }).click({ timeout: 60_000 });
    expect((await exactPlan(page)).hash).toBe(free.hash);
  });

  await test.step("a solve is cancelled and asked for again", async () => {
    const rate = page.getByLabel("Requests per second");
    let asked = 37;
    // A fast machine may answer before the click arrives: then another request is sent.
    await expect(async () => {
      asked += 0.5;
      await rate.fill(`${asked}`);
      await page.getByRole("button", { name: "Cancel", exact: true }).first().click({ timeout: 5000 });
      await expect(page.getByText("Cancelled.")).toBeVisible({ timeout: 2000 });
    }).toPass({ timeout: 60_000 });
    await page.getByRole("button", { name: /^(Evaluate cascades|Solve)$/ }).click();
    expect((await exactPlan(page)).models.length).toBeGreaterThan(0);
  });

  await test.step("what would change the plan is worked out when asked", async () => {
    await page.getByRole("button", { name: "Compute" }).first().click();
    await expect(page.getByRole("table", { name: "What would change the latency" })).toContainText("GPU more", { timeout: 120_000 });
    await page.getByRole("checkbox", { name: /^Pin / }).first().check();
    await expect(page.getByTestId("compare-tray")).toBeVisible();
    await expect(page.getByRole("table", { name: "What would change the latency" })).toBeVisible();
    await expect(page.getByTestId("plan-hash")).toBeVisible();
  });

  expect(problems).toEqual([]);
});

/** Waits until the exact plan has replaced the estimate, and reads its hash and the models of its stages. */
async function exactPlan(page: Page): Promise<{ readonly hash: string; readonly models: readonly string[] }> {
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  const rows = page.getByRole("table", { name: "Predictions per stage" }).locator("tbody tr td:first-child");
  const models = (await rows.allInnerTexts()).map((text) => /^[A-H]\s+(\S+)/.exec(text.trim())?.[1] ?? text);
  return { hash: await page.getByTestId("plan-hash").innerText(), models };
}
