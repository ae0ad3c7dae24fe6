import { expect, it } from "vitest";
import { limitName, noPlanKinds } from "./noPlanKind";

it("has a name of its own for each limit that leaves no plan", () => {
  expect(new Set(noPlanKinds.map(limitName)).size).toBe(noPlanKinds.length);
});
