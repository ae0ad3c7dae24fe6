import fc from "fast-check";
import { expect, it } from "vitest";
import { isSignedOut, wantedPage } from "./signInPage";

const kept = (address: unknown, atMs: unknown = 0) => JSON.stringify({ address, atMs });

it("keeps the page that was asked for with its query, for an hour", () => {
  const link = "/lab?run=ab12&spec=1x-_y%3D&cluster=mine";
  expect(wantedPage(kept(link), 3_599_000)).toBe(link);
  expect(wantedPage(kept(link), 3_601_000)).toBeNull();
});

it("leads nowhere else, whatever is stored", () => {
  for (const address of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/api/sign-in",
    "/sign-in",
    "javascript:alert(1)",
    "lab",
    3,
  ])
    expect(wantedPage(kept(address), 0), String(address)).toBeNull();
  for (const text of ["", "null", "{", "{}", '"/plan"']) expect(wantedPage(text, 0), text).toBeNull();
  fc.assert(
    fc.property(fc.string(), (text) => {
      const page = wantedPage(kept(text), 0);
      if (page !== null) expect(new URL(page, "http://127.0.0.1:4600").host).toBe("127.0.0.1:4600");
    }),
  );
});

it("takes only a refusal for want of a session for one", () => {
  expect(isSignedOut({ data: { code: "UNAUTHORIZED" } })).toBe(true);
  expect([{ data: { code: "FORBIDDEN" } }, { data: null }, new Error("away")].map(isSignedOut)).toEqual([false, false, false]);
});
