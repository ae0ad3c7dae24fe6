import { expect, it } from "vitest";
import type { ClusterDetail, ClusterEngine, ClusterSummary } from "@/server/contracts/studio";
import { prepareProfileEndpoints, sizeOf } from "./profileEndpoints";

const engine = (model: string, state: ClusterEngine["state"]) => ({ model, state });
const cluster = (id: string) => ({ spec: { id, name: id }, emulated: false }) as ClusterSummary;
const detail = (engines: readonly ReturnType<typeof engine>[]) => ({ engines, judges: ["weir-judge"] }) as unknown as ClusterDetail;

it("counts the engines of each model that stand and those that answer, smallest model first", () => {
  const engines = [
    engine("llama-3.1-70b", "serving"),
    engine("llama-3.1-8b", "silent"),
    engine("llama-3.1-8b", "not routed"),
    engine("llama-3.1-8b", "stopping"),
    engine("gone-1b", "missing"),
  ];
  const [found] = prepareProfileEndpoints([cluster("c")], new Map([["c", detail(engines)]]), new Map());
  expect(found?.models).toEqual([
    { model: "llama-3.1-8b", engines: 2, serving: 1 },
    { model: "llama-3.1-70b", engines: 1, serving: 1 },
  ]);
  expect(found?.judges).toEqual(["weir-judge"]);
});

it("goes by a card's size before a name's, and puts models of unknown size last", () => {
  const sizes = new Map([["mystery", 3]]);
  expect([sizeOf("mystery", sizes), sizeOf("llama-3.1-8b", sizes), sizeOf("unknown", sizes)]).toEqual([3, 8, Number.POSITIVE_INFINITY]);
});

it("leaves clusters out of which nothing is known", () => {
  expect(prepareProfileEndpoints([cluster("c")], new Map(), new Map())).toEqual([]);
});
