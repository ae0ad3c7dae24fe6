import { describe, expect, it } from "vitest";
import { frontSettings } from "./frontSettings";

const tls = { WEIR_TLS_CERT_FILE: "/c.pem", WEIR_TLS_KEY_FILE: "/k.pem" };

describe("how the studio listens", () => {
  it("is on loopback, under its names and its port, without a setting", () => {
    const { address, port, hosts, tls } = frontSettings({});
    expect({ address, port, tls, hosts: [...hosts] }).toEqual({
      address: "127.0.0.1",
      port: 4600,
      tls: null,
      hosts: ["127.0.0.1:4600", "localhost:4600", "[::1]:4600"],
    });
  });

  it("adds the host of its URL and the hosts that are named", () => {
    const { hosts } = frontSettings({ WEIR_STUDIO_URL: "https://weir.example.com", WEIR_STUDIO_HOSTS: "Localhost, a.example.com:8443" });
    expect([...hosts].slice(3)).toEqual(["weir.example.com:443", "localhost", "a.example.com:8443"]);
  });

  it("adds the address that the studio listens on, unless it stands for all addresses", () => {
    const ofAddress = (address: string) => [...frontSettings({ WEIR_STUDIO_ADDRESS: address, ...tls }).hosts];
    expect(ofAddress("10.0.0.5")).toContain("10.0.0.5:4600");
    expect(ofAddress("fd00::0:5")).toContain("[fd00::5]:4600");
    for (const all of ["0.0.0.0", "::", "0::0"]) expect(ofAddress(all)).toEqual(ofAddress("127.0.0.1"));
  });

  it("is not in plain text on other addresses, unless a proxy that adds TLS is named", () => {
    expect(() => frontSettings({ WEIR_STUDIO_ADDRESS: "0.0.0.0" })).toThrow(/in plain text: set WEIR_TLS_CERT_FILE/);
    expect(frontSettings({ WEIR_STUDIO_ADDRESS: "0.0.0.0", ...tls }).address).toBe("0.0.0.0");
    expect(frontSettings({ WEIR_STUDIO_ADDRESS: "::", WEIR_TRUSTED_PROXIES: "10.0.0.4" }).proxies.trusts("10.0.0.4")).toBe(true);
  });

  it("refuses malformed settings, each by its name", () => {
    expect(() => frontSettings({ WEIR_STUDIO_ADDRESS: "example.com" })).toThrow("WEIR_STUDIO_ADDRESS");
    expect(() => frontSettings({ WEIR_STUDIO_PORT: "0" })).toThrow("WEIR_STUDIO_PORT");
    expect(() => frontSettings({ WEIR_STUDIO_HOSTS: "https://a" })).toThrow("WEIR_STUDIO_HOSTS");
    expect(() => frontSettings({ WEIR_STUDIO_URL: "weir" })).toThrow("WEIR_STUDIO_URL");
    expect(() => frontSettings({ WEIR_TLS_CERT_FILE: "/c.pem" })).toThrow("WEIR_TLS_KEY_FILE");
    expect(() => frontSettings({ WEIR_TLS_KEY_FILE: "/k.pem" })).toThrow("WEIR_TLS_CERT_FILE");
  });
});
