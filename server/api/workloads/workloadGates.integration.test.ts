import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { generatedWorkload } from "@/solver/workload/generated";

const nowhere = "http://127.0.0.1:9";
const workload = generatedWorkload({ prompts: 200, seed: 5 });
const never = new AbortController().signal;

let folder: string;
let runtime: Runtime;
let id: string;
let small: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-workload-gates-"));
  const store = openStore(folder);
  id = storeWorkload(store, workload);
  small = storeWorkload(store, generatedWorkload({ prompts: 40, seed: 5 }));
  store.close();
  runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

test("gates of a stored workload are compared in a thread, as the command line compares them", async () => {
  const compared = await runtime.services.workloads.compareGates({ id, share: 0.3 }, never);
  expect(compared).toEqual(tournamentFigures(workload, { share: 0.3, judgeSeconds: null }));
});

test("too few prompts are refused with a sentence, and a workload that does not exist is none", async () => {
  const { workloads } = runtime.services;
  expect(await workloads.compareGates({ id: small, share: 0.5 }, never)).toEqual({
    ok: false,
    message: "40 prompts are too few: gates are compared on at least 20 held-out prompts.",
  });
  expect(await workloads.compareGates({ id: "none", share: 0.5 }, never)).toBeNull();
});

test("a comparison ends with who asked for it", async () => {
  const leaving = new AbortController();
  const asked = runtime.services.workloads.compareGates({ id, share: 0.5 }, leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
});
