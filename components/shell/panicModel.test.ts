import { expect, it } from "vitest";
import { panicModel } from "./panicModel";

const named = (...models: readonly string[]) => models.map((model) => ({ model }));

it("offers the largest model by its name, wherever it stands", () => {
  expect(panicModel(named("llama-3.1-8b", "llama-3.1-405b-fp8", "llama-3.1-70b"))?.model).toBe("llama-3.1-405b-fp8");
});

it("offers the last where names tell no size, and none where there is none", () => {
  expect(panicModel(named("small", "large"))?.model).toBe("large");
  expect(panicModel([])).toBeNull();
});
