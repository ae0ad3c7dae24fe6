import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientAddress, isLoopback, plainAddress, trustedProxies } from "./clientAddress";

const proxiesOf = (list: string) => trustedProxies(list, "WEIR_TRUSTED_PROXIES");

describe("trusted proxies", () => {
  it("are addresses and networks of both versions, and nothing else", () => {
    const { trusts } = proxiesOf("10.1.0.0/16, 192.0.2.7,fd00::/8");
    for (const address of ["10.1.255.3", "192.0.2.7", "fd12::1"]) expect(trusts(address)).toBe(true);
    for (const address of ["10.2.0.1", "192.0.2.8", "fe80::1", "127.0.0.1", "::1", "unknown", ""]) expect(trusts(address)).toBe(false);
  });

  it("refuse an entry that is neither, by its text", () => {
    for (const entry of [
      "proxy.example.com",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "10.0.0",
      "::1/129",
      "10.0.0.0/-1",
      "10.0.0.0/1.5",
    ])
      expect(() => proxiesOf(`127.0.0.1,${entry}`)).toThrow(`WEIR_TRUSTED_PROXIES has "${entry}"`);
  });
});

describe("the address of a client", () => {
  it("is the peer's, whatever a request from elsewhere claims", () => {
    const sent = { peer: "203.0.113.9", forwardedFor: "198.51.100.1" };
    expect(clientAddress({ ...sent, proxies: proxiesOf("") })).toBe("203.0.113.9");
    expect(clientAddress({ ...sent, proxies: proxiesOf("127.0.0.1") })).toBe("203.0.113.9");
    expect(clientAddress({ ...sent, peer: "127.0.0.1", proxies: proxiesOf("") })).toBe("127.0.0.1");
  });

  it("is the last one behind trusted proxies; what the client wrote before it is not read", () => {
    const proxies = proxiesOf("127.0.0.1, 10.0.0.0/8");
    const address = (forwardedFor: string) => clientAddress({ peer: "::ffff:127.0.0.1", forwardedFor, proxies });
    expect(address("198.51.100.1")).toBe("198.51.100.1");
    expect(address("1.2.3.4, 198.51.100.1, 10.0.0.2")).toBe("198.51.100.1");
    expect(address("1.2.3.4, nonsense, 10.0.0.2")).toBe("10.0.0.2");
    expect(address("[2001:db8::7]:443")).toBe("2001:db8::7");
    expect(address("198.51.100.1:5000")).toBe("198.51.100.1");
    expect(address("")).toBe("127.0.0.1");
  });

  it("is never taken from what stands before the first untrusted address, for any list", () => {
    const proxies = proxiesOf("10.0.0.0/8");
    const proxy = fc.ipV4().map((address) => address.replace(/^\d+/, "10"));
    const client = fc.ipV4().filter((address) => !address.startsWith("10."));
    fc.assert(
      fc.property(fc.array(fc.string()), client, fc.array(proxy), proxy, (claims, sender, hops, peer) => {
        const forwardedFor = [...claims, sender, ...hops].join(", ");
        expect(clientAddress({ peer, forwardedFor, proxies })).toBe(sender);
      }),
    );
  });

  it("is unknown where a connection has none", () => {
    expect(clientAddress({ peer: undefined, forwardedFor: "10.0.0.1", proxies: proxiesOf("10.0.0.0/8") })).toBe("unknown");
  });
});

it("an address is read without what sockets add, and only if it is one", () => {
  expect(plainAddress("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(plainAddress("fe80::1%eth0")).toBe("fe80::1");
  expect(plainAddress("localhost")).toBeNull();
});

it("loopback is known by its addresses and by localhost, and by no name that looks like one", () => {
  expect(["127.0.0.1", "127.8.8.8", "::1", "[::1]", "::ffff:127.0.0.1", "localhost"].filter((host) => !isLoopback(host))).toEqual([]);
  const others = [
    "0.0.0.0",
    "::",
    "128.0.0.1",
    "192.0.2.1",
    "gpu-1",
    "localhost.example",
    "127.evil.example",
    "127.0.0.1.example",
    "",
    null,
  ];
  expect(others.filter(isLoopback)).toEqual([]);
});
