import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

async function accessible(page: Page, place: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    place,
  ).toEqual([]);
}

const digestOf = (page: Page) => page.getByTestId("lab-digest").getAttribute("data-digest");

test("an operator races the suggested systems, reads their figures, and the link of the race gives the same figures again", async ({
  page,
  studio,
}) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await test.step("signing in leads to the page that was asked for before", async () => {
    await page.goto(`${studio.url}/lab?correlation=none`);
    await expect(page.getByRole("heading", { name: "Sign in to Weir" })).toBeVisible();
    await signIn(page, studio.signInLink);
    await expect(page).toHaveURL(`${studio.url}/lab?correlation=none`);
  });
  await page.getByRole("link", { name: "Lab" }).click();

  await test.step("a race is suggested, and made smaller", async () => {
    await expect(page.getByTestId("lab-size")).toContainText("cells", { timeout: 30_000 });
    await page.getByLabel("Programs of each rate and seed").fill("5");
    await expect(page.getByText("A whole number from 20 to 100,000")).toBeVisible();
    await expect(page.getByRole("button", { name: "Run the race" })).toBeDisabled();
    await page.getByLabel("Programs of each rate and seed").fill("40");
    await expect(page.getByRole("button", { name: "Run the race" })).toBeEnabled();
    await page.getByLabel("Seeds", { exact: true }).fill("2");
    await page.getByRole("button", { name: "Leave out rate 3" }).click();
    await expect(page.getByTestId("lab-size")).toContainText("2 rates × 2 seeds");
    await expect(page.getByText("40 programs have at most about 40 requests under way")).toBeVisible();
    const engines = page.locator("summary").filter({ hasText: /^Engines/ });
    await engines.click();
    const atOnce = page.getByLabel("Requests at once").first();
    await atOnce.fill("8");
    await expect(engines).toContainText("8 requests at once");
    await atOnce.fill("256");
    await expect(engines).not.toContainText("requests at once");
    await expect(page).toHaveURL(/spec=/);
    await accessible(page, "description");
  });

  await test.step("a combination in which lengths come from nowhere is refused where it is made", async () => {
    await page.locator("summary", { hasText: "Compose a system" }).click();
    const form = page.getByRole("form", { name: "System of your own" });
    await form.getByLabel("Route: which model").selectOption("balanced");
    await form.getByLabel("Confidence from").selectOption("none");
    await form.getByLabel("Lengths from").selectOption("none");
    await expect(page.getByTestId("system-refusal")).toContainText("say where lengths come from");
    await expect(form.getByRole("button", { name: "Add this system" })).toBeDisabled();
    await form.getByLabel("Lengths from").selectOption("input");
    await form.getByLabel("Name of the system").fill("shortest prompts first");
    await form.getByRole("button", { name: "Add this system" }).click();
    await expect(page.getByRole("list", { name: "Systems of your own" })).toContainText("shortest prompts first");
    await expect(page.getByTestId("system-refusal")).toContainText("in the race already, as shortest prompts first");
  });

  const systems = await page.getByRole("list", { name: "Systems", exact: true }).getByRole("checkbox", { checked: true }).count();
  // Drawn once they are selected: they are far off.
  const alone = await page
    .getByRole("list", { name: "Systems", exact: true })
    .getByRole("checkbox", { name: /( alone|oracle router)$/ })
    .count();
  const digest =
    await test.step("it is run, and every system has its figures, and every one that chooses its place on the frontier", async () => {
      await page.getByRole("button", { name: "Run the race" }).click();
      await expect(page.getByTestId("lab-state")).toContainText("done", { timeout: 60_000 });
      await expect(page.getByTestId("lab-table").getByRole("row")).toHaveCount(systems + 2);
      await expect(page.getByTestId("lab-frontier").locator("[data-point]")).toHaveCount(systems + 1 - alone);
      await expect(page.getByTestId("lab-table")).toContainText("best");
      await expect(page.getByRole("region", { name: "Limits of these figures" })).toContainText("modelled");
      const light = await digestOf(page);
      expect(light).toMatch(/^[0-9a-f]{64}$/);
      await accessible(page, "figures");
      return light;
    });
  const link = page.url();

  await test.step("the table sorts, and what is chosen survives a reload", async () => {
    await page.getByTestId("lab-table").getByRole("button", { name: "Mean latency" }).click();
    await page.getByLabel("At the rate").selectOption({ index: 0 });
    await page.getByLabel("Latency in charts").selectOption("per-token");
    const first = page.getByTestId("lab-table").getByRole("row").nth(1);
    const fastest = await first.innerText();
    await page.reload();
    await expect(page.getByTestId("lab-table").getByRole("columnheader", { name: "Mean latency" })).toHaveAttribute(
      "aria-sort",
      "ascending",
    );
    await expect(first).toHaveText(fastest, { useInnerText: true });
    await expect(page.getByTestId("lab-frontier")).toContainText("per output token");
    expect(await digestOf(page)).toBe(digest);
  });

  await test.step("in the dark and on a narrow window it reads as well", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await accessible(page, "figures, dark");
    await page.setViewportSize({ width: 390, height: 844 });
    const wider = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await wider()).toBe(0);
    await page.getByRole("button", { name: "Change the description" }).click();
    await expect(page.getByRole("button", { name: "Run the race" })).toBeVisible();
    for (const fold of await page.locator("summary").all()) await fold.click();
    expect(await wider()).toBe(0);
    await accessible(page, "description, dark and narrow");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("opened from the list of runs, its address describes it too", async () => {
    await page.goto(`${studio.url}/lab?tab=runs`);
    await page.getByRole("table", { name: "Runs of the lab" }).getByRole("link").first().click();
    await expect(page).toHaveURL(/run=[0-9a-f]{64}.*spec=/);
  });

  await test.step("forgotten, its link describes it, and running it again gives the same digest", async () => {
    await page.goto(`${studio.url}/lab?tab=runs`);
    await page.getByRole("button", { name: /^Remove run/ }).click();
    await page.getByRole("button", { name: "Remove run", exact: true }).click();
    await expect(page.getByText("No run yet")).toBeVisible();
    await page.goto(`${studio.url}/lab?workload=nonesuch`);
    await expect(page.getByText("The workload in this address is not stored here")).toBeVisible();
    const fresh = await page.context().newPage();
    await fresh.goto(link);
    await expect(fresh.getByText("The run of this link is not stored here")).toBeVisible();
    await fresh.getByRole("button", { name: "Run the race" }).click();
    await expect(fresh.getByTestId("lab-state")).toContainText("done", { timeout: 60_000 });
    expect(await digestOf(fresh)).toBe(digest);
    await fresh.close();
  });

  await test.step("a long race is cancelled, and may go on", async () => {
    await page.goto(link);
    await page.getByRole("button", { name: "Change the description" }).click();
    await page.getByLabel("Programs of each rate and seed").fill("20000");
    await page.getByRole("button", { name: "Run the race" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect(page.getByTestId("lab-state")).toContainText("cancelled");
    await expect(page.getByRole("button", { name: /^(Resume|Start over)$/ })).toBeVisible();
    await page.getByRole("button", { name: "Runs", exact: true }).click();
    await expect(page.getByRole("table", { name: "Runs of the lab" }).getByRole("row")).toHaveCount(3);
    await accessible(page, "runs");
  });
  expect(problems).toEqual([]);
});
