import AxeBuilder from "@axe-core/playwright";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "10" }, actionTimeout: 30_000 });

test("an operator gives the plan in force another order and place, reads what changes, and applies it without starting an engine", async ({
  page,
  studio,
}, info) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page, studio.signInLink);
  await page.goto(`${studio.url}/plan?policy=cascade&rate=4&floor=60`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180_000 });

  const order = page.getByTestId("order");
  let made = "";
  const form = page.getByRole("form", { name: "Order and place of a plan" });
  await test.step("the form says what each goes by, and why a pair makes no sense", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await expect(order).toContainText("first come, first served (FCFS)");
    await order.getByRole("button", { name: "Change order" }).click();
    await expect(form).toContainText("This is the plan's own order and place: choose another.");
    await expect(form.getByRole("button", { name: "Make the plan and review it" })).toBeDisabled();
    await form.getByLabel("Where to").selectOption("round-robin");
    await form.getByLabel("A program returns to its last replica").check();
    await expect(form.getByRole("status")).toContainText("Round-robin takes the replicas in turn, affinity sends a program back");
    await form.getByLabel("A program returns to its last replica").uncheck();
    await form.getByLabel("Order").selectOption("workflow");
    await form.getByLabel("Where to").selectOption("time-slots");
    await expect(form).toContainText("Clients name their agents.");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).include("[data-testid=order]").analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
      await order.screenshot({ path: info.outputPath(`order-${colorScheme}.png`) });
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 844 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await order.screenshot({ path: info.outputPath("order-narrow.png") });
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("the plan that it makes changes order and place, and no engine", async () => {
    await form.getByLabel("Name of the plan").fill("By workflow");
    await form.getByRole("button", { name: "Make the plan and review it" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    const diff = page.getByTestId("plan-diff");
    await expect(diff).toContainText("agent whose programs end soonest first (Kairos)");
    await expect(diff).toContainText("lowest peak of expected memory (Kairos)");
    await expect(diff).not.toContainText(/added|removed/);
    await expect(page.getByRole("region", { name: "Limits of these figures" })).toContainText("another order or place");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    made = (await page.getByTestId("plan-hash").innerText()).trim();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 60_000 });
  });

  await test.step("the gateway serves under it, and Live says so", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await expect(order).toContainText("agent whose programs end soonest first (Kairos)");
    const answer = await fetch(`${studio.gatewayUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-weir-agent": "writer", "x-session-id": "one" },
      body: JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "hello" }], max_tokens: 8 }),
    });
    await answer.text();
    expect([answer.status, answer.headers.get("x-weir-plan")]).toEqual([200, made]);
  });
  expect(problems).toEqual([]);
});
