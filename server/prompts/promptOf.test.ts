import { expect, test } from "vitest";
import { instantMs } from "./promptOf";

const eight = Date.UTC(2026, 0, 1, 8);

test.each([
  [eight, eight],
  [eight / 1000, eight],
  [String(eight / 1000), eight],
  ["2026-01-01T08:00:00Z", eight],
  ["2026-01-01 08:00", eight],
  ["2026-01-01 08:00:00.250", eight + 250],
  ["2026-01-01T09:00:00+01:00", eight],
  ["2026-01-01 09:00:00 +0100", eight],
  ["2026-01-01", Date.UTC(2026, 0, 1)],
])("%s is a moment", (value, ms) => {
  expect(instantMs(value)).toBe(ms);
});

test.each([["yesterday"], [""], [null], [undefined], [{}], [-5], [Number.NaN], [1e300], ["2026-13-01 08:00"]])("%s is none", (value) => {
  expect(instantMs(value)).toBeNull();
});
