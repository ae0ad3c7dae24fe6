import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { engineProfiles, unfittedProfile, vllmProfile } from "../hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "../hardware/catalogue";
import type { EngineProfile, ProfileErrors } from "../hardware/engineProfile";
import { fitProfile } from "./fitProfile";
import { predictServing } from "./predictServing";
import { readServingRow } from "./readServingRow";
import { profileErrors } from "./servingErrors";
import type { ServingRow } from "./servingRow";

const FILE = "../shared/data/engines/measured_serving.csv";
const present = existsSync(FILE);

const cards = catalogueOf(noUserCards);

function measuredRows(): ServingRow[] {
  const [header = [], ...lines] = readFileSync(FILE, "utf8")
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(","));
  return lines.flatMap((fields, index) => {
    const read = readServingRow(Object.fromEntries(header.map((name, at) => [name, fields[at] ?? ""])), index + 2, cards);
    if (read.outcome !== "row") throw new Error(`Row ${index + 2} was not read: ${JSON.stringify(read)}`);
    return [read.row];
  });
}

function errorsUnder(profile: EngineProfile, rows: readonly ServingRow[]): ProfileErrors {
  return profileErrors(
    rows.map((row) => {
      const answer = predictServing(row, profile, cards);
      if (answer.outcome !== "predicted") throw new Error(answer.unsupported.reason);
      return answer;
    }),
  );
}

const rows = present ? measuredRows() : [];
const vllm = rows.filter((row) => row.engine === "vllm");
const sglang = rows.filter((row) => row.engine === "sglang");
const trtllm = rows.filter((row) => row.engine === "trtllm");

test("fitted to four fifths of the vLLM runs, the simulator predicts the unseen fifth within 7, 8 and 12 %", {
  ...needs(file(FILE)),
  timeout: 240_000,
}, () => {
  expect(vllm).toHaveLength(60);
  const fit = fitProfile(vllm, unfittedProfile, { efficiencies: true, id: "test", name: "test", asOf: "2026-11-21", cards });
  if (fit.outcome !== "fitted" || fit.heldOutErrors === null) throw new Error(JSON.stringify(fit));
  const { endToEnd, tpot, ttft } = fit.heldOutErrors;
  expect([endToEnd.rows, tpot.rows, ttft.rows]).toEqual([60, 60, 60]);
  expect(endToEnd.meanAbsolute).toBeLessThan(0.07);
  expect(tpot.meanAbsolute).toBeLessThan(0.08);
  expect(ttft.meanAbsolute).toBeLessThan(0.12);
  expect(fit.outliers).toEqual([]);
  // The committed profile is this fit.
  for (const [name, value] of Object.entries(fit.profile.coefficients)) {
    const committed = vllmProfile.coefficients[name as keyof typeof vllmProfile.coefficients];
    if (value === 0) expect(committed, name).toBe(0);
    else expect(committed / value, name).toBeCloseTo(1, 2);
  }
});

test("the committed profiles miss their own runs by no more than they say", needs(file(FILE)), () => {
  for (const profile of Object.values(engineProfiles)) {
    const errors = errorsUnder(
      profile,
      rows.filter((row) => row.engine === profile.engine),
    );
    for (const metric of ["ttft", "tpot", "endToEnd"] as const) {
      expect(errors[metric].meanAbsolute, `${profile.id} ${metric}`).toBeLessThan((profile.errors?.[metric].meanAbsolute ?? 0) * 1.1);
    }
  }
});

test("fitted to vLLM's Llama-70B on H200 alone, TPOT holds on engines, models and a GPU it never saw", needs(file(FILE)), () => {
  const qwen = trtllm.filter((row) => row.model === "qwen3-32b");
  expect([sglang.length, qwen.length]).toEqual([46, 180]);
  expect(errorsUnder(vllmProfile, sglang).tpot.meanAbsolute).toBeLessThan(0.17);
  expect(errorsUnder(vllmProfile, qwen).tpot.meanAbsolute).toBeLessThan(0.12);
});

test("nine in ten measured runs lie in the bands of their own engine's profile", needs(file(FILE)), () => {
  for (const engineRows of [vllm, sglang, trtllm]) {
    const [first] = engineRows;
    if (first === undefined) throw new Error("no rows");
    const held = engineRows.map((row) => {
      const answer = predictServing(row, engineProfiles[row.engine], cards);
      const measured = row.measured.tpotSeconds ?? Number.NaN;
      return (
        answer.outcome === "predicted" &&
        answer.bands.tpot !== null &&
        measured >= answer.bands.tpot.low &&
        measured <= answer.bands.tpot.high
      );
    });
    expect(held.filter(Boolean).length / held.length).toBeGreaterThan(0.85);
  }
});
