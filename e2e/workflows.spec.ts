import { accessible, approveAndApply } from "./acts";
import { runApplications } from "./agentTraffic";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "10" }, actionTimeout: 30_000 });

test("applications that name their agents are learnt without configuration: graphs, the line, latencies, memory over time, who waited, until they are forgotten", async ({
  page,
  studio,
}, info) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const { gatewayUrl } = studio;
  const graph = page.getByTestId("call-graph");
  const edges = page.getByRole("table", { name: /Which agent's calls follow/ });
  const agentNames = () => graph.getByRole("button").locator("span:first-child").allInnerTexts();

  await test.step("before any call the page says what makes it begin, and offers what to copy", async () => {
    await signIn(page, studio.signInLink);
    await page.getByRole("link", { name: "Workflows" }).click();
    await expect(page).toHaveURL(/\/workflows/);
    await expect(page.getByText("No call yet")).toBeVisible();
    await expect(page.getByRole("table", { name: "Headers of a call" })).toContainText("x-weir-parents");
    await expect(page.getByRole("button", { name: "Copy weirAgents.ts" })).toBeVisible();
    await page.getByRole("navigation", { name: "Language" }).getByRole("button", { name: "Python" }).click();
    await expect(page).toHaveURL(/snippet=python/);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toBe("weir_agents.py");
    await accessible(page);
  });

  await test.step("a plan is in force, and three applications call its gateway", async () => {
    await page.goto(`${studio.url}/plan?policy=cascade&rate=4&floor=60`);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await approveAndApply(page);
    await runApplications({ gatewayUrl, runs: 9, id: "first" });
  });

  await test.step("their graphs are there: calls side by side, a join, a choice and a loop", async () => {
    await page.getByRole("link", { name: "Workflows" }).click();
    await expect(page.getByTestId("workflows-figures")).toContainText("of 3 applications");
    await expect(page.getByTestId("workflows-figures")).toContainText("all calls do");
    await expect(page.getByText("only observed")).toBeVisible();
    const application = page.getByLabel("Application", { exact: true });
    await application.selectOption("report");
    // A program has ended when no call of it arrived for a while.
    await expect(application.locator("option:checked")).toHaveText("report (9 programs)", { timeout: 30_000 });
    await expect.poll(agentNames).toEqual(["planner", expect.any(String), expect.any(String), expect.any(String), "writer"]);
    for (const agent of ["searcher", "reader", "statistician"]) {
      const row = (from: string, to: string) => edges.getByRole("row").filter({ hasText: new RegExp(`${from}.*${to}`) });
      await expect(row("planner", agent)).toContainText("side by side");
      await expect(row(agent, "writer")).toContainText("reads other answers too");
    }
    await application.selectOption("code");
    await expect.poll(agentNames).toEqual(["coder", "reviewer"]);
    await expect(edges.getByRole("row").filter({ hasText: /^reviewer/ })).toContainText("loops back to an earlier agent");
    await application.selectOption("qa-router");
    await expect(edges.getByRole("row").filter({ hasText: /^router/ })).toHaveCount(2);
    await expect(page).toHaveURL(/app=qa-router/);
  });

  await test.step("an agent that is chosen on the line shows its latencies, and its graph; a copied link shows the same", async () => {
    const line = page.getByTestId("agent-line");
    await expect(line.getByRole("button")).toHaveCount(10);
    await line.getByRole("button", { name: /^writer of report/ }).click();
    await expect(page).toHaveURL(/agent=report%2Fwriter/);
    await expect(graph.getByRole("button", { name: /^writer/ })).toHaveAttribute("aria-pressed", "true");
    await page.reload();
    const latencies = page.getByRole("region", { name: "writer of report" });
    await expect(latencies.getByTestId("distributions")).toContainText("9 observations");
    await expect(latencies.getByRole("heading", { name: /To the end of the program/ })).toContainText(/learning|converged/);
    await expect(latencies).toContainText(/median [\d.]+/);
    await expect(page.getByRole("region", { name: "Memory over time" })).toContainText("does not pack memory");
    await expect(page.getByTestId("waited")).toContainText(/newest \d+ requests/);
  });

  await test.step("a plan of the order and place that go by it says so, and shows expected memory", async () => {
    await page.getByRole("link", { name: "Choose another order on Live" }).click();
    await page.getByTestId("order").getByRole("button", { name: "Change order" }).click();
    const form = page.getByRole("form", { name: "Order and place of a plan" });
    await form.getByLabel("Order").selectOption("workflow");
    await form.getByLabel("Where to").selectOption("time-slots");
    await form.getByRole("button", { name: "Make the plan and review it" }).click();
    await approveAndApply(page);
    await page.getByRole("link", { name: "Workflows" }).click();
    await expect(page.getByText(/in use$/)).toBeVisible();
    const replica = page.getByRole("list", { name: "Replicas" }).getByRole("listitem").first();
    const traffic = runApplications({ gatewayUrl, runs: 12, id: "second" });
    await expect(replica).toContainText(/at most [\d,]+ tokens expected/);
    await replica.getByRole("button", { name: "Show requests" }).click();
    await expect(replica).toContainText(/of (report|code|qa-router): \d+ request|No requests now/);
    await traffic;
  });

  await test.step("no state breaks an accessibility rule, in light or dark, wide or narrow", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await page.screenshot({ path: info.outputPath(`workflows-${colorScheme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await accessible(page);
    await page.screenshot({ path: info.outputPath("workflows-narrow.png"), fullPage: true });
    const refused = { result: { data: { ok: false, message: "The gateway says nothing." } } };
    await page.route(/workflows\.get/, (route) => route.fulfill({ json: refused }));
    await expect(page.getByText(/^Stale:.* old\.$/)).toBeVisible();
    await accessible(page);
    await page.unroute(/workflows\.get/);
    await expect(page.getByText(/^Stale:/)).toHaveCount(0);
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("it is forgotten after asking, and the audit says by whom", async () => {
    await page.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("dialog").getByLabel("Reason (optional)").fill("other applications");
    await page.getByRole("dialog").getByRole("button", { name: "Forget it" }).click();
    await expect(page.getByText("No call yet")).toBeVisible();
    await page.goto(`${studio.url}/history`);
    await expect(page.getByText("order forgetting of workflows").first()).toBeVisible();
  });
  expect(problems).toEqual([]);
});
