import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { clusterCodec } from "./clusterCodec";

const named = (address: string) => clusterCodec.parse(new URLSearchParams(address)).cluster;
const chosen = (address: string, cluster: string) => {
  const params = new URLSearchParams(address);
  return writeView(clusterCodec, params, { ...clusterCodec.parse(params), cluster }).toString();
};

it("speaks of the cluster that is shown whole, else of the one that is named", () => {
  expect([named("show=b&cluster=a"), named("show=b"), named("cluster=a"), named("")]).toEqual(["b", "b", "a", null]);
});

it("shows the cluster whole that is chosen where another is, and begins to show none", () => {
  expect(chosen("show=b&rate=1", "c")).toBe("show=c&rate=1&cluster=c");
  expect(chosen("cluster=b", "c")).toBe("cluster=c");
});
