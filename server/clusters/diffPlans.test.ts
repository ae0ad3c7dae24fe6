import { describe, expect, it } from "vitest";
import { diffPlans } from "./diffPlans";
import { misfit } from "./misfit";
import { engineId } from "./targetEngines";
import { planOnGpus } from "./testCluster";

const signs = (lines: readonly { readonly sign: string; readonly subject: string }[]) =>
  lines.map((line) => `${line.sign} ${line.subject}`);

describe("diffPlans", () => {
  it("names what is added, removed, changed and kept", () => {
    const before = planOnGpus("before", { a: [0], b: [1] });
    const after = planOnGpus("after", { a: [0, 2] });
    expect(signs(diffPlans(before, after))).toEqual([
      "~ a",
      "- b",
      "~ cascade",
      "= judge",
      "= placement",
      "+ a-tp1-pp1-node1-2",
      "- b-tp1-pp1-node1-1",
      "= a-tp1-pp1-node1-0",
    ]);
  });

  it("says from what to what", () => {
    const before = planOnGpus("before", { a: [0] });
    const after = planOnGpus("after", { a: [0], b: [1] });
    expect(diffPlans(before, after)).toContainEqual({ sign: "~", of: "plan", subject: "cascade", text: "a -> a then b" });
    expect(diffPlans(before, after)).toContainEqual({ sign: "+", of: "plan", subject: "threshold after a", text: "accept at 60 or more" });
  });

  it("adds everything where nothing runs", () => {
    const lines = diffPlans(null, planOnGpus("first", { a: [0] }));
    expect(new Set(lines.map((line) => line.sign))).toEqual(new Set(["+"]));
  });

  it("has nothing but equal lines for a plan and itself", () => {
    const plan = planOnGpus("same", { a: [0], b: [1] });
    expect(new Set(diffPlans(plan, plan).map((line) => line.sign))).toEqual(new Set(["="]));
  });
});

describe("misfit", () => {
  const cluster = { gpu: "l40s", nodes: [{ name: "node1", gpus: 2 }] };
  it("lets a plan pass that fits", () => {
    expect(misfit(cluster, planOnGpus("fits", { a: [0], b: [1] }))).toBeNull();
  });
  it.each([
    [{ ...cluster, gpu: "l4" }, planOnGpus("p", { a: [0] }), "The plan wants l40s for a; this cluster has l4."],
    [{ ...cluster, nodes: [{ name: "other", gpus: 2 }] }, planOnGpus("p", { a: [0] }), /on node1, which this cluster does not have/],
    [cluster, planOnGpus("p", { a: [2] }), "The plan places a on GPU 2 of node1, which has 2."],
    [cluster, planOnGpus("p", { a: [1], b: [1] }), "The plan gives GPU node1/1 to two engines."],
  ])("names the first thing that does not fit (%#)", (found, plan, sentence) => {
    expect(misfit(found, plan)).toMatch(sentence);
  });
});

describe("engineId", () => {
  it("is the same for the same GPUs in any order, and differs by shape", () => {
    const on = (gpus: number[]) => engineId("m", { tp: 2, pp: 1 }, [{ node: "n1", gpus }]);
    expect(on([1, 0])).toBe(on([0, 1]));
    expect(on([0, 1])).toBe("m-tp2-pp1-n1-0-1");
    expect(engineId("m", { tp: 1, pp: 2 }, [{ node: "n1", gpus: [0, 1] }])).not.toBe(on([0, 1]));
    expect(on([0, 3])).toBe("m-tp2-pp1-n1-0.3");
  });
});
