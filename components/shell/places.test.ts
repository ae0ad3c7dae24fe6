import { expect, it } from "vitest";
import { placeOf, places, placesFor } from "./places";

it("marks the place a page belongs to", () => {
  expect(placeOf("/plan")).toBe("/plan");
  expect(placeOf("/workloads/abc")).toBe("/workloads");
  expect(placeOf("/apply/0123")).toBe("/history");
  expect(placeOf("/planning")).toBeNull();
});

it("shows people and keys to those who manage them", () => {
  const names = (permissions: Parameters<typeof placesFor>[0]) => placesFor(permissions).map(({ name }) => name);
  expect(names({ permissions: ["read", "manage"] })).toContain("People");
  expect(names({ permissions: ["read", "approve"] })).not.toContain("People");
  expect(names(null)).toEqual(names({ permissions: ["read"] }));
});

it("gives every place a key of its own", () => {
  expect(new Set(places.map((place) => place.key)).size).toBe(places.length);
});
