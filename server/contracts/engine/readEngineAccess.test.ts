import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { keyReferenceSchema } from "@/solver/wording/keyReference";
import type { EngineAccess } from "./engineAccess";
import { accessRefusal, EngineAccessReader } from "./readEngineAccess";
import { SecretOrigins } from "./secretOrigins";

const root = mkdtempSync(join(tmpdir(), "weir-access-"));
const folder = join(root, "secrets");
mkdirSync(join(folder, "deeper"), { recursive: true });
afterAll(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, "outside"), "taken-key");
writeFileSync(join(folder, "a.key"), "sk-inside\n");
writeFileSync(join(folder, "empty"), " \n");
writeFileSync(join(folder, "two-lines"), "sk-secret-one\nsk-secret-two\n");
symlinkSync(join(root, "outside"), join(folder, "way-out"));
symlinkSync(join(folder, "a.key"), join(folder, "deeper", "link"));

const origin = "http://gpu-1:8000";
/** A reader of access that was entered for one origin. */
function readerOf(access: EngineAccess, variables: Record<string, string> = { WEIR_SECRETS_DIR: folder }): EngineAccessReader {
  const origins = new SecretOrigins(() => join(root, "origins.json"), variables);
  if (access.key !== undefined) origins.allow([{ key: access.key, origin }]);
  return new EngineAccessReader(access, { variables, origins });
}
const read = (access: EngineAccess, variables?: Record<string, string>) => readerOf(access, variables).at(origin);
const reasonOf = (access: EngineAccess, variables?: Record<string, string>): string => {
  const reading = read(access, variables);
  return reading.ok ? "" : reading.error.message;
};

describe("access to an engine", () => {
  it("takes a key from its variable, from a file of the folder, and by a link that stays in it", () => {
    expect(read({ key: { environment: "WEIR_ENGINE_A" } }, { WEIR_ENGINE_A: "sk-a" })).toEqual({ ok: true, key: "sk-a", ca: null });
    for (const file of ["a.key", join(folder, "a.key"), "deeper/link", "deeper/../a.key"])
      expect(read({ key: { file } })).toEqual({ ok: true, key: "sk-inside", ca: null });
    expect(read({}, {})).toEqual({ ok: true, key: null, ca: null });
  });

  it("says in a sentence what is missing", () => {
    expect(reasonOf({ key: { environment: "WEIR_ENGINE_A" } })).toBe("The key's variable WEIR_ENGINE_A is not set");
    expect(reasonOf({ key: { file: "gone" } })).toBe("The file gone in the folder of secrets cannot be read (ENOENT)");
    expect(reasonOf({ key: { file: "a.key" } }, {})).toContain("WEIR_SECRETS_DIR is not set");
    expect(reasonOf({ key: { file: "empty" } })).toBe("The key file empty is empty");
    expect(reasonOf({ key: { file: "deeper" } })).toContain("is no file");
  });

  it.each(["../outside", join(root, "outside"), "..", "", ".", "deeper/../../outside", "/etc/passwd", "way-out"])(
    "reads nothing outside the folder: %j",
    (file) => {
      expect(reasonOf({ key: { file } })).toMatch(/outside the folder|leads out/);
      expect(reasonOf({ caFile: file })).toMatch(/outside the folder|leads out/);
    },
  );

  it("refuses a file outside the folder before anything is read, and no other", () => {
    const variables = { WEIR_SECRETS_DIR: folder };
    expect(accessRefusal({ key: { file: "../outside" } }, variables)).toMatch(/^The file \.\.\/outside lies outside/);
    expect(accessRefusal({ caFile: "../outside" }, variables)).toContain("outside");
    expect(accessRefusal({ key: { file: "not-yet-there" }, caFile: "..ca" }, variables)).toBeNull();
    expect(accessRefusal({ key: { environment: "WEIR_ENGINE_A" } }, variables)).toBeNull();
  });

  it("repeats nothing of a secret in what it says", () => {
    for (const access of [{ key: { file: "two-lines" } }, { caFile: "two-lines" }, { caFile: "a.key" }]) {
      expect(reasonOf(access)).toMatch(/holds no/);
      expect(reasonOf(access)).not.toMatch(/sk-/);
    }
  });

  it("takes up a file that has changed", async () => {
    const reader = readerOf({ key: { file: "turning" } });
    expect(reader.at(origin).ok).toBe(false);
    writeFileSync(join(folder, "turning"), "new-key");
    await sleep(1_100);
    expect(reader.at(origin)).toEqual({ ok: true, key: "new-key", ca: null });
  });

  it("is by reference only: a key itself, and a variable that holds another secret, are refused without being repeated", () => {
    for (const given of ["sk-live", { value: "sk-live" }, { environment: "AWS_SECRET_ACCESS_KEY" }, { environment: "WEIR_ADMIN_TOKEN" }]) {
      const parsed = keyReferenceSchema.safeParse(given);
      expect(parsed.success).toBe(false);
      expect(JSON.stringify(parsed.error?.issues)).not.toContain("sk-live");
    }
  });
});
