import type { WorkflowRun, WorkflowRunEvent } from "@/server/contracts/gateway/workflowRuns";
import { accessible, approveAndApply } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "10" }, actionTimeout: 30_000 });

/** In the format of `graph.get_graph().to_json()`, and a name. */
const graph = {
  name: "votes",
  nodes: ["__start__", "plan", "voter one", "voter two", "tally", "__end__"].map((id) => ({ id, type: "runnable", data: { name: id } })),
  edges: [
    ["__start__", "plan"],
    ["plan", "voter one"],
    ["plan", "voter two"],
    ["voter one", "tally"],
    ["voter two", "tally"],
    ["tally", "__end__"],
  ].map(([source, target]) => ({ source, target })),
};
const agents = ["plan", "voter-one", "voter-two", "tally"];

test("an operator imports a graph, trains a predictor of it, puts a plan into force that chooses its models just in time, runs it and sees what was decided", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(420_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const { gatewayUrl } = studio;
  let models: readonly string[] = [];

  await test.step("a plan of several models is in force", async () => {
    await signIn(page, studio.signInLink);
    await page.goto(`${studio.url}/plan?policy=cascade&rate=20&floor=60`);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await approveAndApply(page);
    models = await modelsOf(gatewayUrl);
    expect(models.length).toBeGreaterThan(1);
  });

  await test.step("a graph of LangGraph is drawn with what was assumed, and kept as a workflow", async () => {
    await page.goto(`${studio.url}/workflows?tab=declared`);
    await page.getByRole("button", { name: "Import a workflow" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("JSON").fill('{"nodes": 1}');
    await expect(dialog.getByRole("alert")).toContainText("nodes");
    await dialog.getByLabel("JSON").fill(JSON.stringify(graph));
    const preview = dialog.getByTestId("import-preview");
    await expect(preview).toContainText("votes");
    await expect(preview.getByRole("list", { name: "Assumptions" })).toContainText("voter-one");
    await accessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page).toHaveURL(/workflow=votes/);
    const row = page.getByRole("table", { name: "Declared workflows" }).getByRole("row").filter({ hasText: "votes" });
    await expect(row).toContainText("LangGraph graph");
    await expect(row).toContainText(String(models.length ** agents.length));
    await expect(row).toContainText("none");
    await expect(page.getByText(/votes is not among them/)).toBeVisible();
  });

  await test.step("what the graph left open is said in its document, which is kept as the next version", async () => {
    await expect(page.getByTestId("declared")).toContainText("No agent has instructions");
    await page.getByTestId("declared").getByRole("button", { name: "Edit", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Edit votes" });
    await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
    const json = dialog.getByLabel("JSON");
    const document = JSON.parse(await json.inputValue()) as { readonly agents: readonly object[] };
    const told = document.agents.map((agent) => ({ ...agent, instructions: "Answer in one sentence." }));
    await json.fill(JSON.stringify({ ...document, agents: told }));
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog).toBeHidden();
    const row = page.getByRole("table", { name: "Declared workflows" }).getByRole("row").filter({ hasText: "votes" });
    await expect(row).toContainText("v2");
    await expect(page.getByTestId("declared")).toContainText("Answer in one sentence.");
    await expect(page.getByTestId("declared")).not.toContainText("No agent has instructions");
  });

  await test.step("a predictor of its accurate configurations is trained for the plan's models", async () => {
    await page.getByRole("link", { name: "Train predictor" }).click();
    await expect(page).toHaveURL(/tab=predictors/);
    const form = page.getByRole("form", { name: "Train a predictor" });
    await form.getByLabel("Learn").selectOption("configurations");
    await expect(form.getByLabel("Workflow", { exact: true })).toHaveValue("votes");
    for (const box of await form.getByRole("group").getByRole("checkbox").all()) {
      const label = (await box.evaluate((input: HTMLInputElement) => input.closest("label")?.innerText ?? "")).trim();
      await box.setChecked(models.includes(label));
    }
    await form.getByRole("button", { name: "Train", exact: true }).click();
    await expect(page.getByText(/^Trained: [0-9a-f]{8}\.$/)).toBeVisible({ timeout: 180_000 });
    await expect(page.getByTestId("predictor")).toContainText("votes");
  });

  await test.step("a plan on the same engines runs it just in time, says whose figures it has, and is applied without starting an engine", async () => {
    await page.goto(`${studio.url}/workflows?tab=declared&workflow=votes`);
    await page.getByRole("button", { name: "Run just in time…" }).click();
    const form = page.getByRole("form", { name: "Plan that runs workflows just in time" });
    await expect(form.getByLabel("Predictor of votes")).not.toHaveValue("");
    // The workload has no column of confidence.
    await expect(form.getByText(/^Answers cannot be scored\. .*no column of confidence/)).toBeVisible();
    await expect(form.getByLabel("Scores of agents' answers change which configurations count as accurate")).toBeDisabled();
    await accessible(page);
    await form.getByLabel("Name of the plan").fill("Votes just in time");
    await form.getByRole("button", { name: "Make the plan and review it" }).click();
    await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
    const diff = page.getByTestId("plan-diff");
    await expect(diff).toContainText("beam of width 4");
    await expect(diff).toContainText("workflow votes");
    await expect(diff).not.toContainText(/start on|drain/);
    await expect(page.getByRole("region", { name: "Limits of these figures" })).toContainText("nothing predicts this policy");
    await approveAndApply(page);
  });

  await test.step("the gateway runs it, branches side by side, and tells each agent as it ends", async () => {
    const runs = await Promise.all(["What is 6 times 7?", "Name a river.", "Sum up the news."].map((input) => streamed(gatewayUrl, input)));
    for (const { events, run } of runs) {
      expect(events[0]).toMatchObject({ type: "run.started", workflow: "votes", agents });
      const at = (type: string, agent: string) =>
        events.findIndex((event) => event.type === type && "agent" in event && event.agent === agent);
      for (const voter of ["voter-one", "voter-two"]) {
        expect(at("stage.started", voter)).toBeGreaterThan(at("stage.completed", "plan"));
        expect(at("stage.completed", voter)).toBeLessThan(at("stage.started", "tally"));
      }
      expect(Math.max(at("stage.started", "voter-one"), at("stage.started", "voter-two"))).toBeLessThan(
        Math.min(at("stage.completed", "voter-one"), at("stage.completed", "voter-two")),
      );
      expect(run).toMatchObject({ status: "completed", error: null });
      for (const { model } of run.stages) expect(models).toContain(model);
    }
  });

  await test.step("the page tries it too, and links to what was decided of that run", async () => {
    await page.goto(`${studio.url}/workflows?tab=declared&workflow=votes`);
    const form = page.getByRole("form", { name: "Run votes" });
    await form.getByLabel("Input of the program").fill("Which way is north?");
    await form.getByRole("button", { name: "Run it once" }).click();
    await expect(form.getByTestId("run").getByRole("listitem")).toHaveCount(agents.length, { timeout: 60_000 });
    await form.getByRole("link", { name: "Its configurations" }).click();
    await expect(page).toHaveURL(/tab=just-in-time/);
    const program = page.getByTestId("program");
    await expect(program.getByLabel("Program", { exact: true })).not.toHaveValue("");
    await expect(program.getByTestId("lattice").getByRole("button")).toHaveCount(models.length ** agents.length);
    await expect(program.getByTestId("way")).toHaveCount(agents.length);
    await expect(program).toContainText("modelled outcomes");
    await expect(program.getByTestId("choices").getByRole("row")).toHaveCount(agents.length + 1);
    await expect(
      program
        .getByTestId("choices")
        .getByRole("cell")
        .filter({ hasText: /chosen$/ }),
    ).toHaveCount(agents.length);
    await expect(page.getByTestId("slots").getByRole("listitem")).toHaveCount(models.length);
    await expect(page.getByRole("table", { name: "Latest rounds, newest first" }).getByRole("row")).not.toHaveCount(1);
    await expect(page.getByTestId("configuration-predictions")).toContainText(/\d/);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await page.screenshot({ path: info.outputPath(`just-in-time-${colorScheme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await accessible(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.screenshot({ path: info.outputPath("just-in-time-narrow.png"), fullPage: true });
    await page.setViewportSize({ width: 1440, height: 960 });
  });

  await test.step("what accuracy costs in capacity is worked out, and called modelled", async () => {
    await page.goto(`${studio.url}/workflows?tab=declared&workflow=votes`);
    await page.getByRole("button", { name: "Compute" }).click();
    const capacity = page.getByTestId("capacity");
    await expect(capacity.getByRole("table")).toBeVisible({ timeout: 120_000 });
    await expect(capacity.getByRole("list", { name: "How it was computed" })).toContainText("Modelled");
    await accessible(page);
    await page.screenshot({ path: info.outputPath("declared.png"), fullPage: true });
  });

  await test.step("a workflow of the plan in force is removed, and the plan goes on running its own copy", async () => {
    await page.getByTestId("declared").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove workflow" }).click();
    await expect(page.getByText(/has its own copy of it and goes on running it/)).toBeVisible();
    expect((await streamed(gatewayUrl, "Once more?")).run.status).toBe("completed");
  });
  expect(problems).toEqual([]);
});

/** Models that have engines at a gateway. */
async function modelsOf(gatewayUrl: string): Promise<readonly string[]> {
  const answer = await fetch(`${gatewayUrl}/v1/models`);
  const { data } = (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
  return data.map(({ id }) => id).filter((id) => !id.startsWith("cascade/"));
}

/** A run of the workflow with its events. */
async function streamed(
  gatewayUrl: string,
  input: string,
): Promise<{ readonly events: readonly WorkflowRunEvent[]; readonly run: WorkflowRun }> {
  const answer = await fetch(`${gatewayUrl}/v1/workflows/votes/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input, stream: true }),
  });
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith("data: "));
  const events = lines.map((line) => JSON.parse(line.slice("data: ".length)) as WorkflowRunEvent);
  const last = events.at(-1);
  if (last?.type !== "run.completed" && last?.type !== "run.failed") throw new Error(`the stream ended with ${last?.type}`);
  return { events, run: last.run };
}
