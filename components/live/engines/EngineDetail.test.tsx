import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { EngineFrame } from "@/server/contracts/studio";
import { testEngine, testReadings } from "../testing/testFrame";
import { EngineDetail } from "./EngineDetail";

const drawn = (change: Partial<EngineFrame>) => renderToStaticMarkup(<EngineDetail engine={testEngine("e1", change)} nowMs={90_000} />);
const absent = { state: "absent", lookedFor: "vllm:time_to_first_token_seconds" } as const;

describe("EngineDetail", () => {
  it("has a word of its own for nothing yet, absent and not applicable", () => {
    const html = drawn({
      engine: { type: "tgi", version: "2.4.1" },
      readings: testReadings({
        running: { state: "value", value: 0 },
        kvUse: { state: "absent", lookedFor: "tgi_kv_use" },
        preemptionsPerSecond: { state: "not-applicable" },
      }),
    });
    expect(html).toContain("nothing yet");
    expect(html).toMatch(/absent.*looked for.*tgi_kv_use/);
    expect(html).toContain("not applicable to tgi 2.4.1");
  });

  it("says of a latency whose metric is absent once that it is", () => {
    const html = drawn({
      readings: testReadings({ ttftMeanSeconds: absent, ttftP50Seconds: absent, ttftP95Seconds: absent, ttftP99Seconds: absent }),
    });
    expect(html.split("vllm:time_to_first_token_seconds")).toHaveLength(2);
  });

  it("says why there are no readings, since when, and what befell the engine, the newest first", () => {
    const html = drawn({
      state: "unreachable",
      sinceMs: 30_000,
      reason: "http://e1/metrics: connection refused",
      failing: { kind: "unreachable", sinceMs: 20_000, nextTryAtMs: 95_000 },
      readings: null,
      events: [
        { atMs: 10_000, kind: "counters-reset", text: "Its counters were reset: running fell." },
        { atMs: 20_000, kind: "unreachable", text: "http://e1/metrics: connection refused" },
      ],
    });
    expect(html).toContain("telemetry unreachable for 60\u00a0s");
    expect(html).toContain("No readings: its metrics cannot be read.");
    expect(html).toMatch(/not reachable<\/span>.*restarted or reset/);
  });
});
