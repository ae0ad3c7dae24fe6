import { describe, expect, it } from "vitest";
import { ServiceRate } from "./serviceRates";

describe("ServiceRate", () => {
  it("is not known before two were done", () => {
    const rate = new ServiceRate();
    expect(rate.perSecond(0)).toBeNull();
    rate.done(0);
    expect(rate.perSecond(1000)).toBeNull();
  });

  it("is that of the last ones, and falls while none is done", () => {
    const rate = new ServiceRate();
    for (let index = 0; index < 500; index += 1) rate.done(index * 1000);
    for (let index = 1; index <= 64; index += 1) rate.done(499_000 + index * 10);
    const nowMs = 499_640;
    expect(rate.perSecond(nowMs)).toBeCloseTo(100, 6);
    expect(rate.perSecond(nowMs + 630)).toBeCloseTo(50, 6);
  });
});
