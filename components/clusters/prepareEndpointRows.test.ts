import { describe, expect, it } from "vitest";
import type { TriedEndpoint } from "@/server/contracts/studio";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { noAttempt } from "./endpointAttempt";
import { type Cards, type EndpointEdits, prepareEndpointRows } from "./prepareEndpointRows";
import { closedAt, triedAt } from "./testEndpoints";

const cards: Cards = {
  models: Object.values(modelCards).map((card) => ({ ...card, own: false })),
  gpus: Object.values(gpuCards).map((card) => ({ ...card, own: false, ownPrice: false })),
};
const url = "http://gpu-1:8000";

function rowOf(tried: TriedEndpoint, edits: EndpointEdits = {}) {
  const attempt = { ...noAttempt, endpoints: [tried.tried], tried: { [url]: tried } };
  const [row] = prepareEndpointRows(attempt, { [url]: edits }, cards);
  if (row === undefined) throw new Error("no row");
  return row;
}

describe("a pasted address as a row", () => {
  it("is being tried until something is known", () => {
    const [row] = prepareEndpointRows({ ...noAttempt, endpoints: [{ name: "a", url }], waiting: [url] }, {}, cards);
    expect(row).toMatchObject({ word: "trying", taken: false, draft: null });
  });

  it("is ready with its guesses said and explained, and names the engine", () => {
    const row = rowOf(triedAt(url));
    expect(row).toMatchObject({ word: "ready", taken: true, fine: "vLLM 0.11.0 · It serves llama" });
    expect(row.why).toEqual({ gpu: "An engine does not tell its GPUs.", tp: "The fewest.", pp: "The fewest." });
  });

  it("is left out where it failed, whatever else was found", () => {
    expect(rowOf(closedAt(url))).toMatchObject({ word: "left out", tone: "bad", taken: false });
    const unwell = triedAt(url, { findings: [{ what: "health", level: "failed", sentence: "Loading.", next: "Wait." }] });
    expect(rowOf(unwell)).toMatchObject({ word: "left out", taken: false });
  });

  it("is attached with gaps where something will be missing, worst first", () => {
    const gap = { what: "metrics", level: "warn", sentence: "No metrics.", next: null } as const;
    expect(rowOf(triedAt(url, { findings: [...triedAt(url).findings, gap] }))).toMatchObject({
      word: "ready, with gaps",
      taken: true,
      faults: [gap],
    });
  });

  it("takes what was said for no guess any more, and guesses the shape anew for another GPU", () => {
    const row = rowOf(triedAt(url), { gpu: "b200-sxm" });
    expect(row.draft).toMatchObject({ gpu: "b200-sxm", guessed: ["tp", "pp"] });
    expect(row.draft?.tp).toBeLessThan(4);
    expect(row.why.tp).toContain("The fewest b200-sxm that hold llama-3.1-70b in bf16");
    expect(rowOf(triedAt(url), { gpu: "b200-sxm", tp: 8 }).draft).toMatchObject({ tp: 8, guessed: ["pp"] });
  });

  it("is attached with the limits that the engine says, or with those that somebody enters in their place", () => {
    const told = triedAt(url);
    const limits = { maxSequences: 32, source: "engine" } as const;
    const limited = { ...told, draft: told.draft && { ...told.draft, limits } };
    expect(rowOf(limited).draft?.limits).toEqual(limits);
    expect(rowOf(told).draft?.limits).toBeUndefined();
    const entered = { maxSequences: 64, maxBatchedTokens: 4096, source: "operator" } as const;
    expect(rowOf(limited, { limits: entered }).draft?.limits).toEqual(entered);
  });

  it("asks which model where several are served, until one is named", () => {
    const asks = triedAt(url, { served: ["one", "two"], questions: ["Which of one, two is to be attached?"] });
    expect(rowOf(asks)).toMatchObject({ word: "asks", taken: false, served: ["one", "two"] });
  });

  it("asks for a card where there is none of its model, and is ready with the one that is chosen", () => {
    const unknown = triedAt(url, { draft: null, guesses: [], questions: ["There is no card of llama."] });
    expect(rowOf(unknown)).toMatchObject({ word: "asks", taken: false, served: ["llama"] });
    const row = rowOf(unknown, { model: "qwen2.5-7b" });
    expect(row).toMatchObject({ word: "ready", taken: true, questions: [] });
    expect(row.draft).toMatchObject({ model: "qwen2.5-7b", servedName: "llama", url, guessed: ["gpu", "tp", "pp", "precision"] });
  });
});
