import { describe, expect, it } from "vitest";
import type { ReplicaView, WaitingWork } from "../core/policy";
import { starting } from "../testing/worldOfContract";
import { balancedRoute } from "./balancedRoute";

const models = ["small", "large"].map((model) => ({ model, maxBatchSize: 4 }));
const build = () => balancedRoute({ kind: "balanced", models, order: { kind: "fcfs" }, place: { kind: "least-load" } });

const replica = (model: string, inFlight: number, accepting = true): ReplicaView => ({
  ...{ id: `${model} ${inFlight}`, model, inFlight, accepting },
  ...{ maxInFlight: 100, kvUse: { state: "absent" } },
});

const work = (id: string, stage: number): WaitingWork => ({
  ...{ id, programId: id, stage, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 10 },
  state: { kind: "queued" },
});

function startAt(route: ReturnType<typeof build>, ...replicas: readonly ReplicaView[]): number {
  return route.start({ ...starting("new"), replicas }).stage;
}

describe("balancedRoute", () => {
  it("counts what an engine holds above its batch four times", () => {
    // 4 running and 1 waiting count as 8.
    const route = balancedRoute({
      ...{ kind: "balanced", order: { kind: "fcfs" }, place: { kind: "least-load" } },
      models: [
        { model: "small", maxBatchSize: 4 },
        { model: "large", maxBatchSize: 16 },
      ],
    });
    expect(startAt(route, replica("small", 5), replica("large", 9))).toBe(0);
    expect(startAt(route, replica("small", 5), replica("large", 7))).toBe(1);
  });

  it("counts the central queue as waiting until work is dispatched or given up", () => {
    const route = build();
    const start = () => startAt(route, replica("small", 0), replica("large", 3));
    expect(start()).toBe(0);
    route.observe?.({ kind: "queued", work: work("a", 0) });
    expect(start()).toBe(1);
    route.observe?.({ kind: "dispatched", workId: "a", programId: "a", replicaId: "r", nowSeconds: 1 });
    expect(start()).toBe(0);
    route.observe?.({ kind: "queued", work: work("b", 0) });
    route.observe?.({ kind: "left", workId: "b", nowSeconds: 1 });
    route.observe?.({ kind: "finished", workId: "a", replicaId: "r", nowSeconds: 2, failed: false });
    expect(start()).toBe(0);
  });

  it("spreads a model's load over its replicas that take work, and sends none to a model without", () => {
    const route = build();
    expect(startAt(route, replica("small", 3), replica("large", 2), replica("large", 2))).toBe(1);
    expect(startAt(route, replica("small", 3), replica("large", 0, false), replica("large", 4))).toBe(0);
    expect(startAt(route, replica("small", 3), replica("large", 0, false))).toBe(0);
    expect(startAt(route)).toBe(0);
  });

  it("sends idle models of equal load as many each, whatever they answer", () => {
    const route = build();
    const idle = [replica("small", 0), replica("large", 0)];
    const stages = Array.from({ length: 6 }, (_, index) => {
      const stage = startAt(route, ...idle);
      route.observe?.({ kind: "queued", work: work(`w${index}`, stage) });
      route.observe?.({ kind: "dispatched", workId: `w${index}`, programId: "p", replicaId: "r", nowSeconds: index });
      return stage;
    });
    expect(stages).toEqual([0, 1, 0, 1, 0, 1]);
  });
});
