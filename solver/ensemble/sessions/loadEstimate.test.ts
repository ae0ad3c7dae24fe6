import { expect, it } from "vitest";
import { modelCards } from "@/solver/hardware/models";
import { estimatedLoadSeconds, type WeightStorage } from "./loadEstimate";

it("loads the source's models of 7B to 9B in the time that it measured, 38 to 47 s", () => {
  for (const model of ["llama-3.1-8b", "deepseek-r1-distill-qwen-7b", "gemma-2-9b", "exaone-3.5-7.8b", "glm-4-9b", "qwen2.5-7b"]) {
    const { seconds, source } = estimatedLoadSeconds(modelCards[model]!, 1, "local-nvme");
    expect(seconds).toBeGreaterThan(38);
    expect(seconds).toBeLessThan(47);
    expect(source).toContain("GB of weights");
  }
});

it("takes longer the more there is to read and the slower its storage, and never longer on more GPUs", () => {
  const storages: readonly WeightStorage[] = ["local-nvme", "network-disk", "object-store"];
  const seconds = storages.map((storage) => estimatedLoadSeconds(modelCards["llama-3.1-70b"]!, 4, storage).seconds);
  expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
  for (const [at, storage] of storages.entries()) {
    expect(estimatedLoadSeconds(modelCards["llama-3.1-8b"]!, 4, storage).seconds).toBeLessThan(seconds[at]!);
    expect(estimatedLoadSeconds(modelCards["llama-3.1-70b"]!, 1, storage).seconds).toBeGreaterThanOrEqual(seconds[at]!);
  }
});
