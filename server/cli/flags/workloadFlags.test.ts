import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { readWorkload } from "./workloadFlags";

const folder = mkdtempSync(join(tmpdir(), "weir-workload-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const catalogue = catalogueOf(noUserCards);
const outcomes = join(folder, "outcomes.csv");
const rows = ["qwen2.5-3b", "qwen2.5-7b"].flatMap((model, rank) =>
  Array.from({ length: 6 }, (_, at) => `t,correct,p${at},c,f,${rank},${model},${at % 2},20,50,${60 + at}`),
);
writeFileSync(outcomes, `task,metric,prompt_id,category,family,size_rank,model,score,out_tok,in_tok,confidence\n${rows.join("\n")}\n`);

describe("readWorkload", () => {
  it("keeps what the column confidence holds where a flag says so", async () => {
    const read = (flags: object) => readWorkload({ outcomes, models: {}, seed: 1, ...flags }, catalogue);
    const plain = await read({});
    expect(plain.ok && [plain.workload.origin.confidence, plain.workload.outcomes.models[0]?.confidence?.[1]]).toEqual([undefined, 61]);
    const mean = await read({ confidenceMeasure: "mean" });
    expect(mean.ok && mean.workload.origin.confidence).toEqual({ measure: "mean" });
  });
});
