import { expect, test } from "vitest";
import { RecentMap } from "./recentMap";

test("forgets what was set least recently beyond its limit", () => {
  const map = new RecentMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 1);
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([1, undefined, 3, 2]);
});

test("sets anew without growing, and deletes", () => {
  const map = new RecentMap<number>(2);
  for (const value of [1, 2, 3]) map.set("a", value);
  map.set("b", 1);
  expect([map.get("a"), map.size]).toEqual([3, 2]);
  map.delete("a");
  expect([map.get("a"), map.size]).toEqual([undefined, 1]);
});
