import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BatchResult } from "@/server/contracts/batches";
import { accessible, approveAndApply } from "./acts";
import { expect, test } from "./fixtures";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "20" }, actionTimeout: 30_000 });

const LADDER = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"] as const;
const [REQUESTS, QUESTIONS] = [24, 60];

test("a newcomer sees where experts of an ensemble go, tries its gate, serves it, turns tau while it serves, and runs a batch of questions on GPUs that are free", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(420_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const { gatewayUrl } = studio;
  const tab = (name: string) => page.getByRole("navigation", { name: "Ensembles" }).getByRole("button", { name, exact: true });
  /** In light and dark, and narrow: no rule broken, nothing wider than the window. */
  const lookOver = async (name: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await page.screenshot({ path: info.outputPath(`${name}-${colorScheme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
    await page.screenshot({ path: info.outputPath(`${name}-narrow.png`), fullPage: true });
    await page.setViewportSize({ width: 1440, height: 960 });
    await page.emulateMedia({ colorScheme: "light" });
  };

  await test.step("an example is there, and its experts are placed beside what is done without a plan", async () => {
    await page.goto(studio.signInLink);
    await page.getByRole("link", { name: "Ensembles" }).click();
    await expect(page).toHaveURL(/\/ensembles/);
    await expect(page.getByLabel("Ensemble", { exact: true })).toHaveValue("example");
    await expect(page.getByTestId("placement")).toHaveAttribute("aria-busy", "false", { timeout: 60_000 });
    await expect(page.getByTestId("gantt").getByTestId(/^gantt-/)).toHaveCount(2);
    await expect(page.getByTestId("figure-makespan")).toContainText(/\d/);
    await lookOver("place");
  });

  await test.step("an ensemble that is not there is not shown another for, and those that are stand beside it", async () => {
    for (const name of ["Place", "Gate"]) {
      await page.goto(`${studio.url}/ensembles?ensemble=gone&tab=${name.toLowerCase()}`);
      await expect(page.getByText("There is no ensemble gone")).toBeVisible();
      await expect(page.getByTestId("placement").or(page.getByTestId("gate-figures"))).toHaveCount(0);
    }
    await accessible(page);
    await page.getByLabel("Ensembles that there are").selectOption("example");
    await expect(page).toHaveURL(/ensemble=example/);
    await expect(page.getByTestId("gate-figures")).toBeVisible();
    await page.goto(`${studio.url}/ensembles`);
  });

  await test.step("a new ensemble takes no name that is taken, and its editor leads to what is wrong", async () => {
    await page.getByRole("button", { name: "New ensemble" }).click();
    const dialog = page.getByRole("dialog");
    const name = dialog.getByLabel("Name", { exact: true });
    await name.fill("example");
    await expect(name).toHaveAccessibleDescription(/There is an ensemble example already, as version 1/);
    await name.fill("another");
    await expect(name).toHaveAccessibleDescription("");
    await dialog.getByRole("button", { name: "Keep it" }).click();
    await expect(dialog.getByLabel("Add an expert")).toBeFocused();
    await expect(dialog.getByLabel("Add an expert")).toHaveAccessibleDescription("Name two experts at least, and sixteen at most.");
    await expect(dialog.getByLabel("Aggregator", { exact: true })).toHaveAccessibleDescription(
      "Name the model that makes one answer of several.",
    );
    await accessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("what cannot be read for Place is said, with a way out, and what an address names in vain too", async () => {
    await page.route(/workloads\.list/, (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.goto(`${studio.url}/ensembles?gpu=foo&prompts=gone&lengths=sample:gone`);
    await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
    await page.unroute(/workloads\.list/);
    await page.getByRole("button", { name: "Try again" }).click();
    for (const says of [
      "the GPU foo that the address names",
      "prompts that the address names",
      "lengths of answers that the address names",
    ])
      await expect(page.getByText(says)).toBeVisible();
    await expect(page.getByTestId("placement")).toHaveAttribute("aria-busy", "false");
    await page.goto(`${studio.url}/ensembles`);
  });

  await test.step("a file says who answers what: experts are placed by it, also after a reload, and an address without the file says so", async () => {
    const questions = page.getByRole("table", { name: "Experts as they are placed" }).getByRole("row");
    await page.getByText("Assign questions by a file").click();
    await page.getByLabel("Who answers what").setInputFiles(assignmentsFile());
    await expect(page.getByText("who.csv: experts of 8 questions.")).toBeVisible();
    await expect(page).toHaveURL(/assigned=who.csv/);
    await expect(page.getByTestId("placement")).toHaveAttribute("aria-busy", "false");
    await expect(page.getByLabel("How it was worked out")).toContainText("Shares of experts are those of the assignments.");
    await expect(questions.filter({ hasText: LADDER[1] }).getByRole("cell").nth(1)).toHaveText("8");
    await expect(questions.filter({ hasText: LADDER[0] }).getByRole("cell").nth(1)).toHaveText("2");
    await page.reload();
    await expect(page.getByText("who.csv: experts of 8 questions.")).toBeVisible();
    await page.goto(`${studio.url}/ensembles?assigned=theirs.csv`);
    await expect(page.getByText("by the file theirs.csv, which is not in it")).toBeVisible();
    await accessible(page);
    await page.getByRole("button", { name: "Leave it out" }).click();
    await expect(page).not.toHaveURL(/assigned/);
  });

  await test.step("measured sessions are sent, fitted to, and removed after asking", async () => {
    const measured = page.getByTestId("measured");
    await expect(measured).toContainText("none yet");
    await measured.locator("summary").click();
    await expect(measured).toContainText("A batch on real engines leaves what it measured here");
    await page.getByLabel("GPU", { exact: true }).selectOption("l40s");
    await measured.getByLabel("Table of measured sessions").setInputFiles(sessionsFile());
    await expect(measured).toContainText(`4 rows of ${LADDER[0]}, on l40s.`);
    await measured.getByRole("button", { name: "Keep them" }).click();
    await expect(measured).toContainText("Kept 4 rows");
    await expect(measured.getByRole("table")).toContainText("Sessions fitted to 4 sessions");
    await expect(measured.getByRole("table")).toContainText("Loads: the median of 4 loads.");
    await lookOver("measured");
    await measured.getByRole("button", { name: /^Remove / }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove sessions" }).click();
    await expect(measured).toContainText("No session was measured yet");
    await page.goto(`${studio.url}/ensembles`);
  });

  await test.step("its gate is tried on modelled answers: tau moves accuracy and skips without asking, and is kept as the next version", async () => {
    await tab("Gate").click();
    await expect(page.getByLabel("Sample", { exact: true }).locator("option:checked")).toContainText("modelled");
    const figures = page.getByTestId("gate-figures");
    const slider = page.getByTestId("gate").getByRole("slider");
    await slider.press("End");
    await expect(slider).toHaveAttribute("aria-valuetext", /^aggregate all/);
    await expect(figures).toContainText(/Skip the aggregator0\.0/);
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("ensembles.replay") && asked.push(request.url()));
    await slider.press("Home");
    await expect(slider).toHaveAttribute("aria-valuetext", /^1\/2: .* skip the aggregator/);
    await expect(page).toHaveURL(/tau=0\.5/);
    await expect(figures).toContainText(/Skip the aggregator100\.0/);
    expect(asked).toEqual([]);
    await expect(page.getByTestId("buckets").getByRole("row").filter({ hasText: "2:0" })).toContainText("all 2 alike");
    await expect(page.getByTestId("buckets")).toContainText("stand-in");
    await lookOver("gate");
    await page.getByRole("button", { name: "Use this tau for example" }).click();
    await accessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Use it" }).click();
    await expect(page.getByText("Kept as version 2 of example.")).toBeVisible();
    await page.reload();
    await expect(slider).toHaveAttribute("aria-valuetext", /^1\/2/);
  });

  await test.step("a sample of a file is looked through before it is kept, tried, and removed after asking", async () => {
    await page.getByRole("button", { name: "Bring a sample" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Answers of several models").setInputFiles(answersFile());
    await expect(dialog.getByTestId("surveyed")).toContainText("40 questions, 4 models");
    await accessible(page);
    await dialog.getByRole("checkbox", { name: /^m4/ }).uncheck();
    await dialog.getByRole("button", { name: "Keep it" }).click();
    await expect(page).toHaveURL(/sample=/);
    await expect(page.getByLabel("Sample", { exact: true }).locator("option:checked")).toContainText(
      "answers, uploaded: 40 questions, 3 models",
    );
    await expect(page.getByTestId("buckets")).toBeVisible();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove sample" }).click();
    await expect(page.getByText("answers is removed.")).toBeVisible();
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
    await expect(page.getByText("No request has come since the gateway started")).toBeVisible();
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
    await expect(page.getByText("differs from what is served in tau")).toBeVisible();
    await lookOver("online");
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
    await expect(page.getByText("Kept as version 3 of example, and in force at the gateway from the next decision on.")).toBeVisible();
    await tab("Online").click();
    await expect(page.getByTestId("online-ensemble")).toBeVisible();
    await expect(page.getByText("differs from what is served")).toHaveCount(0);
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
    await expect(page.getByText("The questions that the address names are not kept")).toBeVisible();
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
    await expect(page.getByTestId("batch-figures")).toContainText(`of the ${QUESTIONS} whose experts are through`);
    await lookOver("batches");
  });

  await test.step("its results are downloaded: each question once, with every expert's vote", async () => {
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download results" }).click();
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

/** One request of the ensemble, about a prompt that the emulated engines know. */
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

/** Questions with references, about prompts that the emulated engines know. Its path. */
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

/** Eight questions for one expert, of which the other answers two. Its path. */
function assignmentsFile(): string {
  const rows = Array.from({ length: 8 }, (_, at) => [`q${at},${LADDER[1]}`, ...(at < 2 ? [`q${at},${LADDER[0]}`] : [])]).flat();
  const file = join(mkdtempSync(join(tmpdir(), "weir-assignments-")), "who.csv");
  writeFileSync(file, `id,expert\n${rows.join("\n")}\n`);
  return file;
}

/** Four sessions of one expert, each with its load. Its path. */
function sessionsFile(): string {
  const rows = [100, 400, 1600, 3200].map((prompts) => `${LADDER[0]},l40s,1,${prompts},64,200,500,${7 + 0.2 * prompts + (prompts % 7)},11`);
  const file = join(mkdtempSync(join(tmpdir(), "weir-sessions-")), "sessions.csv");
  writeFileSync(file, `model,gpu,tp,prompts,concurrency,mean_output_tokens,max_output_tokens,seconds,load_seconds\n${rows.join("\n")}\n`);
  return file;
}

/** Answers of four models to forty questions, of which the first three disagree now and then, gzipped. Its path. */
function answersFile(): string {
  const rows = Array.from({ length: 40 }, (_, question) =>
    [1, 2, 3, 4].map((model) => {
      const right = (question * model) % 5 !== 0;
      return `q${question},m${model},${right ? 1 : 0},${right ? "A" : "B"},${100 + question}`;
    }),
  ).flat();
  const file = join(mkdtempSync(join(tmpdir(), "weir-answers-")), "answers.csv.gz");
  writeFileSync(file, gzipSync(`prompt_id,model,correct,answer,out_tok\n${rows.join("\n")}\n`));
  return file;
}
