import { environmentManager, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LiveFrame, RoutingFrame } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { prepareAttention } from "../engines/prepareAttention";
import { testFrame } from "../testing/testFrame";
import { lostCascadeOf, remainingRefresh } from "./prepareLostStages";

const models = ["small", "medium", "large"];

/** A frame of a cascade that has lost these models. */
function frameWithout(lost: readonly string[], strict = false): LiveFrame {
  const routing: RoutingFrame = {
    ...{ etag: "e", planId: "p", policyHash: "h" },
    policy: {
      kind: "cascade",
      stages: models.map((model) => ({ model })),
      thresholds: [50, 50],
      judge: { model: "weir-judge", secondsPerCall: 0.1, usdPerCall: 0 },
      ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
      approvedRanges: { thresholds: [] },
    },
    controls: {
      ...{ panic: null, canary: null, shadow: null, mirror: null },
      strictStages: strict ? { by: "ann", reason: "", sinceMs: 1 } : null,
    },
    lostStages: lost.map((model) => ({ model, sinceMs: 500 })),
  };
  const stages = models.map((model) => ({
    ...{ model, queued: 0, inFlight: 0, share: null, escalated: null, p50Seconds: null, p95Seconds: null, p99Seconds: null },
    meanJudgedScore: null,
  }));
  const frame = testFrame();
  return { ...frame, gateway: { ...frame.gateway, stages, routing } };
}

/** The same where the cascade serves only requests outside workflows. */
function jointFrameWithout(lost: readonly string[]): LiveFrame {
  const frame = frameWithout(lost);
  const { routing } = frame.gateway;
  if (routing?.policy.kind !== "cascade") throw new Error("not a cascade");
  const { order, place, ...singles } = routing.policy;
  const policy: PolicyDocument = {
    ...{ kind: "just-in-time", models: [], workflows: [], selection: { kind: "beam", width: 4 }, order, place },
    singles: { ...singles, stages: singles.stages.slice(0, 2) },
  };
  return { ...frame, gateway: { ...frame.gateway, routing: { ...routing, policy } } };
}

describe("stages that are lost", () => {
  it("are those of the cascade for requests outside workflows, where rounds choose for the others", () => {
    expect(lostCascadeOf(jointFrameWithout(["large"]))).toBeNull();
    expect(lostCascadeOf(jointFrameWithout(["small", "large"]))).toMatchObject({
      ...{ lost: [{ model: "small" }], left: ["medium"] },
      says: "Outside workflows: Requests continue at the next larger stage that is left.",
    });
  });

  it("are none where the gateway names none", () => expect(lostCascadeOf(frameWithout([]))).toBeNull());

  it.each([
    [["small"], false, ["medium", "large"], /next larger stage/],
    [["large"], false, ["small", "medium"], /No larger stage than medium is left: its answers are returned/],
    [["large"], true, ["small", "medium"], /answered 503, because strict stages are on/],
    [models, false, [], /every request is answered 503/],
  ] as const)("%s (strict: %s) leave %s, and what becomes of requests is said", (lost, strict, left, says) => {
    const cascade = lostCascadeOf(frameWithout(lost, strict));
    expect(cascade).toMatchObject({ left, lowerMayAnswer: !strict, lost: lost.map((model) => ({ model, sinceMs: 500 })) });
    expect(cascade?.says).toMatch(says);
  });

  it("need attention once each, since when and with who answers, and not as a model without engines beside", () => {
    const problems = prepareAttention([frameWithout(["small"])]);
    expect(problems.map(({ subject, word }) => [subject, word])).toEqual([["small", "stage skipped"]]);
    expect(problems[0]?.text).toContain("medium, large");
  });
});

describe("the prediction of what remains", () => {
  afterEach(() => {
    vi.useRealTimers();
    environmentManager.setIsServer(() => true);
  });

  it("is asked for again while a stage stays lost, since the rate it is simulated at changes", async () => {
    environmentManager.setIsServer(() => false);
    vi.useFakeTimers();
    const client = new QueryClient();
    const queryFn = vi.fn(async () => "figures");
    const leave = new QueryObserver(client, { queryKey: ["remaining"], queryFn, ...remainingRefresh }).subscribe(() => {});
    await vi.advanceTimersByTimeAsync(95_000);
    leave();
    client.clear();
    expect(queryFn).toHaveBeenCalledTimes(4);
  });
});
