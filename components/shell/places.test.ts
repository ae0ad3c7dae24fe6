import { expect, it } from "vitest";
import { placeOf, places } from "./places";

it("marks the place a page belongs to", () => {
  expect(placeOf("/plan")).toBe("/plan");
  expect(placeOf("/workloads/abc")).toBe("/workloads");
  expect(placeOf("/apply/0123")).toBe("/history");
  expect(placeOf("/planning")).toBeNull();
});

it("gives every place a key of its own", () => {
  expect(new Set(places.map((place) => place.key)).size).toBe(places.length);
});
