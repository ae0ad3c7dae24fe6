import fc from "fast-check";
import { expect, it } from "vitest";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { poolShapes, workerShape } from "./workerShape";

const profile = vllmProfile;
const l40s = gpuCards.l40s!;

it("takes all of a worker's GPUs for one engine, or says why it cannot and how many would do", () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(modelCards)), fc.integer({ min: 1, max: 16 }), (model, gpus) => {
      const shaped = workerShape(model, l40s, { gpus, profile });
      if (shaped.fits) {
        expect(shaped.shape).toEqual({ tp: gpus, pp: 1 });
      } else {
        expect(shaped.reason.length).toBeGreaterThan(10);
        for (const other of shaped.gpusThatFit) expect(workerShape(model, l40s, { gpus: other, profile }).fits).toBe(true);
      }
    }),
  );
  expect(workerShape(modelCards["llama-3.1-70b"]!, l40s, { gpus: 1, profile })).toMatchObject({ fits: false, gpusThatFit: [4, 8] });
  // 28 heads are not divided by 8.
  expect(workerShape(modelCards["qwen2.5-7b"]!, l40s, { gpus: 8, profile })).toMatchObject({ fits: false, gpusThatFit: [1, 2, 4] });
});

it("shares out a pool's GPUs in every way that fits, and has no engine on two nodes", () => {
  const of = (model: string, ...nodes: number[]) =>
    poolShapes(modelCards[model]!, l40s, { nodes, profile }).map(({ shape, copies }) => [shape.tp, copies]);
  expect(of("llama-3.1-8b", 4)).toEqual([
    [1, 4],
    [2, 2],
    [4, 1],
  ]);
  expect(of("llama-3.1-8b", 8, 8).at(-1)).toEqual([8, 2]);
  // 28 heads are not divided by 8.
  expect(of("qwen2.5-7b", 8, 8).at(-1)).toEqual([4, 4]);
  expect(of("llama-3.1-8b", 6, 5, 1)).toEqual([
    [1, 12],
    [2, 5],
    [4, 2],
  ]);
  expect(of("llama-3.1-70b", 2, 2, 2, 2)).toEqual([]);
});
