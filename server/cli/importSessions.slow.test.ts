import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "@/server/store/store";
import { weirIn } from "./testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-import-sessions-"));
const state = join(folder, "state");
const weir = weirIn(folder);
beforeAll(() => mkdirSync(state, { mode: 0o700 }));
afterAll(() => rmSync(folder, { recursive: true }));

const columns = "model,gpu,tp,prompts,concurrency,mean_output_tokens,max_output_tokens,seconds,load_seconds,origin";
const importing = (...lines: readonly string[]) => {
  const file = join(folder, "sessions.csv");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return weir("import", "sessions", file);
};
const kept = () => {
  const store = openStore(state);
  try {
    return {
      rows: store.sessionRows.list("l40s", ["qwen2.5-3b", "qwen2.5-7b"]).toReversed(),
      audited: store.audit.list(10).map(({ action, detail }) => [action, detail]),
    };
  } finally {
    store.close();
  }
};

it("keeps measured sessions as batches measure them, and loads alone", async () => {
  const { code, stdout, stderr } = await importing(
    columns,
    "qwen2.5-3b,l40s,1,200,64,180.5,900,31.25,12,",
    "qwen2.5-3b,l40s,1,50,,180,700,9,,emulated",
    "qwen2.5-7b,l40s,2,0,,0,0,0,40,measured",
  );
  expect([code, stdout, stderr]).toEqual([0, "Kept 3 sessions of 2 models.\n", ""]);
  const { rows, audited } = kept();
  const small = { model: "qwen2.5-3b", gpu: "l40s", tp: 1 };
  expect(rows).toEqual([
    {
      ...small,
      prompts: 200,
      concurrency: 64,
      meanOutputTokens: 180.5,
      maxOutputTokens: 900,
      seconds: 31.25,
      loadSeconds: 12,
      origin: "measured",
    },
    {
      ...small,
      prompts: 50,
      concurrency: null,
      meanOutputTokens: 180,
      maxOutputTokens: 700,
      seconds: 9,
      loadSeconds: null,
      origin: "emulated",
    },
    {
      ...{ model: "qwen2.5-7b", gpu: "l40s", tp: 2, prompts: 0, concurrency: null, meanOutputTokens: 0, maxOutputTokens: 0, seconds: 0 },
      ...{ loadSeconds: 40, origin: "measured" },
    },
  ]);
  expect(audited).toEqual([["import sessions", "3 sessions of 2 models"]]);
});

it("takes nothing of a table with a fault, and says in one sentence where it is", async () => {
  const before = kept().rows.length;
  const good = "qwen2.5-3b,l40s,1,200,64,180.5,900,31.25,12,";
  const faults: readonly (readonly [string, string])[] = [
    ["nobody,l40s,1,200,64,180,900,31,12,", "model is"],
    ["qwen2.5-3b,abacus,1,200,64,180,900,31,12,", "gpu is"],
    ["qwen2.5-3b,l40s,x,200,64,180,900,31,12,", "tp is"],
    ["qwen2.5-3b,l40s,1,2.5,64,180,900,31,12,", "prompts is"],
    ["qwen2.5-3b,l40s,1,200,0,180,900,31,12,", "concurrency is"],
    ["qwen2.5-3b,l40s,1,200,64,901,900,31,12,", "mean_output_tokens is"],
    ["qwen2.5-3b,l40s,1,200,64,180,900,0,12,", "seconds is 0"],
    ["qwen2.5-3b,l40s,1,0,64,0,0,0,,", "load_seconds is missing"],
    ["qwen2.5-3b,l40s,1,200,64,180,900,31,12,guessed", "origin is"],
  ];
  for (const [line, fault] of faults) {
    const { code, stdout, stderr } = await importing(columns, good, line);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`sessions.csv line 3: ${fault}`);
  }
  expect((await importing("model,gpu", "a,b")).stderr).toContain("line 1: tp, prompts, mean_output_tokens");
  expect((await weir("import", "sessions", join(folder, "none.csv"))).code).toBe(2);
  expect(kept().rows).toHaveLength(before);
});

it("says an unknown GPU of all rows once, with their count", async () => {
  const rows = Array.from({ length: 5 }, (_, index) => `qwen2.5-3b,cpu-core,1,200,${index + 1},180,900,31,12,`);
  const { code, stderr } = await importing(columns, ...rows);
  expect(code).toBe(2);
  expect(stderr).toContain("sessions.csv, 5 rows (lines 2, 3, 4 …): gpu is 'cpu-core', of which there is no card");
});
