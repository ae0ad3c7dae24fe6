import { expect, it } from "vitest";
import type { ClusterSummary } from "@/server/contracts/studio";
import { isChoice, pickCluster, realBeside } from "./pickCluster";

const cluster = (id: string, emulated: boolean, state: ClusterSummary["health"]["state"] = "up") => ({
  spec: { id },
  emulated,
  health: { state, reason: "" },
});
const embedded = cluster("embedded", true);
const prod = cluster("prod", false, "down");
const described = cluster("described", false, "not-connected");
const none = { named: null, last: null };

it("a page without a cluster in its address speaks of attached engines rather than of the emulated ones", () => {
  expect(pickCluster([embedded, described, prod], none)).toBe(prod);
  expect(pickCluster([embedded, described], none)).toBe(embedded);
  expect(pickCluster([described], none)).toBe(described);
  expect(pickCluster([], none)).toBeNull();
});

it("a page without a cluster in its address speaks of the one looked at last, as long as it is there", () => {
  const staging = cluster("staging", false);
  expect(pickCluster([embedded, prod, staging], { named: null, last: "staging" })).toBe(staging);
  expect(pickCluster([embedded, prod], { named: null, last: "embedded" })).toBe(embedded);
  expect(pickCluster([embedded, prod], { named: null, last: "gone" })).toBe(prod);
});

it("the cluster in the address comes before all", () => {
  expect(pickCluster([embedded, prod], { named: "embedded", last: "prod" })).toBe(embedded);
  expect(pickCluster([embedded, prod], { named: "gone", last: null })).toBe(prod);
});

it("the address names the cluster as soon as two are connected, and real engines beside emulated figures are told of", () => {
  expect([isChoice([embedded, described]), isChoice([embedded, prod])]).toEqual([false, true]);
  expect(realBeside([embedded, described, prod], embedded)).toBe(prod);
  expect(realBeside([embedded, described], embedded)).toBeNull();
  expect(realBeside([embedded, prod], prod)).toBeNull();
});
