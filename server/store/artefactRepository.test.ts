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
