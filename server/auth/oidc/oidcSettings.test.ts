import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oidcSettings } from "./oidcSettings";

const studio = "https://weir.example.com";
const least = {
  WEIR_OIDC_ISSUER: "https://login.example.com/realms/weir",
  WEIR_OIDC_CLIENT_ID: "weir",
  WEIR_OIDC_CLIENT_SECRET_FILE: "/etc/weir/oidc-secret",
  WEIR_OIDC_ROLES: "admins=admin, ml-ops=operator",
};
const fault = (change: Record<string, string | undefined>, studioUrl = studio): string => {
  try {
    oidcSettings({ ...least, ...change }, studioUrl);
    return "";
  } catch (problem) {
    return (problem as Error).message;
  }
};

describe("settings of sign-in by OIDC", () => {
  it("are none without a variable", () => {
    expect(oidcSettings({ WEIR_STATE_DIR: "/x", WEIR_OIDC_ISSUER: "" }, studio)).toBeNull();
  });

  it("have the usual values where none are given", () => {
    expect(oidcSettings(least, studio)).toEqual({
      issuer: new URL("https://login.example.com/realms/weir"),
      name: "login.example.com",
      clientId: "weir",
      clientSecretFile: "/etc/weir/oidc-secret",
      scopes: "openid profile email",
      groupsClaim: "groups",
      roleOfGroup: new Map([
        ["admins", "admin"],
        ["ml-ops", "operator"],
      ]),
      defaultRole: null,
    });
  });

  it("take plain http only where nothing lies between: on a loopback address", () => {
    for (const issuer of ["http://127.0.0.1:9000", "http://localhost:9000/x", "http://[::1]:9000"])
      expect(fault({ WEIR_OIDC_ISSUER: issuer }), issuer).toBe("");
    for (const issuer of ["http://login.example.com", "http://127.0.0.1.example.com", "http://localhost.example.com", "ftp://127.0.0.1"])
      expect(fault({ WEIR_OIDC_ISSUER: issuer }), issuer).toMatch(/^WEIR_OIDC_ISSUER is ".*": sign-in by OIDC needs https/);
    expect(fault({}, "http://weir.example.com")).toMatch(/^WEIR_STUDIO_URL .* needs https/);
  });

  it.each<[Record<string, string | undefined>, string]>([
    [{ WEIR_OIDC_ISSUER: "login" }, 'WEIR_OIDC_ISSUER is "login": give a URL such as https://login.example.com.'],
    [{ WEIR_OIDC_ISSUER: "https://a:b@login.example.com" }, "WEIR_OIDC_ISSUER may have neither a user, nor a query, nor a fragment."],
    [{ WEIR_OIDC_ISSUER: undefined }, "WEIR_OIDC_ISSUER is not set, but WEIR_OIDC_CLIENT_ID is: set it to the issuer's URL."],
    [
      { WEIR_OIDC_CLIENT_SECRET_FILE: " " },
      "WEIR_OIDC_CLIENT_SECRET_FILE is not set, but WEIR_OIDC_ISSUER is: set it to the path of a file with the client secret.",
    ],
    [{ WEIR_OIDC_SCOPES: "profile  email" }, 'WEIR_OIDC_SCOPES is "profile email": it must contain openid.'],
    [{ WEIR_OIDC_ROLES: "admins" }, 'WEIR_OIDC_ROLES has "admins": give group=role, separated by commas.'],
    [{ WEIR_OIDC_ROLES: "=admin" }, 'WEIR_OIDC_ROLES has "=admin": give group=role, separated by commas.'],
    [{ WEIR_OIDC_ROLES: "a=" }, 'WEIR_OIDC_ROLES has "a=": give group=role, separated by commas.'],
    [{ WEIR_OIDC_ROLES: "a=Admin" }, 'WEIR_OIDC_ROLES has the role "Admin": give viewer, operator, approver or admin.'],
    [{ WEIR_OIDC_ROLES: "a=admin,a=viewer" }, 'WEIR_OIDC_ROLES names the group "a" twice.'],
    [{ WEIR_OIDC_DEFAULT_ROLE: "all" }, 'WEIR_OIDC_DEFAULT_ROLE has the role "all": give viewer, operator, approver or admin.'],
    [{ WEIR_OIDC_ROLES: " , " }, "WEIR_OIDC_ROLES is not set: without it or WEIR_OIDC_DEFAULT_ROLE nobody could sign in by OIDC."],
  ])("refuse %j in one sentence", (change, sentence) => {
    expect(fault(change)).toBe(sentence);
  });

  it("refuse a variable that is misspelled", () => {
    expect(fault({ WEIR_OIDC_ROLE: "a=admin" })).toMatch(/^WEIR_OIDC_ROLE is no setting: /);
  });

  it("keep a group's name whole, whatever it contains but a comma", () => {
    const group = fc.string({ minLength: 1 }).filter((name) => name.trim() === name && !name.includes(","));
    fc.assert(
      fc.property(group, fc.constantFrom("viewer", "operator", "approver", "admin"), (name, role) => {
        const settings = oidcSettings({ ...least, WEIR_OIDC_ROLES: `${name}=${role}` }, studio);
        expect([...(settings?.roleOfGroup ?? [])]).toEqual([[name, role]]);
      }),
    );
  });
});
