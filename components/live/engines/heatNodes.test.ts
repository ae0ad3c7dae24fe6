import { describe, expect, it } from "vitest";
import { testEngine, testFrame, testGpu } from "../testing/testFrame";
import { heatNodes, utilisationsOf } from "./heatNodes";

const cellOf = (change: Parameters<typeof testGpu>[0]) =>
  heatNodes(testFrame({ engines: [testEngine("e1")], gpus: [testGpu(change)] }))[0]?.gpus[0]?.cells[0];

describe("heatNodes", () => {
  it("keep a GPU whose memory is not reported without a share", () => {
    expect(cellOf({ memoryUsedBytes: null, memoryTotalBytes: 80 })?.memoryUse).toBeNull();
    expect(cellOf({ memoryUsedBytes: 40, memoryTotalBytes: 80 })?.memoryUse).toBe(0.5);
  });

  it("put nodes and GPUs in order, and the parts of a divided GPU into its place", () => {
    const part = (id: string) => testGpu({ index: 1, instance: { id, profile: "1g.10gb" } });
    const gpus = [testGpu({ node: "n2" }), part("11"), part("2"), testGpu({ index: 0 })];
    const drawn = heatNodes(testFrame({ gpus })).map(({ name, gpus: own }) => [name, own.map(({ cells }) => cells.map(({ key }) => key))]);
    expect(drawn).toEqual([
      ["n1", [["n1/0/"], ["n1/1/2", "n1/1/11"]]],
      ["n2", [["n2/0/"]]],
    ]);
  });

  it("tell everything that is known of a GPU in one line, and leave out what is not", () => {
    expect(cellOf({ engineId: "e1" })?.text).toBe(
      "GPU 0, NVIDIA L40S; small-8b; utilisation 50\u00a0%; memory 0.0\u00a0GiB of 0.0\u00a0GiB; 200\u00a0W; 60\u00a0°C",
    );
    const bare = { name: "", utilisation: null, memoryUsedBytes: null, memoryTotalBytes: null, powerWatts: null, temperatureCelsius: null };
    expect(cellOf(bare)?.text).toBe("GPU 0; free; utilisation unknown; memory – of –");
    expect(cellOf({ containers: [{ namespace: "llm", pod: "a-0", container: "vllm" }] })?.text).toContain("container llm/a-0/vllm");
  });
});

describe("utilisationsOf", () => {
  it("tells a share that says little from one that says much, and both where sources differ", () => {
    const gpus = [
      testGpu({ utilisationOf: "graphics engine" }),
      testGpu({ utilisationOf: "any kernel" }),
      testGpu({ utilisationOf: null }),
    ];
    expect(utilisationsOf(gpus).map(({ says }) => says)).toEqual(["little", "much"]);
    expect(utilisationsOf([testGpu({ utilisationOf: null })])).toEqual([]);
  });
});
