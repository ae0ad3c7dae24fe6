import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { EngineFrame } from "@/server/contracts/studio";
import { testEngine, testFrame, testReadings } from "../testing/testFrame";
import { engineRows } from "./prepareEngines";

const identities = identifyModels(["small-8b"]);
const frame = (change: Partial<EngineFrame>) => testFrame({ engines: [testEngine("e1", change)] });
const wordOf = (frames: Parameters<typeof engineRows>[0]) => engineRows(frames, identities)[0]?.health.word;

describe("engineRows", () => {
  it("give an engine that was not there a gap in its sparkline", () => {
    expect(engineRows([testFrame(), frame({})], identities)[0]?.kvUse).toEqual([null, 0.5]);
  });

  it("call an engine what the gateway makes of it, however old its telemetry", () => {
    expect(wordOf([frame({ state: "unreachable" })])).toBe("serving");
    expect(wordOf([frame({ health: "unhealthy" })])).toBe("unhealthy");
  });

  it("tell an engine that loads from one that answers and gets nothing and one that was let go, and none while the gateway is silent", () => {
    const unlisted = frame({ health: "unknown" });
    expect(wordOf([unlisted])).toBe("not routed");
    expect(wordOf([frame({ health: "unknown", state: "unreachable", reason: "not scraped yet" })])).toBe("loading");
    expect(wordOf([frame({ health: "draining" }), unlisted])).toBe("withdrawn");
    expect(wordOf([{ ...unlisted, gateway: { ...unlisted.gateway, state: "unreachable" } }])).toBe("unknown");
  });

  it("state the telemetry's age with its reason only when it is not fresh", () => {
    const telemetryOf = (change: Partial<EngineFrame>) => engineRows([frame(change)], identities)[0]?.telemetry;
    expect(telemetryOf({})).toBeNull();
    expect(telemetryOf({ state: "stale", ageSeconds: 6, reason: "no answer yet" })).toEqual({
      text: "telemetry 6\u00a0s old",
      reason: "no answer yet",
    });
    expect(telemetryOf({ state: "unreachable", reason: "not scraped yet" })?.text).toBe("no telemetry yet");
  });

  it("tell a figure that is zero from one that is not there yet, is absent, and is not applicable", () => {
    const [row] = engineRows(
      [
        frame({
          readings: testReadings({
            running: { state: "value", value: 0 },
            preemptionsPerSecond: { state: "absent", lookedFor: "vllm:num_preemptions_total" },
            tpotP95Seconds: { state: "not-applicable" },
          }),
        }),
      ],
      identities,
    );
    const { running, waiting, preemptions, tpot } = row?.cells ?? {};
    expect([running?.text, waiting?.text, preemptions?.text, tpot?.text]).toEqual(["0", "–", "absent", "n/a"]);
    expect(preemptions?.title).toBe("Looked for vllm:num_preemptions_total");
    expect(engineRows([frame({ readings: null })], identities)[0]?.cells.running.text).toBe("–");
  });

  it("say since when an engine's health is what it is, also from before the page's own frames", () => {
    const at = (healthSinceMs: number) => ({ ...frame({ healthSinceMs }), atMs: 200_000 });
    const sinceOf = (newest: Parameters<typeof engineRows>[0][number]) => engineRows([newest], identities)[0]?.since.text;
    expect([sinceOf(at(39_000)), sinceOf(at(190_000)), sinceOf(at(200_000))]).toEqual(["for 3\u00a0min", "for 10\u00a0s", "just now"]);
  });

  it("call a percentile beyond the ends of its histogram a limit, not a value", () => {
    const ttftOf = (limit: "upper" | "lower" | null) =>
      engineRows(
        [frame({ readings: testReadings({ ttftP95Seconds: { state: "value", value: 0.3, ...(limit !== null && { limit }) } }) })],
        identities,
      )[0]?.cells.ttft.text;
    expect([ttftOf(null), ttftOf("upper"), ttftOf("lower")]).toEqual(["300\u00a0ms", "≤\u00a0300\u00a0ms", "≥\u00a0300\u00a0ms"]);
  });
});
