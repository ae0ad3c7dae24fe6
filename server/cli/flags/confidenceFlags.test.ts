import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { splitPrompts } from "@/solver/workload/split";
import { promptedSituation, writePromptTexts } from "../testing/promptedSituation";
import { type ConfidenceFlags, readConfidence, withConfidenceFlags } from "./confidenceFlags";

const situation = promptedSituation;
const { workload } = situation;

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-confidence-"));
  file = writePromptTexts(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

let said: string;
beforeEach(() => {
  said = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

const flagsOf = (...args: string[]): ConfidenceFlags => withConfidenceFlags(new Command()).parse(args, { from: "user" }).opts();

describe("--prompt-texts", () => {
  it("trains confidence and attaches its scores, the same for the same files, and says so and which predictor a plan names", async () => {
    const read = await readConfidence(flagsOf("--prompt-texts", file), situation);
    const prompts = splitPrompts(100, workload.seed).planning.length;
    expect(said).toMatch(
      new RegExp(
        `^Confidence: trained on ${prompts} prompts, out-of-fold AUC 0\\.\\d\\d / 0\\.\\d\\d\\.\\nA plan that reads its scores names this predictor, [0-9a-f]{8}: .*\\.\\n$`,
      ),
    );
    expect(read.confidence?.artefact).toMatch(/^[0-9a-f]{64}$/);
    for (const { routerScore } of read.workload.outcomes.models) {
      expect(routerScore).toHaveLength(100);
      expect(routerScore?.every((score) => score > 0 && score < 100)).toBe(true);
    }
    expect(read.workloadId).toBe("w");
    expect(await readConfidence(flagsOf("--prompt-texts", file), situation)).toEqual(read);
  });

  it("left out: stated confidences, and the situation as it was", async () => {
    expect(await readConfidence(flagsOf(), situation)).toBe(situation);
    expect(said).toBe("Confidence: stated.\n");
  });

  it("with a direct start is not used, and a line says why", async () => {
    const direct = { ...situation, directStart: { auc: 0.8 } };
    expect(await readConfidence(flagsOf("--prompt-texts", file), direct)).toBe(direct);
    expect(said).toMatch(/^Confidence: stated\. .+modelled router.+\n$/);
  });

  it("is refused by its name where the file has none of the prompts, lacks a column or does not exist", async () => {
    const refusalOf = (text: string) => {
      const other = join(folder, "other.csv");
      writeFileSync(other, text);
      return readConfidence({ promptTexts: other }, situation);
    };
    await expect(refusalOf("prompt_id,prompt\nx,y")).rejects.toThrow(/^--prompt-texts: .*none of the workload's prompts/);
    await expect(refusalOf("prompt_id,text\nx,y")).rejects.toThrow(/^--prompt-texts: .*no column prompt/);
    await expect(readConfidence({ promptTexts: join(folder, "none.csv") }, situation)).rejects.toThrow(/^--prompt-texts: .*no file/);
  });
});
