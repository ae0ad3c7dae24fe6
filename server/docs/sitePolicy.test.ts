import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sitePolicy } from "./sitePolicy";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const scriptSources = (html: string) => /script-src ([^;]*)/.exec(sitePolicy(html))?.[1];

it("allows the inline scripts of a page by their hashes, each once, and files of the origin", () => {
  const html = `<script id="a">let a = 1;</script><script type="module" src="/docs/x.js"></script>
    <script>window.b\n= 2</script><script>let a = 1;</script>`;
  expect(scriptSources(html)).toBe(`'self' ${hash("let a = 1;")} ${hash("window.b\n= 2")}`);
});

it("allows no other inline script", () => {
  expect(scriptSources("<p>text</p>")).toBe("'self'");
  expect(sitePolicy("<script>a</script>")).not.toMatch(/script-src[^;]*unsafe/);
});
