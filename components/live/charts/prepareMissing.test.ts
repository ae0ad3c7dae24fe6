import { describe, expect, it } from "vitest";
import type { EngineFrame, EngineReadings } from "@/server/contracts/studio";
import { testEngine, testFrame } from "../testing/testFrame";
import { emptyWord, prepareMissing } from "./prepareMissing";

const reading = (kvUse: EngineReadings["kvUse"]): Partial<EngineFrame> => ({ readings: { kvUse } as EngineReadings });
const absent = testEngine("a", reading({ state: "absent", lookedFor: "vllm:kv_cache_usage_perc" }));
const without = testEngine("b", { ...reading({ state: "not-applicable" }), engine: { type: "tgi", version: "2.0" } });
const chart = { id: "x", title: "x", unit: "", format: String, draws: "max", series: [], empty: "Nothing was there." } as const;
const of = (subject: string) => [{ key: { subject, quantity: "x" }, name: "x", hue: "x", dashed: false }];

describe("why a chart is empty", () => {
  it("names the engine, its version and the metric that was looked for", () => {
    expect(prepareMissing([absent], ["kvUse"])).toBe("Not reported by vllm 0.30.0: vllm:kv_cache_usage_perc is not among its metrics.");
    expect(prepareMissing([without], ["kvUse"])).toBe("Not reported by tgi 2.0, which has no such metric.");
  });

  it("does not blame engines while one of them has the metric, or none was read", () => {
    expect(prepareMissing([absent, testEngine("c", reading({ state: "value", value: null }))], ["kvUse"])).toBeNull();
    expect(prepareMissing([testEngine("d")], ["kvUse"])).toBeNull();
    expect(prepareMissing([], ["kvUse"])).toBeNull();
  });

  it("names a gateway or an exporter that is silent, else what the chart says itself", () => {
    const frame = testFrame();
    const silent = testFrame({ gateway: { ...frame.gateway, state: "unreachable", reason: "Nothing listens" } });
    expect(emptyWord({ ...chart, series: of("gateway") }, silent, [])).toBe("The gateway reports no figures: Nothing listens.");
    expect(emptyWord({ ...chart, series: of("stage:a") }, frame, [])).toBe("Nothing was there.");
    expect(emptyWord({ ...chart, series: of("gpu:n1/0") }, frame, [])).toBe("This cluster has no source of GPU metrics.");
    expect(emptyWord({ ...chart, reads: ["kvUse"] }, frame, [absent])).toContain("vllm:kv_cache_usage_perc");
    expect(emptyWord(chart, undefined, [])).toBe("Nothing was there.");
  });
});
