import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BatchResult } from "@/server/contracts/studio/batches";
import { accessible, approveAndApply, lookOver } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "20" }, actionTimeout: 30_000 });

const LADDER = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"] as const;
const [REQUESTS, QUESTIONS] = [24, 60];

test("an operator serves an ensemble, turns tau while it serves, and runs a batch of questions on GPUs that are free", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(360_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const { gatewayUrl } = studio;
  const tab = (name: string) => page.getByRole("navigation", { name: "Ensembles" }).getByRole("button", { name, exact: true });

  await test.step("the ensemble that is there is given another tau", async () => {
    await signIn(page, studio.signInLink);
    await page.goto(`${studio.url}/ensembles?tab=gate&tau=0.5`);
    await page.getByRole("button", { name: "Use this tau for example" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Use it" }).click();
    await expect(page.getByText("Saved as version 2 of example.")).toBeVisible();
  });

  await test.step("a plan with its models is in force, and the gateway serves it", async () => {
    await page.goto(`${studio.url}/plan?rate=4&floor=40&gpus=4&fixed=${LADDER[0]}@60~${LADDER[1]}@60~${LADDER[2]}`);
    await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
    await page.getByRole("button", { name: "Review and apply" }).click();
    await approveAndApply(page);
    await page.goto(`${studio.url}/ensembles?tab=online`);
    await expect(page.getByText("No ensemble is served yet")).toBeVisible();
    await accessible(page);
    await page.getByRole("button", { name: "Serve an ensemble" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByLabel("Ensemble", { exact: true })).toHaveValue("example");
    await dialog.getByRole("button", { name: "Serve it", exact: true }).click();
    await expect(page.getByTestId("online-ensemble")).toBeVisible();
    await expect(page.getByText("No request since the gateway started")).toBeVisible();
  });

  const calls = page.getByRole("table", { name: "Latest calls, newest first" });
  await test.step("requests of clients are answered, and counted by how experts voted", async () => {
    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, at) => askEnsemble(gatewayUrl, `generated-${at}`)));
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(["skipped"]));
    for (const { content } of answers) expect(content).toMatch(/Answer: [A-D]$/);
    await expect(page.getByTestId("online-figures")).toContainText(String(REQUESTS));
    await expect(page.getByTestId("online-outcomes")).toContainText("aggregator skipped");
    await expect(calls.getByRole("row").nth(1)).toContainText("1/2");
  });

  await test.step("tau is turned while it serves: from the next decision on experts that disagree are aggregated", async () => {
    const tau = page.getByTestId("online-tau");
    await tau.getByRole("slider").press("ArrowRight");
    await expect(tau).toContainText("of the requests counted would skip the aggregator");
    await tau.getByLabel("Reason for the change (optional)").fill("answers were worse");
    await tau.getByRole("button", { name: "Approve 1/2 → 1" }).click();
    await expect(tau.getByText("In force: tau 1, from the next decision on.")).toBeVisible();
    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, at) => askEnsemble(gatewayUrl, `generated-${at}`)));
    const outcomes = answers.map(({ outcome }) => outcome);
    expect(outcomes).toContain("skipped");
    expect(outcomes).toContain("aggregated");
    await expect(page.getByTestId("online-outcomes")).toContainText("aggregated");
    await expect(page.getByTestId("online-figures")).toContainText(`Requests at this tau${REQUESTS}since`);
    await expect(page.getByTestId("online-figures")).toContainText(/Predicted at this tau\d.* by the sample Example, modelled/);
    await expect(page.getByTestId("online-totals")).toContainText(`${2 * REQUESTS} requests`);
    await expect(page.getByText("differs from the served one in tau")).toBeVisible();
    await lookOver(page, info, "online");
    await page.goto(`${studio.url}/ensembles?tab=online&ensemble=gone`);
    await expect(page.getByText("There is no ensemble gone")).toBeVisible();
    await expect(page.getByTestId("online-figures")).toHaveCount(0);
    await page.getByLabel("Served here").selectOption("example");
    await expect(page.getByTestId("online-figures")).toBeVisible();
    await page.goto(`${studio.url}/history`);
    await expect(page.getByText("answers were worse").filter({ visible: true }).first()).toBeVisible();
  });

  await test.step("all is aggregated while that is asked for, however experts vote", async () => {
    await page.goto(`${studio.url}/ensembles?tab=online`);
    const tau = page.getByTestId("online-tau");
    await tau.getByRole("slider").press("End");
    await tau.getByRole("button", { name: "Approve 1 → aggregate all" }).click();
    await expect(tau.getByText("In force: tau aggregate all, from the next decision on.")).toBeVisible();
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => askEnsemble(gatewayUrl, `generated-${at}`)));
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(["aggregated"]));
    await tau.getByRole("slider").press("ArrowLeft");
    await tau.getByRole("button", { name: "Approve aggregate all → 1" }).click();
    await expect(tau.getByText("In force: tau 1, from the next decision on.")).toBeVisible();
  });

  await test.step("the gate's tab brings the kept ensemble to the tau that is served, and the gateway with it", async () => {
    await page.goto(`${studio.url}/ensembles?tab=gate&tau=1`);
    await page.getByRole("button", { name: "Use this tau for example" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("checkbox", { name: /where tau is 1 now/ })).toBeChecked();
    await dialog.getByRole("button", { name: "Use it" }).click();
    await expect(page.getByText("Saved as version 3 of example, and in force at the gateway from the next decision on.")).toBeVisible();
    await tab("Online").click();
    await expect(page.getByTestId("online-ensemble")).toBeVisible();
    await expect(page.getByText("differs from the served one")).toHaveCount(0);
  });

  await test.step("a sample of questions with references is at hand", async () => {
    await page.goto(`${studio.url}/workloads/prompts`);
    await page.getByRole("button", { name: "Upload prompts" }).first().click();
    await page.getByLabel("File of prompts").setInputFiles(questionsFile());
    await page.getByLabel("Name of the sample").fill("quiz");
    await page.getByRole("button", { name: "Take the sample" }).click();
    await expect(page.getByTestId("prompt-set")).toContainText(String(QUESTIONS));
  });

  await test.step("a batch of them is previewed, started on free GPUs beside the plan in force, and watched to its end", async () => {
    await page.goto(`${studio.url}/ensembles?tab=batches&open=start&prompts=gone`);
    await expect(page.getByText("The questions in the address no longer exist")).toBeVisible();
    await expect(page.getByTestId("batch-preview")).toContainText(String(QUESTIONS), { timeout: 60_000 });
    await page.goto(`${studio.url}/ensembles?tab=batches`);
    await accessible(page);
    await page.getByRole("button", { name: "Start a batch" }).first().click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByText(/of \d+ free/)).toBeVisible();
    await dialog.getByLabel("Name").fill("night run");
    await expect(dialog.getByTestId("batch-preview")).toContainText(String(QUESTIONS), { timeout: 60_000 });
    await expect(dialog.getByTestId("batch-preview")).toContainText("if all do.");
    await expect(dialog.getByTestId("batch-preview").getByRole("button", { name: /^aggregator 1, / })).toBeVisible();
    await accessible(page);
    await page.screenshot({ path: info.outputPath("batch-preview.png"), fullPage: true });
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    await expect(page).toHaveURL(/batch=/);
    await expect(page.getByTestId("batch-state")).toContainText(/running|done/);
    await expect(page.getByTestId("batch-state")).toContainText("done", { timeout: 120_000 });
    await expect(page.getByTestId("batch-figures")).toContainText("Accuracy");
    await expect(page.getByTestId("batch-figures")).toContainText(`of the ${QUESTIONS} whose experts are done`);
    await lookOver(page, info, "batches");
  });

  await test.step("its results are downloaded: each question once, with every expert's vote", async () => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download results" }).click();
    const lines = readFileSync(await (await download).path(), "utf8")
      .trim()
      .split("\n");
    const results = lines.map((line) => JSON.parse(line) as BatchResult);
    expect(new Set(results.map(({ id }) => id)).size).toBe(QUESTIONS);
    expect(results).toHaveLength(QUESTIONS);
    for (const { verdict, experts, aggregator, correct } of results) {
      expect(["skipped", "aggregated"]).toContain(verdict);
      expect(aggregator === null).toBe(verdict === "skipped");
      expect(experts.map(({ model }) => model)).toEqual([LADDER[1], LADDER[0]]);
      expect(correct).not.toBeNull();
    }
    expect(new Set(results.map(({ verdict }) => verdict)).size).toBe(2);
  });

  await test.step("a job file is written of what it did", async () => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Ray" }).click();
    const text = readFileSync(await (await download).path(), "utf8");
    expect(text).toContain(`The batch "night run": ${QUESTIONS} questions through the experts of example`);
    await expect(page.getByText("Saved as weir-batch-night-run")).toBeVisible();
  });

  await test.step("its answers make a sample, on which the gate is tried at once", async () => {
    await page.getByRole("button", { name: "Make a sample of its answers" }).click();
    await expect(page).toHaveURL(/tab=gate/);
    await expect(page.getByLabel("Sample", { exact: true }).locator("option:checked")).toContainText("Answers of night run, emulated");
    await expect(page.getByTestId("buckets")).toBeVisible();
  });
  expect(problems).toEqual([]);
});

interface Answered {
  readonly outcome: string | null;
  readonly content: string;
}

/** One request to the ensemble, with a prompt that the emulated engines know. */
async function askEnsemble(gatewayUrl: string, prompt: string): Promise<Answered> {
  const answer = await fetch(`${gatewayUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "ensemble/example", messages: [{ role: "user", content: `[prompt ${prompt}] Which is it?` }] }),
  });
  const body = (await answer.json()) as { readonly choices: readonly { readonly message: { readonly content: string } }[] };
  expect(answer.status).toBe(200);
  return { outcome: answer.headers.get("x-weir-ensemble-outcome"), content: body.choices[0]?.message.content ?? "" };
}

/** Questions with references, for prompts that the emulated engines know. Returns the file's path. */
function questionsFile(): string {
  const lines = Array.from({ length: QUESTIONS }, (_, at) => {
    const id = `generated-${at}`;
    const category = at % 3 === 0 ? "maths" : "law";
    return JSON.stringify({ id, category, reference: "A", messages: [{ role: "user", content: `[prompt ${id}] Which is it?` }] });
  });
  const file = join(mkdtempSync(join(tmpdir(), "weir-questions-")), "questions.jsonl");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}
