import { describe, expect, it } from "vitest";
import { readSettings } from "./settings";

const token = { WEIR_ADMIN_TOKEN: "t" };

describe("readSettings", () => {
  it("starts with the usual ports, real time and noisy engines", () => {
    const read = readSettings(token);
    expect(read).toMatchObject({
      ok: true,
      settings: { adminPort: 4620, dcgmPort: 4621, enginePortBase: 4630, timeScale: 1, noise: { enabled: true } },
    });
  });

  it("reads the cluster, the time scale and the switch of the noise", () => {
    const WEIR_EMBEDDED = '{"gpu":"h100-sxm","nodes":[{"name":"n","gpus":8}]}';
    const read = readSettings({ ...token, WEIR_EMBEDDED, WEIR_TIME_SCALE: "5", WEIR_EMULATOR_NOISE: "off" });
    expect(read).toMatchObject({ ok: true, settings: { timeScale: 5, noise: { enabled: false }, cluster: { gpu: "h100-sxm" } } });
  });

  it("reads a variable under its former name too, and prefers the new one", () => {
    const enabled = (environment: Record<string, string>) => readSettings({ ...token, ...environment });
    expect(enabled({ WEIR_TRUTH: "off" })).toMatchObject({ settings: { noise: { enabled: false } } });
    expect(enabled({ WEIR_TRUTH: "off", WEIR_EMULATOR_NOISE: "seeded" })).toMatchObject({ settings: { noise: { enabled: true } } });
  });

  it.each([
    [{}, /^WEIR_ADMIN_TOKEN is not set/],
    [{ ...token, WEIR_TIME_SCALE: "fast" }, /^WEIR_TIME_SCALE is "fast": /],
    [{ ...token, WEIR_EMULATOR_PORT: "70000" }, /^WEIR_EMULATOR_PORT is "70000": /],
    [{ ...token, WEIR_EMULATOR_NOISE: "on" }, /^WEIR_EMULATOR_NOISE is "on": /],
    [{ ...token, WEIR_EMBEDDED: "{" }, /^WEIR_EMBEDDED is \{: give JSON such as \{"gpu"/],
    [
      { ...token, WEIR_EMBEDDED: '{"gpu":"abacus","nodes":[{"name":"n","gpus":8}]}' },
      /^WEIR_EMBEDDED names the GPU "abacus": known are .*l40s/,
    ],
  ])("refuses %j with one sentence", (environment, sentence) => {
    const read = readSettings(environment);
    expect(read.ok ? "" : read.message).toMatch(sentence);
  });
});
