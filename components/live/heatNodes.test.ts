import { describe, expect, it } from "vitest";
import { heatNodes } from "./heatNodes";
import { testFrame, testGpu } from "./testFrame";

describe("heatNodes", () => {
  it("keep a GPU whose memory is not reported without a share", () => {
    const gpu = testGpu({ utilisation: 0.4, memoryUsedBytes: null, memoryTotalBytes: 80 });
    expect(heatNodes(testFrame({ gpus: [gpu] }))[0]?.gpus[0]?.memoryUse).toBeNull();
  });
});
