import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { openStore } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { workloadImportSchema } from "../base/inputs";
import { createWorkloadService } from "./workloadService";

const folder = mkdtempSync(join(tmpdir(), "weir-import-columns-"));
const store = openStore(folder);
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});
const uploads = createUploads(folder);
const arrivals = { openUpload: uploads.open, workloadOf: () => null, clusterOf: () => null, clusterName: (id: string) => id };
const service = createWorkloadService({ store, uploads, cards: createCardStore(folder), arrivals });

const rows = ["qwen2.5-3b", "qwen2.5-7b"].flatMap((model, rank) =>
  Array.from({ length: 4 }, (_, at) => `t,correct,p${at},c,f,${rank},${model},${at % 2},20,50,${60 + at},${100 * rank}`),
);
const header = "task,metric,prompt_id,category,family,size_rank,model,score,out_tok,in_tok,confidence,agreement";

async function imported(name: string, stated: object) {
  const saved = await uploads.save(Readable.from([Buffer.from(`${header}\n${rows.join("\n")}\n`)]), "table.csv");
  if (!saved.ok) throw new Error(saved.message);
  const order = { arrivalsUploadId: null, family: null, tasks: [], judgeAuc: null, name, aliases: {}, outcomesUploadId: saved.id };
  return service.importUploads(workloadImportSchema.parse({ ...order, ...stated }), "ann");
}

it("an import keeps what the gate columns hold where it says so, peers by their cards", async () => {
  const agreement = { answer: "number", peers: ["Qwen/Qwen2.5-7B-Instruct"] };
  const made = await imported("stated", { confidence: { measure: "mean" }, agreement });
  const workload = loadWorkload(store, made.ok ? made.id : "");
  expect(workload?.origin).toMatchObject({ confidence: { measure: "mean" }, agreement: { answer: "number", peers: ["qwen2.5-7b"] } });
  const plain = await imported("plain", {});
  const origin = loadWorkload(store, plain.ok ? plain.id : "")?.origin;
  expect([origin?.confidence, origin?.agreement]).toEqual([undefined, undefined]);
});

it("an import is refused, and nothing stored, where a peer is unknown or agreement is said to compare nothing", async () => {
  const before = store.workloads.list().length;
  expect(await imported("x", { agreement: { answer: "number", peers: ["nobody"] } })).toMatchObject({ ok: false });
  expect(await imported("x", { agreement: { answer: "number" } })).toMatchObject({ message: expect.stringContaining("say which") });
  expect(store.workloads.list()).toHaveLength(before);
});
