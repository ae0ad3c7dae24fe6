import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Prompt } from "@/server/contracts/studio";
import { keepProfile, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { generatedWorkload } from "@/solver/workload/generated";
import { textsOf } from "./textsOf";

const prompt = (id: string, messages: readonly unknown[]): Prompt => ({
  ...{ id, category: "", atMs: null, reference: null, test: null },
  body: { messages },
});
const user = (content: unknown) => ({ role: "user", content });

let folder: string;
let store: Store;
let profileId: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-texts-"));
  store = openStore(folder);
  const prompts = [
    prompt("a", [user("first"), { role: "assistant", content: "answer" }, user("last")]),
    prompt("b[1]", [{ role: "system", content: "rules" }, user([{ type: "text", text: "in parts" }])]),
    prompt("a", [user("named alike")]),
    prompt("", [{ role: "system", content: "no user" }]),
  ];
  profileId = keepProfile(store, keepPrompts(store, prompts), {
    ...{ models: [], measures: [], concurrency: 1, requestsPerMinute: null, capUsd: null, maxOutputTokens: 10, keepAnswers: false },
  });
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const workload = (seed: number) => generatedWorkload({ prompts: 20, seed });

it("finds the last user message of a workload's prompts, however their ids had to be written, also with other arrivals", () => {
  const id = storeWorkload(store, workload(1), { profileId });
  const child = storeWorkload(store, workload(2), { parentId: id });
  const promptIds = ["b_1_", "a-2", "unknown", "prompt-4", "a"];
  expect(textsOf(store, id, promptIds)).toEqual(["in parts", "named alike", null, "", "last"]);
  expect(textsOf(store, child, promptIds)).toEqual(["in parts", "named alike", null, "", "last"]);
});

it("finds none of a workload that came as a table, and none once the prompts are deleted", () => {
  const table = storeWorkload(store, workload(3));
  expect(textsOf(store, table, ["a"])).toBeNull();
  const id = storeWorkload(store, workload(4), { profileId });
  expect(textsOf(store, id, ["a"])).toEqual(["last"]);
  store.prompts.deleteTexts("set");
  expect(textsOf(store, id, ["a"])).toBeNull();
});
