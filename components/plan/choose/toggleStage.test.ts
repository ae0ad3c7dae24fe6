import { expect, it } from "vitest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { searched, testKnobs } from "../testing/testTables";
import { toggleStage } from "./toggleStage";

const toggled = (models: readonly string[], model: string, knobs: Knobs = testKnobs) =>
  toggleStage({ models, thresholds: models.slice(1).map(() => 1) }, model, {
    exploration: searched,
    candidates: candidatesFor(searched, knobs),
    knobs,
  });

it("takes a model in at its place of the ladder, at the thresholds that meet the floor best", () => {
  expect(toggled(["middle"], "small")).toEqual({ models: ["small", "middle"], thresholds: [70] });
  expect(toggled(["middle"], "small", { ...testKnobs, qualityFloor: 74 })).toEqual({ models: ["small", "middle"], thresholds: [40] });
});

it("takes the highest quality where no thresholds meet the floor", () => {
  expect(toggled(["middle"], "small", { ...testKnobs, qualityFloor: 99 })).toEqual({ models: ["small", "middle"], thresholds: [70] });
});

it("takes a model out, but never the last", () => {
  expect(toggled(["small", "large"], "large")).toEqual({ models: ["small"], thresholds: [] });
  expect(toggled(["small"], "small")).toBeNull();
});

it("begins in the middle where the search looked at no thresholds of the cascade", () => {
  expect(toggled(["small", "middle"], "large")).toEqual({ models: ["small", "middle", "large"], thresholds: [50, 50] });
});
