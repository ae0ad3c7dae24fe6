import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { freePorts } from "../server/testing/freePorts";
import { expect, type RunningStudio } from "./fixtures";

const root = fileURLToPath(new URL("..", import.meta.url));
const token = "engines-of-somebody-else";

const twoModels = {
  "qwen2.5-3b": { outputTokens: 20, label: 80, judged: 80 },
  "qwen2.5-7b": { outputTokens: 20, label: 80, judged: 80 },
};

/** The answer of every engine to each prompt. */
export interface AnswersOf {
  readonly outputTokens: number;
  /** Quality of the answer and the judge's score of it, 0 to 100. */
  readonly label: number;
  readonly judged: number;
}

/**
 * Running engines that the studio did not start: a second emulator with its own ports and state, in real time, on one node with a GPU
 * for each engine.
 *
 * @param answers each model's engine answer.
 */
export async function startAttachedEngines(answers: Readonly<Record<string, AnswersOf>> = twoModels) {
  const models = Object.keys(answers);
  const folder = mkdtempSync(join(tmpdir(), "weir-e2e-engines-"));
  const [adminPort = 0, dcgmPort = 0, closedPort = 0, enginePort = 0] = await freePorts(4);
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const emulator: ChildProcess = spawn(process.execPath, [join(root, "dist", "emulator.mjs")], {
    env: {
      ...process.env,
      WEIR_STATE_DIR: folder,
      WEIR_ADMIN_TOKEN: token,
      WEIR_EMULATOR_PORT: String(adminPort),
      WEIR_DCGM_PORT: String(dcgmPort),
      WEIR_ENGINE_PORT_BASE: String(enginePort),
      WEIR_EMBEDDED: JSON.stringify({ gpu: "l40s", nodes: [{ name: "theirs", gpus: models.length }] }),
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const admin = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(`${adminUrl}${path}`, { ...init, headers });
  };
  interface Seen {
    readonly judge: { readonly model: string; readonly url: string };
    readonly engines: readonly { readonly id: string; readonly url: string; readonly state: string }[];
  }
  const cluster = async (): Promise<Seen> => (await admin("/cluster")).json() as Promise<Seen>;
  await expect
    .poll(
      () =>
        fetch(`${adminUrl}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  for (const [gpu, model] of models.entries()) {
    const engine = { id: `theirs-${gpu}`, model, gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "theirs", gpus: [gpu] }] };
    expect((await admin("/engines", { method: "POST", body: JSON.stringify(engine) })).status).toBe(202);
  }
  // The table of answers: without it the engines are up and generate nothing.
  const same = <Value>(value: Value): readonly Value[] => Array.from({ length: 20 }, () => value);
  const outcomes = {
    name: "theirs",
    promptIds: same(0).map((_, index) => `prompt-${index}`),
    inputTokens: same(50),
    models: Object.entries(answers).map(([model, { outputTokens, label, judged }]) => ({
      model,
      outputTokens: same(outputTokens),
      label: same(label),
      judged: same(judged),
    })),
  };
  expect((await admin("/outcomes", { method: "PUT", body: JSON.stringify(outcomes) })).status).toBe(204);
  const ready = async () => (await cluster()).engines.filter(({ state }) => state === "ready").length;
  await expect.poll(ready, { timeout: 120_000 }).toBe(models.length);
  const { judge, engines } = await cluster();
  return {
    adminUrl,
    judge,
    urls: engines.map(({ url }) => url),
    closedUrl: `http://127.0.0.1:${closedPort}`,
    standing: ready,
    killOne: async () => void (await admin("/engines/theirs-0?graceSeconds=0", { method: "DELETE" })),
    async stop() {
      const gone = new Promise((resolve) => emulator.once("exit", resolve));
      emulator.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type AttachedEngines = Awaited<ReturnType<typeof startAttachedEngines>>;

/** Attaches the engines with their judge in the page of a signed-in studio; returns the id of the cluster. */
export async function attachEngines(page: Page, studio: RunningStudio, engines: AttachedEngines, name: string): Promise<string> {
  await page.goto(`${studio.url}/clusters?attach=endpoints`);
  await page.getByLabel(/Addresses of engines that already run/).fill(engines.urls.join("\n"));
  await page.getByLabel("GPU type of all engines").selectOption("l40s");
  await page.getByLabel(/^The guessed values are right/).check();
  await page.getByText("Judge and GPU metrics").click();
  await page.getByLabel("Judge's address").fill(engines.judge.url);
  await page.getByLabel("Judge's model name").fill(engines.judge.model);
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Attach and watch live" }).click();
  await expect(page).toHaveURL(/\/live\?cluster=[0-9a-f-]{36}/, { timeout: 30_000 });
  return new URL(page.url()).searchParams.get("cluster") ?? "";
}

/** Status of one client request; 0 where there is no answer. */
export async function ask(baseUrl: string): Promise<number> {
  const body = JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "hello" }], max_tokens: 8 });
  const answer = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  }).catch(() => null);
  await answer?.text();
  return answer?.status ?? 0;
}
