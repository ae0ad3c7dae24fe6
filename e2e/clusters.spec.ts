import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { signIn } from "./asPage";
import { ask, startAttachedEngines } from "./attachedEngines";
import { expect, test } from "./fixtures";

/** Folder of the screenshots, next to the report; undefined: none are taken. */
const shots = process.env.WEIR_SHOTS;

test.use({ actionTimeout: 30_000 });

test("an operator pastes URLs, watches live within a minute, plans and applies, loses an engine, and lets go", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(600_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const show = async (name: string) => {
    const body = await page.screenshot({ fullPage: true, ...(shots === undefined ? {} : { path: join(shots, `${name}.png`) }) });
    await info.attach(name, { body, contentType: "image/png" });
  };
  const everyLook = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [width, size] of [
        [1440, "wide"],
        [360, "narrow"],
      ] as const) {
        await page.setViewportSize({ width, height: 960 });
        await accessible(page, `${name}, ${colorScheme}, ${size}`);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), `${name} is no wider than the window`).toBeLessThanOrEqual(
          width,
        );
        await show(`${name}-${colorScheme}-${size}`);
      }
    }
    await page.setViewportSize({ width: 1440, height: 960 });
    await page.emulateMedia({ colorScheme: "light" });
  };
  const engines = await startAttachedEngines();
  try {
    await signIn(page, studio.signInLink);
    await expect(page).toHaveURL(/\/plan/);

    const began = Date.now();
    await test.step("the first page leads to where engines are attached", async () => {
      await page.getByRole("link", { name: "Attach my engines" }).click();
      await expect(page).toHaveURL(/\/clusters\?attach=endpoints/);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Attach a cluster");
    });

    const paste = page.getByLabel(/Addresses of engines that already run/);
    await test.step("what is pasted is tried as it stands: engines are known, a closed port and what is no engine are told and left out", async () => {
      await paste.fill(
        [
          `${engines.urls[0]}/v1  # small`,
          `curl -H 'Authorization: Bearer sk-not-to-be-kept' ${engines.urls[1]}/v1/models`,
          engines.closedUrl,
          engines.adminUrl,
        ].join("\n"),
      );
      const row = (url: string | undefined) => page.getByRole("listitem", { name: url ?? "", exact: true });
      await expect(row(engines.urls[0])).toContainText("ready");
      await expect(row(engines.urls[1])).toContainText("ready");
      await expect(row(engines.urls[0])).toContainText("weir-emulator");
      await expect(row(engines.urls[0])).toContainText("An engine does not tell its GPUs.");
      await expect(row(engines.closedUrl)).toContainText("left out");
      await expect(row(engines.closedUrl)).toContainText("failed");
      await expect(row(engines.adminUrl)).toContainText("left out");
      await expect(page.getByText("Line 2 holds a key, which was left out")).toBeVisible();
      await expect(page.getByText("2 engines of 4 will be attached, 2 left out.").first()).toBeVisible();
      await page.getByRole("button", { name: "Test with one token each" }).click();
      await expect(row(engines.urls[0])).toContainText(/token.* s\b|token.*ms/);
      await expect(page.getByText("2 engines of 4 will be attached, 2 left out.").first()).toBeVisible();
    });

    await test.step("what is guessed is set right for all at once, and confirmed", async () => {
      await page.getByLabel("GPU type of all engines").selectOption("l40s");
      await page.getByLabel(/^The guessed values are right/).check();
      await page.getByText("Judge and GPU metrics").click();
      await page.getByLabel("Judge's address").fill(engines.judge.url);
      await page.getByLabel("Judge's model name").fill(engines.judge.model);
      await page.getByLabel("Name", { exact: true }).fill("prod");
    });

    await test.step("attached, it is live within a minute of the first click", async () => {
      await page.getByRole("button", { name: "Attach and watch live" }).click();
      await expect(page).toHaveURL(/\/live\?cluster=[0-9a-f-]{36}/, { timeout: 30_000 });
      await expect(page.getByRole("table", { name: "Engines" }).locator("tbody tr")).toHaveCount(2, { timeout: 30_000 });
      const seconds = (Date.now() - began) / 1000;
      console.log(`from the first click to live figures: ${seconds.toFixed(1)} s`);
      expect(seconds).toBeLessThan(60);
    });
    const clusterId = new URL(page.url()).searchParams.get("cluster") ?? "";

    await test.step("its own address shows it whole, and one of a cluster that is not there says so", async () => {
      await page.goto(`${studio.url}/clusters/${clusterId}`);
      await expect(page).toHaveURL(new RegExp(`/clusters\\?show=${clusterId}`));
      await expect(page.getByRole("table", { name: "Nodes" })).toBeVisible();
      await page.goto(`${studio.url}/clusters/none-such`);
      await expect(page.getByText("There is no cluster none-such: these are all.")).toBeVisible();
    });

    await test.step("pages whose address names no cluster speak of the attached engines, and say so", async () => {
      const chosen = page.getByRole("banner").getByRole("combobox");
      for (const path of ["/live", "/plan", "/history"]) {
        await page.goto(`${studio.url}${path}`);
        await expect(page).toHaveURL(new RegExp(`cluster=${clusterId}`));
        await expect(chosen).toHaveValue(clusterId);
      }
      await chosen.selectOption("embedded");
      await expect(page.getByText("These figures are emulated; your engines are in prod.")).toBeVisible();
      await show("emulated-beside-real");
      // The last displayed cluster stays, and is still marked as emulated.
      await page.goto(`${studio.url}/live`);
      await expect(chosen).toHaveValue("embedded");
      await page.getByRole("button", { name: "prod", exact: true }).click();
      await expect(chosen).toHaveValue(clusterId);
      await page.goto(`${studio.url}/live`);
      await expect(chosen).toHaveValue(clusterId);
    });

    await test.step("the card has both clusters, the gateway's address, and what was attached", async () => {
      await page.getByRole("link", { name: "Clusters" }).click();
      const card = page.getByRole("article", { name: "prod" });
      await expect(card).toContainText(/1 × qwen2\.5-3b.*1 × qwen2\.5-7b/, { timeout: 30_000 });
      await expect(card).toContainText("2 of 2 l40s used");
      await expect(card).toContainText(/base_url=http:\/\/127\.0\.0\.1:\d+\/v1/);
      await expect(page.getByRole("article")).toHaveCount(2);
      await card.getByRole("button", { name: "Test the connection of prod" }).click();
      await expect(card.getByRole("list", { name: "What testing prod found" })).toBeVisible();
      await everyLook("clusters");
    });
    const baseUrl = /base_url=(\S+)/.exec(await page.getByRole("article", { name: "prod" }).innerText())?.[1] ?? "";

    await test.step("its page has engines, nodes and the connection, without the key that was pasted", async () => {
      await page.getByRole("button", { name: "Details of prod" }).click();
      await expect(page).toHaveURL(/show=/);
      await expect(page.getByRole("table", { name: "Engines" }).locator("tbody tr")).toHaveCount(2);
      await expect(page.getByRole("table", { name: "Nodes" }).locator("tbody tr")).toHaveCount(2);
      await expect(page.getByText("start or stop none")).toBeVisible();
      await expect(page.locator("pre")).toContainText("kind: endpoints");
      expect(await page.content()).not.toContain("sk-not-to-be-kept");
      await page
        .getByRole("button", { name: /^Log of / })
        .first()
        .click();
      await expect(page.getByRole("dialog")).toContainText("Weir does not start its engines");
      await page.keyboard.press("Escape");
      await page.reload();
      await expect(page.getByRole("table", { name: "Engines" })).toBeVisible();
    });

    await test.step("plan for it: the topology stays as it is; approve, apply, and a client is answered", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&floor=30&policy=cascade`);
      await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
      await page
        .getByRole("button", { name: /^Review/ })
        .first()
        .click();
      await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
      await expect(page.getByText(/^Only the routing changes/)).toBeVisible();
      await expect(page.getByText("Spare GPUs")).toHaveCount(0);
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      await page.getByRole("button", { name: "Apply", exact: true }).click();
      await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 120_000 });
      await expect.poll(() => ask(baseUrl), { timeout: 30_000 }).toBe(200);
      expect(await engines.standing()).toBe(2);
    });

    await test.step("an engine is killed: the page says so", async () => {
      await engines.killOne();
      await page.goto(`${studio.url}/clusters?show=${clusterId}`);
      await expect(page.getByTestId("attention")).toContainText(/has not answered|nothing to|is gone/, { timeout: 60_000 });
      await everyLook("details");
      await page.getByRole("button", { name: "All clusters" }).click();
      await expect(page.getByRole("article", { name: "prod" }).getByTestId("attention")).toBeVisible();
    });

    await test.step("detached, once its name is typed, it stays as a description, and its engines run on", async () => {
      await page.getByRole("button", { name: "Details of prod" }).click();
      await page.getByRole("button", { name: "Detach", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await expect(dialog).toContainText("they are managed outside Weir");
      await expect(dialog.getByRole("button", { name: "Detach cluster" })).toBeDisabled();
      await dialog.getByLabel("Type its name, prod").fill("prod");
      await show("detach");
      await dialog.getByRole("button", { name: "Detach cluster" }).click();
      const card = page.getByRole("article", { name: "prod" });
      await expect(card).toContainText("not connected");
      await expect(card.getByRole("button", { name: /Details/ })).toHaveCount(0);
      expect(await engines.standing()).toBe(1);
      await expect.poll(() => ask(baseUrl), { timeout: 30_000 }).toBe(0);
    });

    await test.step("every other way to attach is tried before anything is kept, and no look of any breaks a rule", async () => {
      await page.goto(`${studio.url}/clusters?attach=kubernetes`);
      await expect(page.getByRole("button", { name: "Attach and watch live" })).toBeDisabled();
      await page.getByRole("button", { name: "Try connection" }).click();
      await expect(page.getByRole("list", { name: "What was found" })).toContainText("failed", { timeout: 30_000 });
      await expect(page.getByText("Try the connection first")).toBeVisible();
      await everyLook("attach-kubernetes");
      await page.getByRole("button", { name: "Engines that run" }).click();
      await paste.fill(`${engines.urls[1]}\n${engines.closedUrl}`);
      await expect(page.getByText("1 engine of 2 will be attached, 1 left out.").first()).toBeVisible();
      await everyLook("attach-endpoints");
      await paste.fill("not an address at all");
      await expect(page.getByRole("alert").filter({ hasText: "Line 1" })).toBeVisible();
    });
    expect(problems).toEqual([]);
  } finally {
    await engines.stop();
  }
});

async function accessible(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes[0]?.html}`)).toEqual([]);
}
