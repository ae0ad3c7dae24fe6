import { accessible, lookOver } from "./acts";
import { signIn } from "./asPage";
import { dragThumb, stepTimes } from "./dragSteps";
import { expect, test } from "./fixtures";

/** A search plans about ten times. */
const SEARCH = { timeout: 120_000 };

test("an operator asks for the highest rate, drags its budget, cancels a search, and takes the plan to its approval", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(600_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const answer = page.getByRole("region", { name: "Highest rate" });
  const value = page.getByTestId("highest-rate-value");
  const now = page.getByTestId("highest-rate-now");
  const hash = page.getByTestId("plan-hash");
  const budget = page.getByRole("spinbutton", { name: "Latency budget" });
  const rate = async () => Number.parseFloat((await value.innerText()).replaceAll(",", ""));
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);

  await test.step("choose the objective: the address has it with a budget, and the answer has rate, p95 band and next limit", async () => {
    await page.goto(`${studio.url}/plan?rate=5&floor=55&policy=cascade`);
    await expect(hash).toBeVisible(SEARCH);
    await page.getByLabel("Objective").selectOption({ label: "Highest rate" });
    await expect(page).toHaveURL(/objective=highest-rate/);
    await expect(page).toHaveURL(/budget=[\d.]+/);
    await expect(value).toBeVisible(SEARCH);
    await expect(answer).toContainText(/p95 [\d.]+\s\S+, .* to .* at \d+\s%/);
    await expect(answer).toContainText(/[\d.,]+\/s is stopped by [a-z ]+\./);
    await expect(page.getByTestId("figure-rate")).toHaveText(await value.innerText());
    await expect(page.getByTestId("frontier-rate")).toContainText(await value.innerText());
    await expect(page.getByLabel("First rate of the search")).toHaveValue("5");
  });

  const first = await rate();

  await test.step("drag the budget: the tables answer while the thumb is held, and the search follows on release", async () => {
    const drag = await dragThumb(page, page.getByRole("slider", { name: "Latency budget" }), { by: 40, steps: 16, read: answer });
    console.log(`latency budget: ${stepTimes(drag)}`);
    expect(drag.texts.some((text) => /earlier settings/.test(text) && /by the tables/.test(text))).toBe(true);
    await expect(now).toBeHidden(SEARCH);
    expect(await rate()).toBeGreaterThan(first);
  });

  await test.step("the address alone gives the same answer", async () => {
    const before = [await value.innerText(), await hash.innerText()];
    await page.reload();
    await expect(hash).toBeVisible(SEARCH);
    await expect(value).toBeVisible(SEARCH);
    expect([await value.innerText(), await hash.innerText()]).toEqual(before);
  });

  await test.step("change the budget by keyboard, cancel its search and search again", async () => {
    const tight = Number(await budget.inputValue()) / 2;
    await budget.fill(String(tight));
    await budget.press("Enter");
    await expect(answer.getByText(/Rate \d+: planning at/)).toBeVisible(SEARCH);
    await answer.getByRole("button", { name: "Cancel" }).click();
    await expect(answer).toContainText("Cancelled.");
    await expect(answer).toContainText("earlier settings");
    await answer.getByRole("button", { name: "Search again" }).click();
    await expect(now).toBeHidden(SEARCH);
    await expect(hash).toBeVisible(SEARCH);
    await lookOver(page, info, "found");
  });

  await test.step("a floor out of reach has no rate: the way out brings one back", async () => {
    const floor = page.getByRole("spinbutton", { name: "Quality floor" });
    await floor.fill("100");
    await floor.press("Enter");
    await expect(answer).toContainText("No rate that was tried has a plan.", SEARCH);
    await accessible(page);
    await page.getByRole("button", { name: /Lower the floor to/ }).click();
    await expect(floor).not.toHaveValue("100");
    await expect(answer).not.toContainText("No rate that was tried has a plan.", SEARCH);
    await floor.fill("55");
    await floor.press("Enter");
    await expect(now).toBeHidden(SEARCH);
    await expect(hash).toBeVisible(SEARCH);
  });

  await test.step("an address without a budget says what is missing", async () => {
    const address = page.url();
    await page.goto(address.replace(/budget=[\d.]+&?/, ""));
    await expect(answer).toContainText("Set a latency budget above");
    await expect(page.getByText("No latency budget", { exact: true })).toBeVisible();
    await page.goto(address);
    await expect(hash).toBeVisible(SEARCH);
  });

  await test.step("review the plan and approve it by its hash", async () => {
    await page.getByRole("button", { name: "Review and apply" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await expect(page.getByRole("button", { name: "Apply", exact: true })).toBeEnabled();
  });
  expect(problems).toEqual([]);
});
