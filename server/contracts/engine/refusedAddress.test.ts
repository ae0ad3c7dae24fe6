import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRefusedAddress, isRefusedHost, readAllowedAddresses } from "./refusedAddress";

const byte = fc.integer({ min: 0, max: 255 });
const v4 = fc.tuple(byte, byte, byte, byte);
const linkLocal = fc.tuple(fc.constant(169), fc.constant(254), byte, byte);
const dotted = (parts: readonly number[]): string => parts.join(".");
const asNumber = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number => ((a * 256 + b) * 256 + c) * 256 + d;

/** Every way to write an IPv4 address in a URL. */
const spellings = (parts: readonly number[]): readonly string[] => {
  const number = asNumber(parts);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  return [
    dotted(parts),
    `${dotted(parts)}.`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0x${part.toString(16)}`).join("."),
    parts.map((part) => `0${part.toString(8)}`).join("."),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `[::ffff:${dotted(parts)}]`,
    `[::${dotted(parts)}]`,
    `[64:ff9b::${dotted(parts)}]`,
    `[2002:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}::1]`,
  ];
};

const hostOf = (host: string): string => new URL(`http://${host}:8000/`).hostname;

describe("addresses to which nothing is sent", () => {
  it("are link-local ones, however they are written", () => {
    fc.assert(
      fc.property(linkLocal, (parts) => {
        for (const host of spellings(parts)) expect([host, isRefusedHost(hostOf(host))]).toEqual([host, true]);
      }),
    );
  });

  it("are link-local IPv6 ones, with any zone", () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    fc.assert(
      fc.property(fc.integer({ min: 0xfe80, max: 0xfebf }), fc.array(group, { minLength: 7, maxLength: 7 }), (first, rest) => {
        const address = [first.toString(16), ...rest].join(":");
        expect(isRefusedAddress(address)).toBe(true);
        expect(isRefusedAddress(`${address}%eth0`)).toBe(true);
      }),
    );
  });

  it.each([
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:100.100.100.200",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata.goog",
  ])("are those of metadata services: %s", (host) => expect(isRefusedHost(host)).toBe(true));

  it("are no others: loopback, private and public ones are asked", () => {
    for (const address of [
      "127.0.0.1",
      "0.0.0.0",
      "::",
      "::1",
      "10.0.0.1",
      "192.168.1.1",
      "172.16.0.1",
      "fd00::1",
      "1.1.1.1",
      "100.64.0.1",
    ])
      expect([address, isRefusedAddress(address)]).toEqual([address, false]);
    fc.assert(
      fc.property(v4, (parts) => {
        fc.pre(!(parts[0] === 169 && parts[1] === 254) && !["100.100.100.200", "192.0.0.192", "168.63.129.16"].includes(dotted(parts)));
        expect(isRefusedAddress(dotted(parts))).toBe(false);
        expect(isRefusedAddress(`::ffff:${dotted(parts)}`)).toBe(false);
      }),
    );
    expect(isRefusedHost("gpu-1.example")).toBe(false);
  });

  it("include what is no address at all", () => {
    for (const text of ["", "gpu-1", "1.2.3", "0x7f.1", "::g"]) expect(isRefusedAddress(text)).toBe(true);
  });
});

describe("the exceptions that an operator names", () => {
  it("are addresses, subnets and names, and nothing beside them", () => {
    const allowed = readAllowedAddresses("169.254.7.0/24, fe80::1 metadata.google.internal");
    expect(["169.254.7.9", "::ffff:169.254.7.9", "fe80::1"].map((one) => isRefusedAddress(one, allowed))).toEqual([false, false, false]);
    expect(["169.254.8.9", "fe80::2", "100.100.100.200"].map((one) => isRefusedAddress(one, allowed))).toEqual([true, true, true]);
    expect(isRefusedHost("metadata.google.internal", allowed)).toBe(false);
    expect(isRefusedHost("metadata.goog", allowed)).toBe(true);
    expect(isRefusedHost("169.254.169.254", readAllowedAddresses(""))).toBe(true);
  });

  it.each(["169.254.0.0/33", "169.254", "fe80::/129", "gpu-1", "*"])("are refused in a sentence where they are none: %s", (entry) => {
    expect(() => readAllowedAddresses(entry)).toThrow(`WEIR_ALLOWED_ADDRESSES holds ${entry}`);
  });
});
