import { describe, expect, it } from "vitest";
import { noUserCards } from "@/solver/hardware/catalogue";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { connectionSchema, type Endpoint } from "./connection";
import { endpointLimits, type FixedTopologyRequest, fixedTopology } from "./fixedTopology";

const [SMALL, MIDDLE, LARGE] = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-14b"] as const;

const connection = connectionSchema.parse({
  kind: "endpoints",
  judge: { model: "j", url: "http://judge:1" },
  endpoints: [SMALL, SMALL, MIDDLE].map((model, index) => ({
    name: `e${index}`,
    url: `http://e${index}:1`,
    model,
    gpu: "l40s",
    precision: "bf16",
  })),
});

const cluster: ClusterSpec = {
  ...{ id: "c", name: "theirs", kind: "endpoints", gpu: "l40s", usdPerGpuHour: 2 },
  nodes: ["e0", "e1", "e2"].map((name) => ({ name, gpus: 1 })),
};

function given(asked: Partial<FixedTopologyRequest>, of = connection) {
  return fixedTopology(of, {
    cluster,
    userCards: noUserCards,
    models: [SMALL, MIDDLE],
    constraints: undefined,
    judge: undefined,
    ...asked,
  });
}

describe("what engines that are given leave to be planned", () => {
  it("is a routing over all of them, where the workload knows their models", () => {
    expect(given({})).toMatchObject({
      ok: true,
      notes: [],
      part: {
        cluster,
        models: [SMALL, MIDDLE],
        running: [{ model: SMALL }, { model: SMALL }, { model: MIDDLE }],
        topology: "given",
      },
    });
  });

  it("has the limits that its engines were started with", () => {
    const limited = connectionSchema.parse({
      ...connection,
      endpoints: connection.endpoints.map((one) => (one.model === SMALL ? { ...one, limits: { maxSequences: 32 } } : one)),
    });
    const found = given({}, limited);
    expect(found.ok && found.part.cluster.engineLimits).toEqual([{ model: SMALL, maxSequences: 32, source: "operator" }]);
  });

  it("has no model without an engine, and no engine without a model of the workload, and says both", () => {
    const found = given({ models: [SMALL, LARGE] });
    expect(found).toMatchObject({ ok: true, part: { models: [SMALL], running: [{ model: SMALL }, { model: SMALL }] } });
    expect(found.ok && found.notes).toEqual([
      `Left out, since no engine of it is attached to theirs: ${LARGE}.`,
      expect.stringContaining(`Engines of ${MIDDLE} on theirs get no requests`),
    ]);
  });

  it("adds no constraint to those that were asked, and says which engines these leave without requests", () => {
    const constraints = planConstraintsSchema.parse({ excluded: [MIDDLE], nodes: [{ model: SMALL, never: ["e1"] }] });
    const found = given({ constraints });
    expect(found.ok && Object.keys(found.part)).not.toContain("constraints");
    expect(found.ok && found.notes).toEqual([
      expect.stringContaining(`Engines of ${MIDDLE} on theirs get no requests`),
      "The constraints on shapes and nodes leave these engines without requests: e1.",
    ]);
  });

  it("leaves out an excluded model that cannot be planned with, so that the others can be", () => {
    const unknown = {
      ...connection,
      endpoints: connection.endpoints.map((one) => (one.model === MIDDLE ? { ...one, model: "nobody" } : one)),
    };
    const excluding = { models: [SMALL, "nobody"], constraints: planConstraintsSchema.parse({ excluded: ["nobody"] }) };
    expect(given({ models: [SMALL, "nobody"] }, unknown)).toMatchObject({ ok: false });
    expect(given(excluding, unknown)).toMatchObject({ ok: true, part: { models: [SMALL] } });
  });

  it("keeps a judge's engines standing, and wants one that is attached", () => {
    const judge = { kind: "engine", model: MIDDLE, rubricTokens: 10, outputTokens: 1 } as const;
    expect(given({ models: [SMALL], judge })).toMatchObject({
      ok: true,
      notes: [],
      part: {
        models: [SMALL],
        running: [{ model: SMALL }, { model: SMALL }, { model: MIDDLE }],
      },
    });
    expect(given({ judge: { ...judge, model: LARGE } })).toMatchObject({
      ok: false,
      message: expect.stringContaining("cannot judge there"),
    });
  });

  it("says that nobody judges, and refuses a workload of which nothing is attached", () => {
    const found = given({}, { ...connection, judge: null });
    expect(found.ok && found.notes).toEqual([expect.stringContaining("Nobody judges answers on theirs")]);
    expect(given({ models: [LARGE] })).toMatchObject({
      ok: false,
      message: expect.stringContaining(`it knows ${LARGE}, and attached are ${SMALL}, ${MIDDLE}`),
    });
  });
});

const endpoint = (model: string, limits?: Endpoint["limits"]): Endpoint => ({
  ...{ name: "e", url: "http://e:8000", model, gpu: "h100-sxm", tp: 1, pp: 1, precision: "bf16", guessed: [] },
  ...(limits === undefined ? {} : { limits }),
});

it("plans with the least that is known of a model's engines, and says that an operator said it where one did", () => {
  const endpoints = [
    endpoint("a", { maxSequences: 64, maxBatchedTokens: 4096, source: "engine" }),
    endpoint("a", { maxSequences: 32, source: "operator" }),
    endpoint("a"),
    endpoint("b", { maxSequences: 8, source: "engine" }),
    endpoint("c"),
  ];
  expect(endpointLimits(endpoints)).toEqual([
    { model: "a", maxSequences: 32, maxBatchedTokens: 4096, source: "operator" },
    { model: "b", maxSequences: 8, source: "engine" },
  ]);
});
