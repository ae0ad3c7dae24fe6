import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findSiteFile } from "./siteFile";
import { sitePolicy } from "./sitePolicy";

let folder: string;
beforeAll(() => {
  const parent = mkdtempSync(join(tmpdir(), "weir-docs-"));
  folder = join(parent, "docs");
  mkdirSync(join(folder, "start"), { recursive: true });
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(parent, "secret.json"), "{}");
  writeFileSync(join(folder, "index.html"), "front");
  writeFileSync(join(folder, "start", "v1.2-notes.html"), "page");
  writeFileSync(join(folder, "assets", "app.a1b2.js"), "script");
});
afterAll(() => rmSync(join(folder, ".."), { recursive: true }));

const text = async (...segments: string[]) => {
  const file = await findSiteFile(folder, segments);
  return file === null ? null : { ...file, body: new TextDecoder().decode(file.body) };
};

it("answers the front page, pages by their clean address, and files by name", async () => {
  expect(await text()).toEqual({ body: "front", contentType: "text/html; charset=utf-8", immutable: false, policy: sitePolicy("front") });
  expect((await text("start", "v1.2-notes"))?.body).toBe("page");
  expect((await text("start", "v1.2-notes.html"))?.body).toBe("page");
  expect(await text("assets", "app.a1b2.js")).toEqual({
    body: "script",
    contentType: "text/javascript; charset=utf-8",
    immutable: true,
    policy: null,
  });
});

it("has nothing outside its folder", async () => {
  for (const path of [
    ["..", "secret.json"],
    ["start", "..", "..", "secret.json"],
    ["../secret.json"],
    ["..\\secret.json"],
    ["", "secret.json"],
  ]) {
    expect(await text(...path)).toBeNull();
  }
});

it("has no page where there is none, and none for a folder", async () => {
  expect(await text("nowhere")).toBeNull();
  expect(await text("start")).toBeNull();
});
