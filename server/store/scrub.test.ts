import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ProfileRequest, Prompt, PromptSet } from "@/server/contracts/studio";
import { openStore, type Store } from "./store";

const marker = "zq-marker";
const at = "2026-01-01T00:00:00.000Z";
const set = { id: "s", name: "mine", createdAt: at, expiresAt: null, prompts: 1 } as Omit<PromptSet, "deleted">;
const prompt: Prompt = { id: "q", category: "", atMs: null, reference: null, test: null, body: { messages: [] } };

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-store-"));
  store = openStore(folder);
  store.prompts.insert(set, [prompt]);
  for (const id of ["p", "q"])
    store.profiles.insert({
      id,
      createdAt: at,
      actor: "a",
      promptSetId: "s",
      request: {} as ProfileRequest,
      state: "running",
      pause: null,
    });
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(folder, { recursive: true });
});

const call = (profileId: string, position: number) =>
  ({ position, model: "m", measureId: "", reading: 0, profileId, attempts: 1, at, usd: 0 }) as const;
const answer = (profileId: string, position: number) =>
  store.profiles.saveCalls(profileId, [{ ...call(profileId, position), state: "done", answer: marker }]);

/** SQLite increments it when it rebuilds a file. */
function builds(): number {
  const client = new Sqlite(join(folder, "weir.db"), { readonly: true });
  try {
    return Number(client.pragma("schema_version", { simple: true }));
  } finally {
    client.close();
  }
}

describe("deleted texts", () => {
  it("leave nothing in the files, though rows grew, shrank and moved between pages", () => {
    const found = (): number =>
      readdirSync(folder).reduce((sum, file) => sum + readFileSync(join(folder, file), "latin1").split(marker).length - 1, 0);
    for (let position = 0; position < 500; position += 1) store.profiles.saveCalls("p", [{ ...call("p", position), state: "asked" }]);
    for (let turn = 0; turn < 500; turn += 1) {
      const position = (turn * 7) % 500;
      store.profiles.saveCalls("p", [{ ...call("p", position), state: "done", answer: `${marker} ${"x".repeat((turn * 37) % 900)}` }]);
    }
    expect(found()).toBeGreaterThan(0);
    store.profiles.dropAnswers("p");
    expect(found()).toBe(0);
    expect(store.profiles.call("p", call("p", 3))).toMatchObject({ state: "done", answer: null });
  });

  it("have the file built anew once a minute at most, and never where none were deleted", () => {
    vi.useFakeTimers();
    const before = builds();
    store.profiles.dropAnswers("p");
    store.scrub();
    expect(builds()).toBe(before);
    answer("p", 1);
    store.profiles.dropAnswers("p");
    expect(builds()).toBe(before + 1);
    for (const position of [2, 3, 4]) {
      answer("q", position);
      store.profiles.dropAnswers("q");
    }
    expect(builds()).toBe(before + 1);
    vi.advanceTimersByTime(61_000);
    expect(builds()).toBe(before + 2);
    vi.advanceTimersByTime(3_600_000);
    expect(builds()).toBe(before + 2);
  });

  it("go at once where somebody deletes them, and before the store is closed", () => {
    const before = builds();
    for (const position of [1, 2]) {
      answer("p", position);
      store.erasing(() => store.profiles.dropAnswersOf("s"));
    }
    expect(builds()).toBe(before + 2);
    answer("p", 3);
    store.profiles.dropAnswers("p");
    expect(builds()).toBe(before + 2);
    store.close();
    store = openStore(folder);
    expect(builds()).toBe(before + 3);
  });

  it("are remembered where the studio was killed before their copies went, and where deleting them was taken back they are not", () => {
    answer("p", 1);
    store.profiles.saveCalls("p", [], [{ position: 1, model: "m" }]);
    store.close();
    store = openStore(folder);
    const before = builds();
    store.scrub();
    expect(builds()).toBe(before + 1);
    expect(() =>
      store.atomically(() => {
        store.prompts.deleteTexts("s");
        throw new Error("no");
      }),
    ).toThrow("no");
    store.close();
    store = openStore(folder);
    store.scrub();
    expect(builds()).toBe(before + 1);
  });
});
