import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Artefact } from "@/server/contracts/studio";
import { openStore } from "./store";

const training: Artefact["training"] = {
  ...{ workloadId: "w", workloadName: "W", models: ["m"], workflows: [], correlation: null, prompts: 1, requests: 1, texts: true },
  ...{ encoder: null, source: "labelled prompts", emulated: false },
};
const artefact = (hash: string, at: number, kind: Artefact["kind"], workloadId = "w"): Omit<Artefact, "version" | "bytes"> => ({
  ...{ hash, kind, createdAt: new Date(at).toISOString(), actor: "ada", heldOut: { prompts: 3 } },
  training: { ...training, workloadId },
});

it("counts versions by kind and workload, lists without the bytes, and gives them by hash, over a restart too", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-artefact-store-"));
  const first = openStore(folder);
  first.artefacts.insert(artefact("a", 1, "lengths"), new Uint8Array([1, 2]));
  first.artefacts.insert(artefact("b", 2, "lengths"), new Uint8Array([3, 4, 5]));
  first.artefacts.insert(artefact("c", 3, "confidence"), new Uint8Array([6]));
  first.artefacts.insert(artefact("d", 4, "lengths", "other"), new Uint8Array());
  first.close();
  const { artefacts, close } = openStore(folder);
  expect(artefacts.list().map(({ hash, version, bytes }) => [hash, version, bytes])).toEqual([
    ["d", 1, 0],
    ["c", 1, 1],
    ["b", 2, 3],
    ["a", 1, 2],
  ]);
  expect(Array.from(artefacts.get("b")?.bytes ?? [])).toEqual([3, 4, 5]);
  expect(artefacts.remove("b")).toBe(true);
  expect([artefacts.has("b"), artefacts.has("a"), artefacts.get("b"), artefacts.remove("b")]).toEqual([false, true, null, false]);
  close();
  rmSync(folder, { recursive: true });
});

it("keeps the confidences of planning prompts by artefact, to the bit and over a restart, and drops them with it", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-artefact-scores-"));
  const first = openStore(folder);
  const scores = { models: [{ model: "m", labels: "a".repeat(64) }], scores: Float32Array.of(0.1, 1, 0).subarray(1) };
  expect(() => first.artefacts.keepScores("unknown", scores)).toThrow(/FOREIGN KEY/);
  for (const [at, hash] of ["old", "bare", "new"].entries()) first.artefacts.insert(artefact(hash, at, "confidence"), new Uint8Array([at]));
  for (const hash of ["new", "old"]) first.artefacts.keepScores(hash, scores);
  const replaced = { ...scores, scores: Float32Array.of(0.25) };
  first.artefacts.keepScores("old", replaced);
  first.close();
  const { artefacts, close } = openStore(folder);
  expect(artefacts.scored()).toEqual(["new", "old"].map((hash) => ({ hash, models: scores.models })));
  expect(artefacts.scores("new")).toEqual({ ...scores, scores: Float32Array.of(1, 0) });
  expect([artefacts.scores("old"), artefacts.scores("bare")]).toEqual([replaced, null]);
  expect(artefacts.remove("new")).toBe(true);
  expect([artefacts.scores("new"), artefacts.scored().map(({ hash }) => hash)]).toEqual([null, ["old"]]);
  close();
  rmSync(folder, { recursive: true });
});
