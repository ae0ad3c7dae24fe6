import { describe, expect, it } from "vitest";
import type { EngineFrame } from "@/server/contracts/studio";
import { prepareAttention } from "./prepareAttention";
import { testEngine, testFrame } from "./testFrame";

const wordsOf = (engine: Partial<EngineFrame>) =>
  prepareAttention([testFrame({ engines: [testEngine("e1", engine)] })]).map((each) => each.word);
const gateway = testFrame().gateway;

describe("prepareAttention", () => {
  it("says nothing when all is well, and nothing of engines that load or drain", () => {
    expect(wordsOf({})).toEqual([]);
    expect(wordsOf({ health: "draining", state: "stale" })).toEqual([]);
    expect(wordsOf({ health: "unknown", state: "unreachable" })).toEqual([]);
  });

  it("names an engine the gateway calls unhealthy even when its telemetry is fresh", () => {
    expect(wordsOf({ health: "unhealthy", state: "fresh" })).toEqual(["unhealthy"]);
  });

  it("tells missing telemetry of a serving engine from an engine that does not serve", () => {
    const [problem] = prepareAttention([
      testFrame({ engines: [testEngine("e1", { state: "unreachable", reason: "connection refused" })] }),
    ]);
    expect(problem).toMatchObject({ subject: "e1", word: "telemetry unreachable" });
    expect(problem?.text).toContain("connection refused. The gateway still sends to it");
  });

  it("counts refused requests and answers without a judge with what they mean, and takes an absent rate for no problem", () => {
    const busy = prepareAttention([testFrame({ gateway: { ...gateway, refusedPerSecond: 2.5, unjudgedPerSecond: 0.5 } })]);
    expect(busy.map((each) => each.word)).toEqual(["2.5/s refused", "0.50/s accepted without a judge"]);
    expect(busy[0]?.text).toContain("a model that is not served");
    expect(busy[1]?.text).toContain("quality floor does not cover them");
    expect(prepareAttention([testFrame({ gateway: { ...gateway, refusedPerSecond: null, unjudgedPerSecond: null } })])).toEqual([]);
  });

  it("puts a gateway that does not answer first, with the reason", () => {
    const problems = prepareAttention([
      testFrame({ gateway: { ...gateway, state: "unreachable", reason: "refused" }, engines: [testEngine("e1", { health: "unhealthy" })] }),
    ]);
    expect(problems.map((each) => each.subject)).toEqual(["gateway", "e1"]);
    expect(problems[0]?.text).toMatch(/^refused\. /);
  });
});
