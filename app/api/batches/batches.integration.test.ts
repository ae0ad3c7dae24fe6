import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { signedInHeaders } from "@/server/api/testing/signedInHeaders";
import { testOrder, testPrompt } from "@/server/batches/testing/testOrder";
import { studioSettings } from "@/server/lib/studioSettings";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore } from "@/server/store/store";
import { GET } from "./[id]/results/route";

const questions = 700;
const at = "2026-01-01T00:00:00.000Z";

let folder = "";
let studio: Runtime;
let signedIn: Record<string, string> = {};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-results-"));
  const nowhere = "http://127.0.0.1:9";
  keepBatch();
  studio = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: studio });
  signedIn = signedInHeaders(studio);
});
afterAll(async () => {
  await studio.close();
  rmSync(folder, { recursive: true });
});

/** A finished batch: both experts answered A to everything. */
function keepBatch(): void {
  const store = openStore(folder);
  const aggregatorPredicted = { loadSeconds: 1, points: [{ share: 1, seconds: 1 }], expected: null };
  const order = { ...testOrder(questions), aggregators: [{ node: "n1", gpus: [0] }], aggregatorPredicted };
  const nodes = [{ name: "n1", gpus: 2 }];
  store.clusters.insert({ id: "lab", name: "Lab", kind: "described", gpu: "l40s", nodes, usdPerGpuHour: 1 }, at);
  keepPrompts(
    store,
    Array.from({ length: questions }, (_, position) => testPrompt(position)),
  );
  const { ensemble } = order;
  store.batches.insert({
    ...{ id: "known", createdAt: at, endedAt: at, actor: "ada", clusterId: "lab", promptSetId: "set", order },
    state: "done",
    pause: null,
  });
  const told = { ...{ inputTokens: 9, outputTokens: 3, seconds: 1, failure: null, vote: "A", answer: "It is\nAnswer: A" } };
  store.batches.saveCalls(
    "known",
    ensemble.experts.flatMap((model) =>
      Array.from({ length: questions }, (_, position) => ({
        ...({ batchId: "known", stage: "experts", position, model, state: "done", attempts: 1, lost: 0, at, engine: null } as const),
        ...told,
      })),
    ),
  );
  store.close();
}

const ask = (id: string, headers = signedIn) =>
  GET(new Request(`http://127.0.0.1/api/batches/${id}/results`, { headers }), { params: Promise.resolve({ id }) });

it("gives a batch's results as lines of JSON in the order of its prompts, and only to who is signed in", async () => {
  expect([(await ask("known", {})).status, (await ask("none")).status]).toEqual([401, 404]);
  const response = await ask("known");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-disposition")).toContain("batch-known.jsonl");
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: questions }, (_, position) => `p${position}`));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    verdict: "skipped",
    answer: "A",
    text: "It is\nAnswer: A",
    votes: "2:0",
    correct: null,
  });
});

it("lets go of the rest when a download ends early", async () => {
  const reader = (await ask("known")).body?.getReader();
  expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
  await reader?.cancel();
  expect((await reader?.read())?.done).toBe(true);
});
