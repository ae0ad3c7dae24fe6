import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ensurePrivateFolder } from "./privateFolder";

const parent = mkdtempSync(join(tmpdir(), "weir-private-"));
afterAll(() => rmSync(parent, { recursive: true }));
const modeOf = (folder: string) => (statSync(folder).mode & 0o777).toString(8);

it("makes a folder that only this user may enter", () => {
  const folder = join(parent, "new", "state");
  expect(ensurePrivateFolder(folder)).toBeNull();
  expect(modeOf(folder)).toBe("700");
  expect(ensurePrivateFolder(folder)).toBeNull();
});

it("closes a folder that others could read, and says so", () => {
  const folder = join(parent, "open");
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  expect(ensurePrivateFolder(folder)).toBe(`${folder} was open to other users of this machine (mode 755); its mode is now 700.`);
  expect(modeOf(folder)).toBe("700");
});

it("does not close a folder that users share", () => {
  const folder = join(parent, "shared");
  mkdirSync(folder);
  chmodSync(folder, 0o1777);
  expect(() => ensurePrivateFolder(folder)).toThrow(/shared with other users/);
  expect(modeOf(folder)).toBe("777");
});
