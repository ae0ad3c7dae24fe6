import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlacedSession } from "@/server/contracts/studio/ensembles";
import { dealPrompts } from "./dealPrompts";
import { freeWorkers } from "./freeWorkers";

const session = (model: string, prompts: number): PlacedSession => ({ model, prompts, fromSeconds: 0, readySeconds: 1, untilSeconds: 2 });

describe("dealing prompts to sessions", () => {
  const placements = fc
    .array(fc.array(fc.record({ model: fc.constantFrom("a", "b", "c"), prompts: fc.integer({ min: 1, max: 40 }) }), { maxLength: 3 }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((workers) => workers.map((sessions) => sessions.map(({ model, prompts }) => session(model, prompts))));

  it("gives each session as many as it was placed with, rising, and every prompt to exactly one of its expert's sessions", () => {
    fc.assert(
      fc.property(placements, (workers) => {
        const counts = new Map<string, number>();
        for (const { model, prompts } of workers.flat()) counts.set(model, (counts.get(model) ?? 0) + prompts);
        const positions = new Map([...counts].map(([model, count]) => [model, Array.from({ length: count }, (_, at) => at * 3)]));
        const sessions = dealPrompts(workers, positions);
        expect(sessions.map((own) => own.map((one) => [one.model, one.positions.length]))).toEqual(
          workers.map((own) => own.map(({ model, prompts }) => [model, prompts])),
        );
        for (const { positions: own } of sessions.flat()) expect(own).toEqual([...own].sort((a, b) => a - b));
        for (const [model, all] of positions) {
          const given = sessions.flat().flatMap((one) => (one.model === model ? one.positions : []));
          expect(given.sort((a, b) => a - b)).toEqual(all);
        }
      }),
    );
  });

  it("spreads the late prompts over the sessions of an expert in proportion", () => {
    const placed = [[session("a", 30)], [session("a", 60)]];
    const dealt = dealPrompts(placed, new Map([["a", Array.from({ length: 90 }, (_, at) => at)]]));
    const late = (positions: readonly number[]) => positions.filter((at) => at >= 45).length;
    expect(dealt.flat().map(({ positions }) => late(positions))).toEqual([15, 30]);
  });

  it("does not deal where sessions are placed for more or fewer prompts than there are", () => {
    expect(() => dealPrompts([[session("a", 3)]], new Map([["a", [0, 1]]]))).toThrow("3 prompts of a are placed, and it has 2");
  });
});

describe("free workers", () => {
  const engine = (node: string, gpus: readonly number[]) => ({
    ...{ id: `e-${node}-${gpus.join("-")}`, model: "m", gpu: "l40s", tp: gpus.length, pp: 1, placements: [{ node, gpus: [...gpus] }] },
    ...{ url: "http://127.0.0.1:1", stopping: false },
  });
  const nodes = [
    { name: "n1", gpus: 4 },
    { name: "n2", gpus: 4 },
  ];

  it("are groups of GPUs on one node that no engine has and nobody else holds", () => {
    const observed = {
      gpu: "l40s",
      nodes: [
        { ...nodes[0]!, heldGpus: [{ gpu: 3, by: "is held by training" }] },
        { ...nodes[1]!, othersGpus: 1 },
      ],
      engines: [engine("n1", [0]), engine("n2", [1])],
    };
    const found = freeWorkers(observed, { workers: 2, gpusPerWorker: 2 });
    expect(found).toEqual({
      ...{ ok: true, gpu: "l40s", notes: [] },
      workers: [
        { node: "n1", gpus: [1, 2] },
        { node: "n2", gpus: [0, 2] },
      ],
    });
    expect(freeWorkers(observed, { workers: 3, gpusPerWorker: 2 })).toMatchObject({
      ok: false,
      message: "Only 2 workers fit (2 l40s each, on one node); 3 were requested.",
    });
  });

  it("leave out nodes of other GPUs and closed ones, and say so", () => {
    const observed = {
      gpu: "l40s",
      engines: [],
      nodes: [nodes[0]!, { ...nodes[1]!, gpu: "h100-sxm" }, { name: "n3", gpus: 4, closed: "is cordoned" }],
    };
    expect(freeWorkers(observed, { workers: 4, gpusPerWorker: 1 })).toMatchObject({ ok: true, notes: [expect.stringMatching(/^2 nodes/)] });
    expect(freeWorkers(observed, { workers: 5, gpusPerWorker: 1 }).ok).toBe(false);
  });

  it("are nowhere where somebody else starts the engines", () => {
    expect(freeWorkers({ gpu: "l40s", nodes, engines: [], topology: "given" }, { workers: 1, gpusPerWorker: 1 })).toMatchObject({
      ok: false,
      message: expect.stringContaining("does not start this cluster's engines"),
    });
  });
});
