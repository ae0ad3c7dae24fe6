import type { Page } from "@playwright/test";
import { approveAndApply, lookOver } from "./acts";
import { signIn } from "./asPage";
import { ask, attachEngines, startAttachedEngines } from "./attachedEngines";
import { expect, type RunningStudio, test } from "./fixtures";

test.use({ actionTimeout: 30_000 });

const [SMALL, LARGE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;

/** Signs in and attaches two engines that the studio did not start. */
async function attached(page: Page, studio: RunningStudio, engines: Awaited<ReturnType<typeof startAttachedEngines>>): Promise<string> {
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  return attachEngines(page, studio, engines, "attached");
}

/** Waits until the page shows the exact plan for the address. */
async function solved(page: Page): Promise<void> {
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
}

test("an operator of attached engines pins a model that no request visits, and the plan keeps its engine", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(400_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const engines = await startAttachedEngines();
  try {
    const clusterId = await attached(page, studio, engines);
    const chips = page.getByRole("list", { name: "Constraints", exact: true });
    const kept = page.getByText(`${SMALL} is pinned and keeps 1 × tp 1 without requests`);

    await test.step("without a pin, a plan of the larger model alone has no engine of the smaller", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&fixed=${LARGE}`);
      await solved(page);
      await expect(kept).toHaveCount(0);
    });

    await test.step("pinned, its engine is in the plan, and the page says that no request visits it", async () => {
      await page.getByRole("button", { name: "Edit constraints" }).click();
      const editor = page.getByRole("dialog", { name: "Constraints" });
      await expect(editor).toContainText("even if the model gets no requests");
      await editor.getByLabel(`Replicas of ${SMALL} at least`).fill("1");
      await editor.getByLabel(`Replicas of ${SMALL} at least`).press("Enter");
      await editor.getByRole("button", { name: "Done" }).click();
      await expect(chips.getByText(`at least 1 of ${SMALL}`)).toBeVisible();
      await expect(kept).toBeVisible({ timeout: 60_000 });
      await lookOver(page, info, "pinned");
    });

    await test.step("more than are attached are refused with how many there are", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&fixed=${LARGE}&constraints=pin*${SMALL}*2`);
      await expect(page.getByRole("region", { name: "No plan meets this" })).toContainText(
        `This cannot be kept: at least 2 of ${SMALL} (at most 1 can be had).`,
        { timeout: 60_000 },
      );
    });

    await test.step("the plan that keeps it is approved and applied, and no engine is started or stopped", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&fixed=${LARGE}&constraints=pin*${SMALL}*1`);
      await solved(page);
      await page
        .getByRole("button", { name: /^Review/ })
        .first()
        .click();
      await approveAndApply(page);
      expect(await engines.standing()).toBe(2);
    });
  } finally {
    await engines.stop();
  }
  expect(problems).toEqual([]);
});

test("where scores on attached engines are not as planned, Live names them as the cause, and no overload", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(500_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  // The workload has answers of the smaller model on both sides of the threshold; here every answer is judged below it.
  const engines = await startAttachedEngines({
    [SMALL]: { outputTokens: 20, label: 20, judged: 20 },
    [LARGE]: { outputTokens: 20, label: 80, judged: 80 },
  });
  try {
    const clusterId = await attached(page, studio, engines);
    await page.goto(`${studio.url}/clusters`);
    const baseUrl = /base_url=(\S+)/.exec(await page.getByRole("article", { name: "attached" }).innerText())?.[1] ?? "";

    await test.step("a cascade is planned and applied", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&fixed=${SMALL}@50~${LARGE}`);
      await solved(page);
      await page
        .getByRole("button", { name: /^Review/ })
        .first()
        .click();
      await approveAndApply(page);
      await expect.poll(() => ask(baseUrl), { timeout: 30_000 }).toBe(200);
    });

    await test.step("requests are answered, and the cause is read on Live", async () => {
      await page.goto(`${studio.url}/live?cluster=${clusterId}`);
      const causes = page.getByTestId("causes");
      const share = causes.getByRole("listitem").filter({ hasText: `Share reaching ${LARGE}` });
      // Sends as many requests as the verdict on a share needs, a few at a time, until the page shows the verdict.
      await expect
        .poll(
          async () => {
            await Promise.all(Array.from({ length: 8 }, () => ask(baseUrl)));
            return (await share.count()) === 0 ? "" : share.innerText();
          },
          { timeout: 240_000, intervals: [500] },
        )
        .toMatch(/With the scores as measured the plan predicts 100 %: they explain it\./);
      await expect(causes).not.toContainText(/is overloaded|could not be put in place/);
      await lookOver(page, info, "cause");
    });
  } finally {
    await engines.stop();
  }
  expect(problems).toEqual([]);
});

/** The cascade that the address has chosen; null: none. */
const chosen = (page: Page): string | null => new URL(page.url()).searchParams.get("fixed");

test("an operator of attached engines chooses a cascade that lost, then a point of the frontier, then composes one, and applies it", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(400_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const engines = await startAttachedEngines();
  try {
    const clusterId = await attached(page, studio, engines);
    await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&floor=30&policy=cascade`);
    const hash = page.getByTestId("plan-hash");
    await expect(hash).toBeVisible({ timeout: 60_000 });
    const recommended = await hash.innerText();
    const stages = page.getByRole("table", { name: "Predictions per stage" }).locator("tbody tr");
    const pressed = page.getByRole("list", { name: "Stages", exact: true }).getByRole("button", { pressed: true });
    const back = page.getByRole("button", { name: "Return to the recommendation" });

    await test.step("one of two models that lost is a button: it is planned with its stages and thresholds", async () => {
      await page.getByText(/rejected cascades?$/).click();
      await page.getByRole("list", { name: "Other cascades" }).getByRole("button", { name: /→/ }).click();
      await expect.poll(() => chosen(page)).toMatch(/^qwen2\.5-3b@\d+~qwen2\.5-7b$/);
      await expect(pressed).toHaveCount(2);
      await expect(page.getByTestId("choice-verdict")).toContainText("against the recommendation, by the tables.");
      await expect(hash).toBeVisible({ timeout: 60_000 });
      expect(await hash.innerText()).not.toBe(recommended);
      await expect(stages).toHaveCount(2);
      const threshold = await page.getByRole("spinbutton", { name: "Accept qwen2.5-3b from" }).inputValue();
      await expect(page.getByRole("list", { name: "Cascade", exact: true })).toContainText(`score < ${threshold}`);
      await lookOver(page, info, "lost");
    });

    await test.step("the back button takes the choice back", async () => {
      await page.goBack();
      await expect(page).not.toHaveURL(/fixed=/);
      await expect(hash).toHaveText(recommended, { timeout: 60_000 });
    });

    await test.step("a point of the frontier is chosen by keyboard, by its row and by the pointer", async () => {
      const chart = page.getByRole("group", { name: "Frontier chart" });
      await chart.focus();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Enter");
      await expect(page).toHaveURL(/fixed=/);
      expect(chosen(page)).not.toBeNull();
      await expect(hash).toBeVisible({ timeout: 60_000 });
      await back.click();
      await expect(page).not.toHaveURL(/fixed=/);
      const rows = page.getByRole("table", { name: "Plans on the frontier" });
      await rows.getByRole("button", { name: /^qwen2\.5-7b.*one model alone/ }).click();
      await expect.poll(() => chosen(page)).toBe("qwen2.5-7b");
      await back.click();
      await expect(page).not.toHaveURL(/fixed=/);
      const points = page.getByTestId("frontier-chart").locator('circle[r="3.5"]');
      await points.last().scrollIntoViewIfNeeded();
      const box = await points.last().boundingBox();
      if (box === null) throw new Error("There is no point on the chart.");
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await expect(page).toHaveURL(/fixed=/);
      expect(chosen(page)).not.toBeNull();
      await expect(page.getByTestId("frontier-chart")).toContainText("your choice");
      await back.click();
      await expect(page).not.toHaveURL(/fixed=/);
      await expect(hash).toHaveText(recommended, { timeout: 60_000 });
    });

    await test.step("what has no engine here is no stage: a sentence says so and nothing is lost", async () => {
      const before = page.url();
      await page
        .getByRole("list", { name: "Stages", exact: true })
        .getByRole("button", { name: /qwen2\.5-(14|32)b/ })
        .first()
        // Marked as disabled; a click shows the reason.
        .click({ force: true });
      await expect(page.getByRole("status").filter({ hasText: /^No engine of qwen2\.5-\d+b is attached to attached/ })).toBeVisible();
      expect(page.url()).toBe(before);
      await expect(hash).toHaveText(recommended);
    });

    await test.step("a cascade is composed of stages and a threshold; each step answers at once", async () => {
      for (const model of ["qwen2.5-3b", "qwen2.5-7b"]) {
        const stage = page.getByRole("list", { name: "Stages", exact: true }).getByRole("button", { name: model });
        if ((await stage.getAttribute("aria-pressed")) === "false") await stage.click();
      }
      await expect(pressed).toHaveCount(2);
      const threshold = page.getByRole("slider", { name: "Accept qwen2.5-3b from" });
      await threshold.focus();
      for (let step = 0; step < 12; step += 1) await page.keyboard.press("ArrowRight");
      const set = await page.getByRole("spinbutton", { name: "Accept qwen2.5-3b from" }).inputValue();
      await expect.poll(() => chosen(page)).toBe(`qwen2.5-3b@${set}~qwen2.5-7b`);
      await expect(page.getByTestId("figure-quality")).toHaveText(/\d/);
      await expect(hash).toBeVisible({ timeout: 60_000 });
      await expect(page.getByRole("list", { name: "Cascade", exact: true })).toContainText(`score < ${set}`);
    });

    await test.step("a threshold that lets no answer through is refused in a sentence, and mended by the back button", async () => {
      const composed = page.url();
      // Later than the interval within which changes are one history step.
      await page.waitForTimeout(1_100);
      await page.getByRole("spinbutton", { name: "Accept qwen2.5-3b from" }).fill("0");
      await expect(page.getByText("This cascade cannot be planned")).toBeVisible();
      await expect(page.getByText(/so no request reaches qwen2\.5-7b: raise the threshold/)).toBeVisible();
      await page.goBack();
      await expect(page).toHaveURL(composed);
      await expect(hash).toBeVisible({ timeout: 60_000 });
    });

    await test.step("it is reviewed, approved and applied like any other plan", async () => {
      const sealed = await hash.innerText();
      await page.getByRole("button", { name: "Review and apply" }).click();
      await approveAndApply(page);
      await expect(page.getByRole("banner")).toContainText(`runs ${sealed}`);
    });
  } finally {
    await engines.stop();
  }
  expect(problems).toEqual([]);
});
