import { expect, it } from "vitest";
import type { Observation } from "@/server/clusters/connector/connector";
import type { EngineFrame, LiveFrame } from "@/server/contracts/studio";
import type { ClusterRow } from "@/server/store/clusterRepository";
import { clusterDetail } from "./clusterDetail";

const spec = { id: "c", name: "c", kind: "processes", gpu: "l40s", nodes: [{ name: "n", gpus: 2 }], usdPerGpuHour: 1 } as const;
const row = { id: "c", spec, connection: null, gateway: null, runningPlanId: "p" } as unknown as ClusterRow;
const failing = { kind: "unreachable", sinceMs: 0, nextTryAtMs: 0 } as const;
const silent = (id: string) => ({ id, state: "unreachable", reason: "refused", failing, readings: null, engine: null }) as EngineFrame;

/** Engines that do not answer: `serves` gets requests, `idle` none and has its own name of the model. */
function details(topology?: "given") {
  const engines = ["serves", "idle"].map((id, gpu) => ({
    ...{ id, model: "m", gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "n", gpus: [gpu] }], url: `http://${id}`, stopping: false },
    ...(id === "idle" ? { access: { servedName: "its-own-m" } } : {}),
  }));
  const value: Observation = {
    ...{
      gpu: "l40s",
      nodes: [{ name: "n", gpus: 2 }],
      engines,
      policyModels: [],
      outcomes: null,
      timeScale: 1,
      deviates: null,
      dcgmUrls: [],
    },
    routing: { planId: "p", active: ["serves"], cordoned: [] },
    ...(topology !== undefined && { topology }),
  };
  const frame = { engines: engines.map(({ id }) => silent(id)) } as unknown as LiveFrame;
  const cluster = {
    ...{ seen: () => ({ atMs: 0, answer: { ok: true, value } }) as const, gatewayUrl: "http://g", gatewayAdminUrl: "http://a" },
    collector: () => ({ frames: () => [frame] }) as never,
  };
  return clusterDetail({ row, cluster, plan: null, attention: [], drift: null }).engines;
}

const states = (topology?: "given") => details(topology).map(({ state }) => state);

it("An engine that should serve and gives no answer is silent; one that Weir started may load", () => {
  expect(states()).toEqual(["silent", "not routed"]);
});

it("Every attached engine that gives no answer is silent, whether a plan routes to it or not", () => {
  expect(states("given")).toEqual(["silent", "silent"]);
});

it("An engine has its own name of the model beside the card's", () => {
  expect(details().map(({ model, served }) => `${model}: ${served}`)).toEqual(["m: m", "m: its-own-m"]);
});
