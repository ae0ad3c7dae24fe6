import { expect, it } from "vitest";
import { testSample } from "../testing/testGate";
import { nameOfFile, sampleHindrance, sampleOptions, tickedModels } from "./prepareSamples";

it("tells samples apart by where they are from, how much they hold and when they came", () => {
  const [option] = sampleOptions([testSample({ origin: "modelled" })]);
  expect(sampleOptions([testSample({ name: "Example, modelled", origin: "modelled" })])[0]?.text).toMatch(/^Example, modelled: 1,000/);
  expect(option?.text).toMatch(/^answers, modelled: 1,000 questions, 4 models, 2026-03-01/);
});

it("calls a sample as its file is called", () => {
  expect(nameOfFile("answers_gsm.csv.gz")).toBe("answers_gsm");
  expect(nameOfFile("a.b")).toBe("a.b");
  expect(nameOfFile("x".repeat(200))).toHaveLength(80);
});

it("begins with all models of a file, and where they are too many with those most often right", () => {
  const models = Array.from({ length: 20 }, (_, at) => ({ model: `m${at}`, accuracy: at / 20 }));
  expect(tickedModels(models.slice(0, 17))).toHaveLength(17);
  expect(tickedModels(models)).toEqual(["m19", "m18", "m17", "m16"]);
});

it("says what hinders a sample, one thing at a time", () => {
  expect(sampleHindrance({ name: "", models: ["a"] })).toContain("two models");
  expect(sampleHindrance({ name: "a", models: Array.from({ length: 18 }, String) })).toContain("17");
  expect(sampleHindrance({ name: " ", models: ["a", "b"] })).toContain("name");
  expect(sampleHindrance({ name: "a", models: ["a", "b"] })).toBeNull();
});
