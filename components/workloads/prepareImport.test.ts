import { expect, it } from "vitest";
import { comparisonsOf, importRequest, startingChoice, unnamedModels } from "./prepareImport";

const family = {
  family: "Llama",
  tasks: [
    { task: "gsm", metric: "exact", rows: 10 },
    { task: "crux", metric: "exact", rows: 10 },
  ],
  models: [
    { tableName: "Llama 8B", model: "llama-3.1-8b" },
    { tableName: "Mystery", model: null },
  ],
  judged: false,
  gateColumns: ["confidence", "agreement"] as const,
};
const start = startingChoice(family);
const asked = (gates: Partial<typeof start.gates>, of: { gateColumns: readonly ("confidence" | "agreement")[] } = family) =>
  importRequest(
    { uploadId: "u", survey: { rows: 20, families: [{ ...family, ...of }] } },
    { ...start, gates: { ...start.gates, ...gates } },
  );

it("states what the gate columns hold where the operator says so, and nothing of columns that the table lacks", () => {
  expect(asked({})).not.toHaveProperty("confidence");
  expect(asked({})).not.toHaveProperty("agreement");
  expect(asked({ measure: "answer-span", part: "number" }).confidence).toEqual({ measure: "answer-span", answer: "number" });
  expect(asked({ comparison: "samples", samples: 2, temperature: 1 }).agreement).toEqual({
    answer: "whole",
    samples: { count: 2, temperature: 1 },
  });
  const peer = { comparison: "peer Llama 8B", part: "choice", measure: "mean" } as const;
  expect(asked(peer)).toMatchObject({ confidence: { measure: "mean" }, agreement: { answer: "choice", peers: ["Llama 8B"] } });
  const without = asked(peer, { gateColumns: [] });
  expect([without.confidence, without.agreement]).toEqual([undefined, undefined]);
  expect(comparisonsOf(family).map(({ value }) => value)).toEqual(["unknown", "samples", "peer Llama 8B", "peer Mystery"]);
});

it("starts with every task of the family", () => {
  expect(startingChoice(family).tasks).toEqual(["gsm", "crux"]);
});

it("asks for a card for each name it does not know, until one is given", () => {
  expect(unnamedModels(family, {})).toEqual(["Mystery"]);
  expect(unnamedModels(family, { Mystery: " " })).toEqual(["Mystery"]);
  expect(unnamedModels(family, { Mystery: "llama-3.1-70b" })).toEqual([]);
});

it("models no judge where the table carries judged scores", () => {
  const uploaded = { uploadId: "u", survey: { rows: 20, families: [family] } };
  expect(importRequest(uploaded, startingChoice(family)).judgeAuc).toBe(0.8);
  const judged = { uploadId: "u", survey: { rows: 20, families: [{ ...family, judged: true }] } };
  expect(importRequest(judged, startingChoice(family)).judgeAuc).toBeNull();
});
