import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { promptedSituation, writePromptTexts } from "../testing/promptedSituation";
import { type PolicyFlags, readPolicy, withPolicyFlags } from "./policyFlags";
import { type RoutingFlags, readRouting, withRoutingFlags } from "./routingFlags";

const situation = promptedSituation;

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-policy-flags-"));
  file = writePromptTexts(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => void vi.spyOn(process.stderr, "write").mockImplementation(() => true));
afterEach(() => void vi.restoreAllMocks());

const parse = (...args: string[]): RoutingFlags & PolicyFlags =>
  withPolicyFlags(withRoutingFlags(new Command()))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse(args, { from: "user" })
    .opts();
const read = (...args: string[]) => {
  const flags = parse(...args);
  return readPolicy(flags, { ...situation, ...readRouting(flags, catalogueOf(noUserCards)) });
};

describe("--direct-start", () => {
  it("trained: requests start by the scores of a predictor that learns from the prompts, which the plan then names", async () => {
    const { situation: found, policy } = await read("--direct-start", "trained", "--prompt-texts", file);
    expect(policy).toBe("cascade");
    expect(found.directStart).toEqual({ predictor: found.confidence?.artefact });
    expect(found.workload.outcomes.models.every(({ routerScore }) => routerScore?.length === 100)).toBe(true);
  });

  it("trained is refused in one sentence without texts to learn from", async () => {
    await expect(read("--direct-start", "trained")).rejects.toThrow(/^--direct-start trained learns from the texts .*give --prompt-texts/);
  });

  it("with an AUC: a modelled router, and no texts are needed", async () => {
    expect((await read("--direct-start", "0.8")).situation).toEqual({ ...situation, directStart: { auc: 0.8 } });
  });

  it.each(["0.4", "1.1", "learnt", ""])("refuses %j", (text) => {
    expect(() => parse("--direct-start", text)).toThrow();
  });
});

describe("--prompt-texts", () => {
  it("is refused where nothing reads it, and read for the baselines of --explain", async () => {
    await expect(read("--prompt-texts", file)).rejects.toThrow(
      /^--prompt-texts is read by slack dispatch, cascade routing, a trained direct start and --explain/,
    );
    const explained = await readPolicy({ promptTexts: file, explain: true }, situation);
    expect(explained.situation.confidence?.artefact).toMatch(/^[0-9a-f]{64}$/);
    expect(explained.situation.directStart).toBeUndefined();
  });
});
