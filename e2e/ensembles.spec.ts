import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { accessible, lookOver } from "./acts";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

test.use({ actionTimeout: 30_000 });

const EXPERTS = ["qwen2.5-3b", "qwen2.5-7b"] as const;

test("a newcomer sees where experts of an ensemble go, tells who answers what and what sessions cost, and tries its gate", async ({
  page,
  studio,
}, info) => {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const tab = (name: string) => page.getByRole("navigation", { name: "Ensembles" }).getByRole("button", { name, exact: true });

  await test.step("an example is there, and its experts are placed beside what is done without a plan", async () => {
    await signIn(page, studio.signInLink);
    await page.getByRole("link", { name: "Ensembles" }).click();
    await expect(page).toHaveURL(/\/ensembles/);
    await expect(page.getByLabel("Ensemble", { exact: true })).toHaveValue("example");
    await expect(page.getByTestId("placement")).toHaveAttribute("aria-busy", "false", { timeout: 60_000 });
    await expect(page.getByTestId("gantt").getByTestId(/^gantt-/)).toHaveCount(2);
    await expect(page.getByTestId("figure-makespan")).toContainText(/\d/);
    await lookOver(page, info, "place");
  });

  await test.step("an ensemble that is not there is not shown another for, and those that are stand beside it", async () => {
    for (const name of ["Place", "Gate"]) {
      await page.goto(`${studio.url}/ensembles?ensemble=gone&tab=${name.toLowerCase()}`);
      await expect(page.getByText("There is no ensemble gone")).toBeVisible();
      await expect(page.getByTestId("placement").or(page.getByTestId("gate-figures"))).toHaveCount(0);
    }
    await accessible(page);
    await page.getByLabel("Existing ensembles").selectOption("example");
    await expect(page).toHaveURL(/ensemble=example/);
    await expect(page.getByTestId("gate-figures")).toBeVisible();
    await page.goto(`${studio.url}/ensembles`);
  });

  await test.step("a new ensemble takes no name that is taken, and its editor leads to what is wrong", async () => {
    await page.getByRole("button", { name: "New ensemble" }).click();
    const dialog = page.getByRole("dialog");
    const name = dialog.getByLabel("Name", { exact: true });
    await name.fill("example");
    await expect(name).toHaveAccessibleDescription(/An ensemble example already exists, as version 1/);
    await name.fill("another");
    await expect(name).toHaveAccessibleDescription("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog.getByLabel("Add an expert")).toBeFocused();
    await expect(dialog.getByLabel("Add an expert")).toHaveAccessibleDescription("Name two experts at least, and sixteen at most.");
    await expect(dialog.getByLabel("Aggregator", { exact: true })).toHaveAccessibleDescription("Name the model that combines the answers.");
    await accessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("what cannot be read for Place is said, with a way out, and what an address names in vain too", async () => {
    await page.route(/workloads\.list/, (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.goto(`${studio.url}/ensembles?gpu=foo&prompts=gone&lengths=sample:gone`);
    await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
    await page.unroute(/workloads\.list/);
    await page.getByRole("button", { name: "Try again" }).click();
    for (const says of ["The GPU foo in the address", "The prompts in the address", "The answer lengths in the address"])
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
    await expect(page.getByLabel("How it was computed")).toContainText("Shares of experts are those of the assignments.");
    await expect(questions.filter({ hasText: EXPERTS[1] }).getByRole("cell").nth(1)).toHaveText("8");
    await expect(questions.filter({ hasText: EXPERTS[0] }).getByRole("cell").nth(1)).toHaveText("2");
    await page.reload();
    await expect(page.getByText("who.csv: experts of 8 questions.")).toBeVisible();
    await page.goto(`${studio.url}/ensembles?assigned=theirs.csv`);
    await expect(page.getByText("refers to the file theirs.csv but does not contain it")).toBeVisible();
    await accessible(page);
    await page.getByRole("button", { name: "Leave it out" }).click();
    await expect(page).not.toHaveURL(/assigned/);
  });

  await test.step("measured sessions are sent, fitted to, and removed after asking", async () => {
    const measured = page.getByTestId("measured");
    await expect(measured).toContainText("none yet");
    await measured.locator("summary").click();
    await expect(measured).toContainText("A batch on real engines stores its measured sessions here");
    await page.getByLabel("GPU", { exact: true }).selectOption("l40s");
    await measured.getByLabel("Table of measured sessions").setInputFiles(sessionsFile());
    await expect(measured).toContainText(`4 rows of ${EXPERTS[0]}, on l40s.`);
    await measured.getByRole("button", { name: "Save them" }).click();
    await expect(measured).toContainText("Kept 4 rows");
    await expect(measured.getByRole("table")).toContainText("Sessions fitted to 4 sessions");
    await expect(measured.getByRole("table")).toContainText("Loads: the median of 4 loads.");
    await lookOver(page, info, "measured");
    await measured.getByRole("button", { name: /^Remove / }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove sessions" }).click();
    await expect(measured).toContainText("No measured session yet");
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
    await expect(page.getByTestId("buckets")).toContainText("modelled");
    await lookOver(page, info, "gate");
    await page.getByRole("button", { name: "Use this tau for example" }).click();
    await accessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Use it" }).click();
    await expect(page.getByText("Saved as version 2 of example.")).toBeVisible();
    await page.reload();
    await expect(slider).toHaveAttribute("aria-valuetext", /^1\/2/);
  });

  await test.step("a sample of a file is looked through before it is kept, tried, and removed after asking", async () => {
    await page.getByRole("button", { name: "Add a sample" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Answers of several models").setInputFiles(answersFile());
    await expect(dialog.getByTestId("surveyed")).toContainText("40 questions, 4 models");
    await accessible(page);
    await dialog.getByRole("checkbox", { name: /^m4/ }).uncheck();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page).toHaveURL(/sample=/);
    await expect(page.getByLabel("Sample", { exact: true }).locator("option:checked")).toContainText(
      "answers, uploaded: 40 questions, 3 models",
    );
    await expect(page.getByTestId("buckets")).toBeVisible();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove sample" }).click();
    await expect(page.getByText("answers is removed.")).toBeVisible();
  });
  expect(problems).toEqual([]);
});

/** Eight questions for one expert, two of which the other answers. Returns the file's path. */
function assignmentsFile(): string {
  const rows = Array.from({ length: 8 }, (_, at) => [`q${at},${EXPERTS[1]}`, ...(at < 2 ? [`q${at},${EXPERTS[0]}`] : [])]).flat();
  const file = join(mkdtempSync(join(tmpdir(), "weir-assignments-")), "who.csv");
  writeFileSync(file, `id,expert\n${rows.join("\n")}\n`);
  return file;
}

/** Four sessions of one expert, each with its load. Returns the file's path. */
function sessionsFile(): string {
  const rows = [100, 400, 1600, 3200].map(
    (prompts) => `${EXPERTS[0]},l40s,1,${prompts},64,200,500,${7 + 0.2 * prompts + (prompts % 7)},11`,
  );
  const file = join(mkdtempSync(join(tmpdir(), "weir-sessions-")), "sessions.csv");
  writeFileSync(file, `model,gpu,tp,prompts,concurrency,mean_output_tokens,max_output_tokens,seconds,load_seconds\n${rows.join("\n")}\n`);
  return file;
}

/** Answers of four models to forty questions, on which the first three sometimes disagree, gzipped. Returns the file's path. */
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
