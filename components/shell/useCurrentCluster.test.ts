import { expect, it } from "vitest";
import { strayCluster } from "./useCurrentCluster";

it("tells a cluster in the address that is not there, and nothing of one that is, of none, or before clusters are known", () => {
  const clusters = [{ spec: { id: "embedded" } }];
  expect(strayCluster(clusters, "gone")).toBe("gone");
  expect(strayCluster(clusters, "embedded")).toBeNull();
  expect(strayCluster(clusters, null)).toBeNull();
  expect(strayCluster([], "gone")).toBeNull();
});
