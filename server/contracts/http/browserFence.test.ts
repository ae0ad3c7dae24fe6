import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fenceRefusal } from "./browserFence";

const hosts = new Set(["llm.example.com"]);

describe("the fence against browsers", () => {
  it.each([
    "127.0.0.1:4610",
    "127.0.0.1",
    "[::1]:4610",
    "[fe80::1]",
    "192.0.2.7:80",
    "localhost:4610",
    "LOCALHOST",
    "a.localhost:1",
    "llm.example.com",
    "LLM.example.com.:443",
  ])("knows the host %s", (host) => {
    expect(fenceRefusal({ host }, hosts)).toBeNull();
  });

  it.each([
    "evil.example",
    "evil.example:4610",
    "127.0.0.1.evil.example:4610",
    "127.0.0.1@evil.example",
    "localhost.evil.example",
    "x.llm.example.com",
    "",
    ":4610",
    "[::1",
    "::1",
    "localhost:4610:1",
    "evil.example, localhost",
  ])("knows no host %s", (host) => {
    expect(fenceRefusal({ host }, hosts)).toBe("unknown-host");
  });

  it("knows no name but those that are given, whatever its form", () => {
    fc.assert(
      fc.property(fc.domain(), fc.option(fc.integer({ min: 1, max: 65_535 })), (name, port) => {
        expect(fenceRefusal({ host: port === null ? name : `${name}:${port}` }, hosts)).toBe("unknown-host");
      }),
    );
  });

  it.each([
    ["another port of the host", { origin: "http://127.0.0.1:3000" }],
    ["another site", { origin: "https://evil.example" }],
    ["a page without an origin", { origin: "null" }],
    ["an extension", { origin: "chrome-extension://abc" }],
    ["another site, without saying its origin", { "sec-fetch-site": "cross-site" }],
    ["another port, without saying its origin", { "sec-fetch-site": "same-site" }],
  ])("refuses what comes from %s", (_, headers) => {
    expect(fenceRefusal({ host: "127.0.0.1:4610", ...headers }, hosts)).toBe("other-origin");
  });

  it.each([
    ["the same origin", { origin: "http://127.0.0.1:4610", "sec-fetch-site": "same-origin" }],
    ["the user", { "sec-fetch-site": "none" }],
    ["a program", {}],
  ])("lets through what comes from %s", (_, headers) => {
    expect(fenceRefusal({ host: "127.0.0.1:4610", ...headers }, hosts)).toBeNull();
  });
});
