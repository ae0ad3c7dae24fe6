import { expect, it } from "vitest";
import { importRequest, startingChoice, unnamedModels } from "./prepareImport";

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
};

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
