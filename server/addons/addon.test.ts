import { expect, it } from "vitest";
import { packagesFor } from "./addon";
import { addons } from "./catalogue";
import { unsupportedState } from "./installAddon";
import { npmLine, npmReason } from "./npmText";

const [realEngine] = addons;

it("names exact versions of the packages of one platform, and none of CUDA or Vulkan", () => {
  if (realEngine === undefined) throw new Error("There is no add-on.");
  const names = (platform: string, arch: string, musl = false) => Object.keys(packagesFor(realEngine, { platform, arch, musl }) ?? {});
  expect(names("linux", "x64")).toEqual(["node-llama-cpp", "@node-llama-cpp/linux-x64"]);
  expect(names("darwin", "arm64")).toEqual(["node-llama-cpp", "@node-llama-cpp/mac-arm64-metal"]);
  expect(names("win32", "x64")).toEqual(["node-llama-cpp", "@node-llama-cpp/win-x64"]);
  expect(names("linux", "x64", true)).toEqual([]);
  expect(names("freebsd", "x64")).toEqual([]);
  expect(unsupportedState(realEngine, { platform: "freebsd", arch: "x64", musl: false })).toEqual({
    kind: "unsupported",
    message: "Real engine (llama.cpp) has no prebuilt package for freebsd-x64.",
  });
  expect(Object.values(realEngine.packages).every((version) => /^\d+\.\d+\.\d+$/.test(version))).toBe(true);
});

it("shows fetched packages and says in one sentence why npm failed", () => {
  expect(npmLine("npm http fetch GET 200 https://registry.example/ora/-/ora-9.3.0.tgz 83ms (cache miss)")).toBe("Fetched ora-9.3.0");
  expect(npmLine("npm http fetch GET 200 https://registry.example/ora 83ms")).toBeNull();
  const ending = new Error("npm ended with code 1");
  expect(npmReason(["npm error code ENOTFOUND", "npm error network request failed"], ending)).toEqual({
    cause: "unreachable",
    reason: "The package registry cannot be reached (ENOTFOUND).",
  });
  expect(npmReason(["npm error code ETARGET", "npm error notarget No matching version found for x@9."], ending)).toEqual({
    cause: "npm",
    reason: "npm failed: notarget No matching version found for x@9.",
  });
  expect(npmReason([], ending)).toEqual({ cause: "npm", reason: "npm ended with code 1." });
});
