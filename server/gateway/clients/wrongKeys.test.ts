import { describe, expect, it } from "vitest";
import { clientAddress } from "./clientAddress";
import { WrongKeys } from "./wrongKeys";

const far = clientAddress("203.0.113.7");
const proxy = clientAddress("127.0.0.1");

/** Sends wrong keys until they are refused; returns how many were answered as wrong. */
function guess(keys: WrongKeys, address: typeof far, nowMs = 0): number {
  let answered = 0;
  while (answered < 1000 && keys.wrong(address, nowMs) === 0) answered += 1;
  return answered;
}

describe("an address that sends wrong keys", () => {
  it("has twenty answered, and then one every three seconds", () => {
    const keys = new WrongKeys();
    expect(guess(keys, far)).toBe(20);
    const seconds = keys.wrong(far, 0);
    expect(seconds).toBeGreaterThan(2.9);
    expect(seconds).toBeLessThanOrEqual(3);
    let answered = 0;
    for (let nowMs = 0; nowMs < 60_000; nowMs += 10) if (keys.wrong(far, nowMs) === 0) answered += 1;
    expect(answered).toBeGreaterThanOrEqual(19);
    expect(answered).toBeLessThanOrEqual(20);
  });

  it("does not learn that a guess was right while it must wait", () => {
    const keys = new WrongKeys();
    guess(keys, far);
    expect(keys.right(far, "team", 0)).toBeGreaterThan(0);
  });

  it("takes nothing from a client beside it whose key was right before", () => {
    const keys = new WrongKeys();
    expect(keys.right(far, "team", 0)).toBe(0);
    guess(keys, far);
    expect(keys.right(far, "team", 0)).toBe(0);
    expect(keys.right(far, "another", 0)).toBeGreaterThan(0);
  });

  it("lets in any right key a few seconds after the last wrong one", () => {
    const keys = new WrongKeys();
    guess(keys, far);
    const seconds = keys.right(far, "team", 0);
    expect(seconds).toBeLessThanOrEqual(3);
    expect(keys.right(far, "team", seconds * 1000)).toBe(0);
  });

  it("takes nothing from the clients of other addresses, nor from any right key where a proxy may stand", () => {
    const keys = new WrongKeys();
    guess(keys, far);
    expect(keys.right(clientAddress("203.0.113.8"), "team", 0)).toBe(0);
    expect(guess(keys, proxy)).toBe(20);
    for (const key of ["a", "b", "c"]) expect(keys.right(proxy, key, 0)).toBe(0);
  });

  it("is forgotten when ten thousand others came after it", () => {
    const keys = new WrongKeys();
    guess(keys, far);
    for (let at = 0; at < 9_999; at += 1) keys.wrong(clientAddress(`10.0.${at >> 8}.${at & 255}`), 0);
    expect(keys.wrong(far, 0)).toBeGreaterThan(0);
    for (let at = 0; at < 10_000; at += 1) keys.wrong(clientAddress(`10.1.${at >> 8}.${at & 255}`), 0);
    expect(keys.wrong(far, 0)).toBe(0);
  });
});

describe("an address", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7", false],
    ["::ffff:203.0.113.7", "203.0.113.7", false],
    ["127.0.0.1", "127.0.0.1", true],
    ["::ffff:127.0.0.2", "127.0.0.2", true],
    ["::1", "0:0:0:0::/64", true],
    ["2001:db8::1", "2001:db8:0:0::/64", false],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", false],
    ["fe80::1%eth0", "fe80:0:0:0::/64", false],
  ])("%s counts as %s", (address, name, isShared) => {
    expect(clientAddress(address)).toEqual({ name, isShared });
  });
});
