import { describe, expect, it } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { fittingShapes } from "./fittingShapes";
import { shapeText } from "./prepareConstraints";

const { models, gpus } = catalogueOf(noUserCards);
const cards = {
  models: Object.values(models).map((card) => ({ ...card, own: false })),
  gpus: Object.values(gpus).map((card) => ({ ...card, own: false, ownPrice: false })),
};
const cluster = { id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 } as const;
const shapesOf = (model: string, nodes: readonly { name: string; gpus: number; gpu?: string }[]) =>
  fittingShapes(model, { ...cluster, nodes: [...nodes] }, cards).map(shapeText);

describe("shapes to choose from", () => {
  it("are those that hold the model on the cluster's nodes, smallest first", () => {
    const large = shapesOf("llama-3.1-70b", [{ name: "a", gpus: 4 }]);
    expect(large).toContain("tp 4");
    expect(large).not.toContain("tp 1");
    expect(large).not.toContain("tp 8");
    expect(shapesOf("llama-3.1-8b", [{ name: "a", gpus: 4 }])[0]).toBe("tp 1");
  });

  it("take in what fits on any one GPU type of a mixed cluster, but nothing across types", () => {
    const small = [{ name: "a", gpus: 1 }];
    expect(shapesOf("llama-3.1-70b", small)).toEqual([]);
    const mixed = shapesOf("llama-3.1-70b", [...small, { name: "b", gpus: 8, gpu: "l40s" }]);
    expect(mixed).toContain("tp 8");
    expect(mixed).not.toContain("tp 1");
  });

  it("are none for a model without a card", () => {
    expect(shapesOf("nobody-1b", [{ name: "a", gpus: 8 }])).toEqual([]);
  });
});
