import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { openStore } from "./store";

const marker = "zq-marker";

it("leaves nothing of deleted texts in the files, though rows grew, shrank and moved between pages", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-store-"));
  const store = openStore(folder);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
  const found = (): number =>
    readdirSync(folder).reduce((sum, file) => sum + readFileSync(join(folder, file), "latin1").split(marker).length - 1, 0);
  const at = "2026-01-01T00:00:00.000Z";
  const set = { id: "s", name: "mine", createdAt: at, expiresAt: null, prompts: 1 } as Omit<PromptSet, "deleted">;
  const prompt = { id: "q", category: "", atMs: null, reference: null, test: null, body: { messages: [] } };
  store.prompts.insert(set, [prompt]);
  const job = {
    id: "p",
    createdAt: at,
    actor: "a",
    promptSetId: "s",
    request: {} as ProfileRequest,
    state: "running",
    pause: null,
  } as const;
  store.profiles.insert(job);
  const call = (position: number) =>
    ({ position, model: "m", measureId: "", reading: 0, profileId: "p", attempts: 1, at, usd: 0 }) as const;
  for (let position = 0; position < 500; position += 1) store.profiles.saveCalls("p", [{ ...call(position), state: "asked" }]);
  for (let turn = 0; turn < 500; turn += 1) {
    const position = (turn * 7) % 500;
    store.profiles.saveCalls("p", [{ ...call(position), state: "done", answer: `${marker} ${"x".repeat((turn * 37) % 900)}` }]);
  }
  expect(found()).toBeGreaterThan(0);
  store.profiles.dropAnswers("p");
  expect(found()).toBe(0);
  expect(store.profiles.call("p", call(3))).toMatchObject({ state: "done", answer: null });
});
