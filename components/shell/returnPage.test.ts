import fc from "fast-check";
import { expect, it } from "vitest";
import { returnPage, wantedCookie } from "./returnPage";

const headerOf = (address: string) => `theme=dark; ${wantedCookie(address)?.split(";")[0]}; x=1`;

it("keeps the page that was asked for with its query", () => {
  const link = "/lab?run=ab12&spec=1x-_y%3D&cluster=mine";
  expect(returnPage(headerOf(link))).toBe(link);
  expect(returnPage(null)).toBeNull();
  expect(returnPage("theme=dark")).toBeNull();
});

it("leads nowhere else, whatever was written into the cookie", () => {
  for (const address of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/api/sign-in?token=x",
    "/sign-in",
    "javascript:alert(1)",
    "lab",
  ])
    expect(returnPage(headerOf(address)), address).toBeNull();
  expect(returnPage("weir_wanted=%E0%A4%A")).toBeNull();
  fc.assert(
    fc.property(fc.string(), (text) => {
      const page = returnPage(`weir_wanted=${encodeURIComponent(text)}`);
      if (page !== null) expect(new URL(page, "http://127.0.0.1:4600").host).toBe("127.0.0.1:4600");
    }),
  );
});

it("keeps no address that a cookie cannot hold", () => {
  expect(wantedCookie(`/lab?spec=${"x".repeat(5000)}`)).toBeNull();
});
