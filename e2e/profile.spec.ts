import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { ProfileJob } from "@/server/contracts/studio/profile";
import { answerOrder } from "../solver/judging/labelOrder";
import { getAsPage, signIn } from "./asPage";
import { childrenOf, expect, type RunningStudio, signal, test } from "./fixtures";
import { hiddenTable, labelIn, promptFile, rowOf, served } from "./hiddenTable";

/** Cluster seconds per wall second: engines write some hundred thousand tokens in a minute. */
const TIME_SCALE = 20;

/** Prompts in the file, and those of them that are profiled. */
const [FILED, SAMPLED] = [600, 500];

/** The configured price of output tokens of each model; the longest answer of the table; concurrent calls to each. */
const [USD_PER_MILLION, MAX_OUTPUT_TOKENS, CONCURRENCY] = [1, 4096, 8];

const LADDER = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"] as const;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) }, actionTimeout: 30_000 });

test("an operator profiles prompts of their own through three models and two judges, across two crashes and a cap, labels some by hand, and plans and applies what was measured", async ({
  page,
  studio,
}) => {
  test.setTimeout(600_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);

  await test.step("put a plan with three models into force", async () => {
    await page.goto(`${studio.url}/plan?rate=10&floor=40&fixed=${LADDER[0]}@60~${LADDER[1]}@60~${LADDER[2]}`);
    await apply(page);
  });
  const table = hiddenTable(studio);
  const file = promptFile(table, FILED);
  const mostUsd = (MAX_OUTPUT_TOKENS * USD_PER_MILLION) / 1e6;
  // For the whole file; a sample of it costs about five sixths.
  const filedTokens = table.models.reduce((sum, { outputTokens }) => outputTokens.slice(0, FILED).reduce((all, one) => all + one, sum), 0);
  // Enough for the calls in flight, for as many that the crash interrupts, and for a third of the rest.
  const capUsd = Number((2 * 3 * CONCURRENCY * mostUsd + (0.3 * filedTokens * USD_PER_MILLION) / 1e6).toFixed(2));

  await test.step("upload a file of prompts: lines that are none are named and counted", async () => {
    await page.goto(`${studio.url}/workloads/prompts`);
    await page.getByRole("button", { name: "Upload prompts" }).first().click();
    await page.getByLabel("File of prompts").setInputFiles(file.path);
    const survey = page.getByTestId("survey");
    await expect(survey).toContainText(`${FILED}`);
    await survey.getByText("Skipped lines").click();
    await expect(survey.getByRole("listitem").filter({ hasText: /^line \d+/ })).toHaveCount(file.bad);
    await accessible(page, "survey");
  });

  await test.step("take a sample of it", async () => {
    await page.getByLabel("Name of the sample").fill("cases of March");
    const size = page.getByRole("spinbutton", { name: "Prompts to take" });
    await size.fill(String(SAMPLED));
    await page.getByRole("button", { name: "Take the sample" }).click();
    await expect(page.getByTestId("prompt-set")).toContainText(`${SAMPLED}`);
    await accessible(page, "samples");
  });

  // Each engine got a request for one token when the plan came into force.
  const before = await served(studio);
  const jobId = await test.step("say who answers, who judges and what it may cost, and start", async () => {
    await page
      .getByTestId("prompt-set")
      .getByRole("link", { name: /^Profile it/ })
      .click();
    for (const model of LADDER) {
      await expect(page.getByRole("checkbox", { name: model })).toBeChecked();
      await page.locator("summary", { hasText: `: price of ${model}` }).click();
      await page.getByLabel(`Output price of ${model}`).fill(String(USD_PER_MILLION));
    }
    await page.getByLabel("Calls at once to each model and judge").fill(String(CONCURRENCY));
    await page.getByLabel("Longest answer, where the prompt names no lower bound").fill(String(MAX_OUTPUT_TOKENS));
    await page.getByRole("checkbox", { name: "Cap the cost" }).check();
    await page.getByLabel("Pause before it could spend more than").fill(String(capUsd));
    await expect(page.getByTestId("estimate")).toContainText("4,500");
    await accessible(page, "new profile");
    await page.getByRole("button", { name: "Start profile" }).click();
    await expect(page).toHaveURL(/\/workloads\/profiles\/[0-9a-f-]{36}/);
    return /profiles\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? "";
  });
  const job = () => jobOf(page, studio, jobId);
  const state = page.getByTestId("profile-state");

  await test.step("it goes on by itself after a crash", async () => {
    await expect.poll(async () => (await job()).total.done, { timeout: 60_000 }).toBeGreaterThan(300);
    await crash(studio);
    const { total } = await job();
    await expect.poll(async () => (await job()).total.done, { timeout: 60_000 }).toBeGreaterThan(total.done);
    await expect(page.getByTestId("profile-progress")).toContainText("4,500");
    await accessible(page, "profile");
  });

  await test.step("it pauses before it could pass its cap, and goes on under a higher one", async () => {
    await expect(state).toContainText("paused at its cap", { timeout: 120_000 });
    await expect.poll(async () => (await job()).total.inFlight).toBe(0);
    const paused = await job();
    expect(paused.pause?.kind).toBe("cap");
    expect(paused.spentUsd).toBeLessThanOrEqual(capUsd);
    expect(paused.total.done).toBeLessThan(paused.total.planned);
    await accessible(page, "paused profile");
    await page.getByLabel("New cap").fill("100");
    await page.getByRole("button", { name: "Raise the cap and resume" }).click();
    await expect(state).toContainText("running");
  });

  await test.step("killed once more it comes to its end: each call was made once, but those that a crash cut off", async () => {
    await expect.poll(async () => (await job()).total.done, { timeout: 120_000 }).toBeGreaterThan(3_000);
    await crash(studio);
    await expect(state).toContainText("done", { timeout: 180_000 });
    const { total, askedAgain, spentUsd } = await job();
    expect(total).toEqual({ planned: 4_500, done: 4_500, failed: 0, inFlight: 0 });
    const { engines, judges } = await served(studio);
    expect(engines.answered - before.engines.answered).toBeGreaterThanOrEqual(1_500);
    expect(judges.answered).toBeGreaterThanOrEqual(3_000);
    const all = [engines, judges].reduce((sum, { answered, abandoned }) => sum + answered + abandoned, 0);
    const calls = all - before.engines.answered - before.judges.answered;
    expect(calls).toBeLessThanOrEqual(4_500 + askedAgain);
    expect(askedAgain).toBeLessThanOrEqual(2 * 5 * CONCURRENCY);
    // Interrupted answers count at their highest possible cost.
    expect(spentUsd).toBeLessThanOrEqual((filedTokens * USD_PER_MILLION) / 1e6 + askedAgain * mostUsd);
    console.log(`${calls} calls served for 4,500 recorded, ${askedAgain} asked again; ${spentUsd.toFixed(3)} USD spent`);
  });

  await test.step("label some answers by hand, by keyboard: the judge that knows agrees with somebody who knows", async () => {
    await page.getByRole("link", { name: "Label by hand" }).click();
    const labelled = page.getByTestId("labelled");
    await expect(labelled).toContainText("0 of ");
    const order = answerOrder(jobId, SAMPLED, table.models.length);
    for (let count = 1; count <= 16; count += 1) {
      const shown = await page.getByRole("region", { name: "Answer", exact: true }).innerText();
      const right = labelIn(table, shown, order[count - 1] ?? 0) >= 50;
      await page.keyboard.press(right ? "5" : "1");
      await expect(labelled).toContainText(`${count} of `);
    }
    await page.keyboard.press("u");
    await expect(labelled).toContainText("15 of ");
    const answer = page.getByRole("region", { name: "Answer", exact: true });
    const unsure = await answer.innerText();
    await page.keyboard.press("s");
    await expect(answer).not.toHaveText(unsure, { useInnerText: true });
    await expect(labelled).toContainText("15 of ");
    await expect(page.getByTestId("trust-label")).toHaveCount(0);
    await accessible(page, "labelling, measures closed");
    await page.getByText("Result for each measure so far").click();
    await expect(page.getByTestId("trust-label").getByTestId("trust-agreement")).toContainText(/^100.%/);
    await expect(page.getByTestId("trust-gate").getByTestId("trust-agreement")).toContainText("%");
    await accessible(page, "labelling");
    await page.getByRole("button", { name: "Two answers" }).click();
    await expect(page.getByRole("region", { name: "Left answer" })).toBeVisible();
    await page.keyboard.press("=");
    await expect(labelled).toContainText("1 of ");
    await accessible(page, "labelling two");
    await page.goto(`${studio.url}/workloads/profiles/${jobId}`);
  });

  const workloadId = await test.step("make a workload of it: it is the table that the engines replay", async () => {
    await page.getByLabel("Name of the workload").fill("cases of March");
    await page.getByRole("button", { name: "Make workload" }).click();
    await expect(page.getByText("1 workload made", { exact: false })).toBeVisible({ timeout: 30_000 });
    await page.getByRole("list", { name: "Workloads made of it" }).last().getByRole("link").click();
    await expect(page).toHaveURL(/\/workloads\/[0-9a-f]+/);
    const id = /workloads\/([0-9a-f]+)/.exec(page.url())?.[1] ?? "";
    const lines = (await (await getAsPage(page, `${studio.url}/api/workloads/${id}`)).text()).trim().split("\n");
    const rows = lines.map((line) => JSON.parse(line)).filter((line) => line.models !== undefined && line.id !== undefined);
    expect(rows).toHaveLength(SAMPLED);
    expect(rows.map(({ id, inputTokens, models }) => ({ id, inputTokens, models }))).toEqual(rows.map(({ id }) => rowOf(table, id)));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("cases of March");
    await accessible(page, "workload");
    return id;
  });

  await test.step("plan with it, apply the plan, and ask the cascade for an answer", async () => {
    await page.goto(`${studio.url}/plan?workload=${workloadId}&rate=10&floor=40&policy=cascade`);
    await apply(page);
    const prompt = hiddenTable(studio).promptIds[0];
    const answer = await fetch(`${studio.gatewayUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: `[prompt ${prompt}] Once more.` }] }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain(`[emulated answer ${prompt} by `);
    expect(table.promptIds).toContain(prompt);
  });
  expect(problems).toEqual([]);
});

/** Goes from the Plan page through review and approval to a finished roll-out. */
async function apply(page: Page): Promise<void> {
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 120_000 });
}

/** A profile as the studio knows it. */
async function jobOf(page: Page, { url }: RunningStudio, id: string): Promise<ProfileJob> {
  const query = new URLSearchParams({ input: JSON.stringify({ id }) });
  const answer = await getAsPage(page, `${url}/api/trpc/profiles.get?${query}`);
  return (await answer.json()).result.data;
}

/** Kills the studio like a crash, and waits until the launcher has restarted it. */
async function crash(studio: RunningStudio): Promise<void> {
  signal(childrenOf(studio, "dist/studio.mjs|next-server")[0], "SIGKILL");
  await expect(async () => expect((await fetch(`${studio.url}/api/health`)).ok).toBe(true)).toPass({ timeout: 60_000 });
}

/** Checks the accessibility of a page in both themes. */
async function accessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect.soft(violations.map(({ id, nodes }) => `${name}, ${colorScheme}: ${id}: ${nodes[0]?.html}`)).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: "light" });
}
