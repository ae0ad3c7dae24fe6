import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { LiveFrame, TargetEvent } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { keepIdentities } from "./engineIdentities";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-identities-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

type Engine = { readonly type: string; readonly version: string | null } | null;
const vllm = (version: string | null): Engine => ({ type: "vllm", version });
const event = (kind: TargetEvent["kind"], atMs: number): TargetEvent => ({ kind, atMs, text: "" });
const frame = (atMs: number, engine: Engine, events: readonly TargetEvent[] = [], model = "m") =>
  ({ atMs, clusterId: "here", engines: [{ id: "a", model, engine, events }] }) as unknown as LiveFrame;

/** The stored identity of the engine after these frames, in a studio that was just started. */
async function after(...frames: readonly LiveFrame[]) {
  await keepIdentities(
    (async function* () {
      yield* frames;
    })(),
    store.identities,
  );
  return store.identities.get("here", "a");
}

it("remembers a change of version after the events that told it are forgotten, and after the studio was started anew", async () => {
  await after(frame(1000, vllm("0.29.0")), frame(2000, vllm("0.30.0"), [event("version-changed", 1900)]));
  const timeouts = ["timeout", "answers"].flatMap((kind) => [1, 2, 3, 4].map((at) => event(kind as TargetEvent["kind"], 2000 + at)));
  expect(await after(frame(9000, vllm("0.30.0"), timeouts))).toEqual({
    model: "m",
    type: "vllm",
    version: "0.30.0",
    sinceMs: 2000,
    resetsMs: [],
  });
});

it("knows an engine only since it was first heard, and anew where another version, type or model stands under its id", async () => {
  const since = async (one: LiveFrame) => (await after(one))?.sinceMs;
  expect(await since(frame(1000, null))).toBeUndefined();
  expect(await since(frame(2000, vllm("0.30.0")))).toBe(2000);
  expect(await since(frame(3000, vllm("0.30.0")))).toBe(2000);
  expect(await since(frame(4000, vllm("0.31.0")))).toBe(4000);
  expect(await since(frame(5000, { type: "sglang", version: "0.31.0" }))).toBe(5000);
  expect(await since(frame(6000, { type: "sglang", version: "0.31.0" }, [], "other"))).toBe(6000);
});

it("takes an engine that tells its version no more for the same until it was silent for a minute", async () => {
  const early = await after(frame(1000, vllm("0.30.0")), frame(2000, vllm(null)), frame(61_000, vllm(null)), frame(61_500, vllm("0.30.0")));
  expect(early).toMatchObject({ version: "0.30.0", sinceMs: 1000 });
  const late = await after(frame(70_000, vllm(null)), frame(130_000, vllm(null)));
  expect(late).toMatchObject({ version: null, sinceMs: 70_000 });
});

it("keeps each reset once, and counts less time as known where there were more than are kept", async () => {
  const resets = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => event("counters-reset", from + at));
  const early = await after(frame(10, vllm("1")), frame(20, vllm("1"), resets(11, 14)), frame(30, vllm("1"), resets(12, 15)));
  expect(early).toMatchObject({ sinceMs: 10, resetsMs: [11, 12, 13, 14] });
  const late = await after(frame(1000, vllm("1"), resets(100, 400)));
  expect(late?.resetsMs).toHaveLength(256);
  expect(late).toMatchObject({ sinceMs: 143 });
});

it("goes on with the next frame where the store could not be written", async () => {
  let fails = 1;
  const broken: Store["identities"] = {
    ...store.identities,
    put(...what) {
      fails -= 1;
      if (fails >= 0) throw new Error("database is locked");
      store.identities.put(...what);
    },
  };
  await keepIdentities(
    (async function* () {
      yield* [frame(1000, vllm("1")), frame(2000, vllm("1"))];
    })(),
    broken,
  );
  expect(store.identities.get("here", "a")?.sinceMs).toBe(2000);
});
