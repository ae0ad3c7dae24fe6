import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { samplesFlag } from "./flagValues";
import { readWorkload } from "./workloadFlags";

const folder = mkdtempSync(join(tmpdir(), "weir-workload-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const catalogue = catalogueOf(noUserCards);
const outcomes = join(folder, "outcomes.csv");
const rows = ["qwen2.5-3b", "qwen2.5-7b"].flatMap((model, rank) =>
  Array.from({ length: 6 }, (_, at) => `t,correct,p${at},c,f,${rank},${model},${at % 2},20,50,${60 + at}`),
);
writeFileSync(outcomes, `task,metric,prompt_id,category,family,size_rank,model,score,out_tok,in_tok,confidence\n${rows.join("\n")}\n`);
const compared = join(folder, "compared.csv");
const answered = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"].flatMap((model, rank) =>
  Array.from({ length: 60 }, (_, at) => `t,correct,p${at},c,f,${rank},${model},${at % 2},20,50,${rank === 1 ? "" : (at % 2) * 100}`),
);
writeFileSync(compared, `task,metric,prompt_id,category,family,size_rank,model,score,out_tok,in_tok,agreement\n${answered.join("\n")}\n`);

describe("readWorkload", () => {
  it("keeps what the column confidence holds where a flag says so", async () => {
    const read = (flags: object) => readWorkload({ outcomes, models: {}, seed: 1, ...flags }, catalogue);
    const plain = await read({});
    expect(plain.ok && [plain.workload.origin.confidence, plain.workload.outcomes.models[0]?.confidence?.[1]]).toEqual([undefined, 61]);
    const mean = await read({ confidenceMeasure: "mean" });
    expect(mean.ok && mean.workload.origin.confidence).toEqual({ measure: "mean" });
    const span = await read({ confidenceMeasure: "answer-span", agreementAnswer: "number" });
    expect(span.ok && span.workload.origin).toMatchObject({ confidence: { measure: "answer-span", answer: "number" } });
  });

  it("keeps what the column agreement compares where flags say so, and a plan's gate compares the same", async () => {
    const read = (flags: object) => readWorkload({ outcomes: compared, models: {}, seed: 1, ...flags }, catalogue);
    const gateIn = async (flags: object) => {
      const found = await read(flags);
      if (!found.ok) throw new Error(found.message);
      const [small = "", , large = ""] = found.workload.outcomes.models.map(({ model }) => model);
      return gateCandidates(found.workload, [small, large], () => true).find(({ kind }) => kind === "agreement")?.documents?.[small];
    };
    expect(await gateIn({})).toBeUndefined();
    const peers = { agreementPeers: ["qwen2.5-7b"], agreementAnswer: "number" };
    expect(await gateIn(peers)).toMatchObject({ kind: "agreement", answer: "number", peers: ["qwen2.5-7b"] });
    const samples = { agreementSamples: samplesFlag("4@1") };
    expect(await gateIn(samples)).toMatchObject({ answer: "whole", samples: { count: 4, temperature: 1 } });
    const refused = async (flags: object) => {
      const found = await read(flags);
      return found.ok ? "" : found.message;
    };
    expect(await refused({ agreementAnswer: "number" })).toContain("say which");
    expect(await refused({ agreementPeers: ["nobody"] })).toContain('no model card for the peer "nobody"');
    const without = await readWorkload({ outcomes, models: {}, seed: 1, ...samples }, catalogue);
    expect(without).toMatchObject({ ok: false, message: expect.stringContaining("no model of the table has that column") });
  });
});
