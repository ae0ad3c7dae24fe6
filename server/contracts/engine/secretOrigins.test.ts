import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineAccessReader } from "./readEngineAccess";
import { SecretOrigins } from "./secretOrigins";

const here = "http://gpu-1:8000";
const there = "http://gpu-2:8000";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-origins-"));
  file = join(folder, "state", "origins.json");
  writeFileSync(join(folder, "a.key"), "sk-of-a\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const originsIn = (variables: Record<string, string> = {}) =>
  new SecretOrigins(() => file, { WEIR_SECRETS_DIR: folder, WEIR_ENGINE_A: "sk-in-variable", ...variables });
const byFile = (name: string, origin = here) => ({ key: { file: name }, origin });
const byVariable = (name: string, origin = here) => ({ key: { environment: name }, origin });

describe("the origins of secrets", () => {
  it("are none until a secret is entered, and then the entered one alone", () => {
    const origins = originsIn();
    expect(origins.refusal(byVariable("WEIR_ENGINE_A"))).toMatchObject({ kind: "unentered", use: byVariable("WEIR_ENGINE_A") });
    expect(origins.enter([byVariable("WEIR_ENGINE_A")])).toEqual([byVariable("WEIR_ENGINE_A")]);
    expect(origins.refusal(byVariable("WEIR_ENGINE_A"))).toBeNull();
    for (const other of [there, "https://gpu-1:8000", "http://gpu-1", "http://gpu-1.evil:8000"])
      expect(origins.refusal(byVariable("WEIR_ENGINE_A", other))?.kind).toBe("elsewhere");
  });

  it("names both origins and how to allow the second in one sentence", () => {
    const origins = originsIn();
    origins.enter([byFile("a.key")]);
    expect(origins.refusal(byFile("a.key", there))?.message).toBe(
      `The key file a.key was entered for ${here} and is not sent to ${there}: to allow that, add ${there} to ${file}`,
    );
  });

  it("grow by what is allowed, and not by entering a secret again", () => {
    const origins = originsIn();
    origins.enter([byFile("a.key")]);
    expect(origins.enter([byFile("a.key", there)])).toEqual([]);
    expect(origins.refusal(byFile("a.key", there))).not.toBeNull();
    origins.allow([byFile("a.key", there)]);
    expect([here, there].map((origin) => origins.refusal(byFile("a.key", origin)))).toEqual([null, null]);
  });

  it("are those of several addresses where one act enters a secret for them", () => {
    const origins = originsIn();
    expect(origins.enter([byFile("a.key"), byFile("a.key", there)])).toHaveLength(2);
    expect([here, there].map((origin) => origins.refusal(byFile("a.key", origin)))).toEqual([null, null]);
  });

  it("are those of the secret, whatever name it is called by", () => {
    symlinkSync(join(folder, "a.key"), join(folder, "link"));
    writeFileSync(join(folder, "copy"), "sk-of-a");
    const origins = originsIn({ WEIR_ENGINE_B: "sk-of-a" });
    origins.enter([byFile("a.key")]);
    for (const use of [byFile("./a.key", there), byFile(join(folder, "a.key"), there), byFile("x/../a.key", there)])
      expect(origins.enter([use])).toEqual([]);
    for (const use of [byFile("link", there), byFile("copy", there), byVariable("WEIR_ENGINE_B", there)]) {
      expect(origins.enter([use])).toEqual([]);
      expect(origins.refusal(use)?.kind).toBe("elsewhere");
    }
    expect(origins.refusal(byFile("link"))).toBeNull();
  });

  it("are of http alone: what has no such origin is not entered, and spoils nothing", () => {
    const origins = originsIn();
    expect(origins.enter([byFile("a.key", "null"), byFile("a.key", "ftp://gpu-1"), byFile("a.key", "http://gpu-1:8000/v1")])).toEqual([]);
    origins.enter([byFile("a.key")]);
    expect(originsIn().refusal(byFile("a.key"))).toBeNull();
  });

  it("are taken from what was in use only where there is no file yet", () => {
    originsIn().begin([byFile("a.key"), byFile("a.key", "null")]);
    expect(originsIn().refusal(byFile("a.key"))).toBeNull();
    originsIn().begin([byFile("a.key", there)]);
    expect(originsIn().refusal(byFile("a.key", there))?.kind).toBe("elsewhere");
  });

  it("are in a file for this user alone, without any secret", () => {
    originsIn().enter([byFile("a.key"), byVariable("WEIR_ENGINE_A")]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(JSON.parse(text)).toEqual({ version: 1, secrets: { "file a.key": [here], WEIR_ENGINE_A: [here] } });
    expect(text).not.toMatch(/sk-/);
  });

  it("are none, and are not overwritten, where the file cannot be read", () => {
    originsIn().enter([byFile("a.key")]);
    writeFileSync(file, "{");
    expect(originsIn().refusal(byFile("a.key"))?.message).toBe(`The key file a.key is sent nowhere: ${file} cannot be read`);
    expect(originsIn().enter([byFile("a.key")])).toEqual([]);
    expect(() => originsIn().allow([byFile("a.key")])).toThrow("cannot be read");
    expect(readFileSync(file, "utf8")).toBe("{");
  });

  it("decide about a key at once, also for a reader that has read before", () => {
    const origins = originsIn();
    const reader = new EngineAccessReader({ key: { file: "a.key" } }, { variables: { WEIR_SECRETS_DIR: folder }, origins });
    expect(reader.at(here).ok).toBe(false);
    origins.enter([byFile("a.key")]);
    expect(reader.at(here)).toEqual({ ok: true, key: "sk-of-a", ca: null });
    expect(reader.at(there).ok).toBe(false);
  });
});
