import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RequestFacts, requestRefusal } from "./requestRefusal";

const hosts = new Set(["127.0.0.1:4600", "localhost:4600", "[::1]:4600", "weir.example.com:443", "tunnel.example.com"]);
type Headers = RequestFacts["headers"];
const kindOf = (method: string, target: string, headers: Headers = {}, secure = false): string | null =>
  requestRefusal({ method, target, secure, headers: { host: "127.0.0.1:4600", ...headers } }, hosts)?.kind ?? null;

const json = { "content-type": "application/json" };
const typed = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const ownPage = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };
const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

describe("hosts", () => {
  it("are the studio's own names, with their port", () => {
    for (const host of ["127.0.0.1:4600", "LOCALHOST:4600", "[::1]:4600", "tunnel.example.com", "tunnel.example.com:9"])
      expect(kindOf("GET", "/plan", { host })).toBeNull();
    expect(kindOf("GET", "/plan", { host: "weir.example.com" }, true)).toBeNull();
    expect(kindOf("GET", "/plan", { host: "weir.example.com:443" }, true)).toBeNull();
  });

  it("of a page that points its name to this machine are refused for every method and path", () => {
    for (const host of [
      ...["evil.example", "evil.example:4600", "127.0.0.1", "127.0.0.1:4601", "localhost", "127.0.0.1.evil.example:4600"],
      ...[
        "weir.example.com",
        "weir.example.com:4600",
        "",
        "127.0.0.1:4600@evil.example",
        "127.0.0.1:4600/x",
        "evil.example#127.0.0.1:4600",
      ],
    ])
      for (const method of ["GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE"])
        for (const path of [
          "/",
          "/plan",
          "/docs",
          "/metrics",
          "/api/health",
          "/api/trpc/session.me",
          "/api/sign-in?token=x",
          "/_next/static/a.js",
        ])
          expect([host, kindOf(method, path, { host, ...json })]).toEqual([host, "unknown-host"]);
    expect(kindOf("GET", "/plan", { host: undefined })).toBe("unknown-host");
  });

  it("are never guessed from a name that only contains one of them", () => {
    fc.assert(
      fc.property(fc.webAuthority({ withPort: true }), (host) => {
        expect(kindOf("GET", "/", { host })).toBe(hosts.has(host.toLowerCase()) ? null : "unknown-host");
      }),
    );
  });
});

describe("methods", () => {
  it("are GET, HEAD and POST", () => {
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"])
      expect(kindOf(method, "/api/trpc/plans.list", json)).toBe("method");
    expect(kindOf("POST", "/plan", json)).toBe("method");
  });

  it("HEAD and prefetches do not reach the sign-in link, however its path is spelt", () => {
    for (const path of ["/api/sign-in?token=x", "/api/sign%2Din?token=x", "/%61pi/sign-in?token=x", "/api/sign-in/?token=x"])
      expect([path, kindOf("HEAD", path)]).toEqual([path, "method"]);
    for (const path of [
      "/api/./sign-in",
      "//api/sign-in",
      "/x/../api/sign-in",
      "/x/%2e%2e/api/sign-in",
      "http://127.0.0.1:4600/api/sign-in",
      "\\api/sign-in",
    ])
      expect([path, kindOf("HEAD", path)]).toEqual([path, "malformed-target"]);
    expect(kindOf("GET", "/api/sign-in?token=x", { ...typed, "sec-purpose": "prefetch;prerender" })).toBe("prefetch");
    expect(kindOf("GET", "/api/sign-in?token=x", { ...typed, purpose: "prefetch" })).toBe("prefetch");
    expect(kindOf("GET", "/api/sign-in?token=x", typed)).toBeNull();
    expect(kindOf("GET", "/api/sign-in?token=x")).toBeNull();
    expect(kindOf("HEAD", "/api/health")).toBeNull();
    expect(kindOf("HEAD", "/plan")).toBeNull();
  });
});

describe("origins", () => {
  it("the studio's own pages and command lines may call it", () => {
    expect(kindOf("GET", "/api/trpc/plans.list", ownPage)).toBeNull();
    expect(kindOf("POST", "/api/trpc/plans.approve", { ...ownPage, ...json, origin: "http://127.0.0.1:4600" })).toBeNull();
    expect(kindOf("POST", "/api/trpc/plans.approve", json)).toBeNull();
    const https = { ...json, host: "weir.example.com", origin: "https://weir.example.com" };
    expect(kindOf("POST", "/api/trpc/plans.approve", https, true)).toBeNull();
    expect(kindOf("POST", "/api/trpc/plans.approve", { ...https, origin: "http://weir.example.com" }, true)).toBe("other-site");
  });

  it("another site, another port of this host and an opaque origin are refused on every method", () => {
    for (const method of ["GET", "HEAD", "POST"])
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: "http://127.0.0.1:4611" },
        { origin: "http://localhost:4600" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { ...ownPage, "sec-fetch-site": "same-site", origin: "http://127.0.0.1:4611" },
      ] satisfies Headers[])
        expect(kindOf(method, method === "HEAD" ? "/plan" : "/api/trpc/plans.list", { ...json, ...headers })).toBe("other-site");
  });

  it("another site may open a page in a tab, and neither frame it nor open a call", () => {
    expect(kindOf("GET", "/plan", link)).toBeNull();
    expect(kindOf("GET", "/api/sign-in?token=x", link)).toBeNull();
    expect(kindOf("GET", "/plan", { ...link, "sec-fetch-dest": "iframe" })).toBe("other-site");
    expect(kindOf("GET", "/plan", { ...link, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" })).toBe("other-site");
    expect(kindOf("GET", "/api/trpc/clusters.tryEndpoints?input=x", link)).toBe("other-site");
    expect(kindOf("GET", "/api/%74rpc/clusters.tryEndpoints", link)).toBe("other-site");
    expect(kindOf("POST", "/api/sign-in", { ...link, ...json })).toBe("other-site");
  });
});

describe("content types", () => {
  it("that a form can send reach no route", () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "",
      undefined,
      "application/jsonp",
    ])
      for (const path of ["/api/trpc/plans.approve", "/api/uploads?kind=runs", "/api/sign-in"])
        expect(kindOf("POST", path, { "content-type": type })).toBe("content-type");
    expect(kindOf("POST", "/api/trpc/plans.approve", { "content-type": "Application/JSON; charset=utf-8" })).toBeNull();
    expect(kindOf("POST", "/api/uploads?kind=runs", { "content-type": "application/octet-stream" })).toBeNull();
    expect(kindOf("POST", "/api/uploads?kind=runs", json)).toBe("content-type");
  });
});
