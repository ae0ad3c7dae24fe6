import { describe, expect, it } from "vitest";

interface Host {
  readonly platform: string;
  readonly python: string | null;
  readonly compiler: string | null;
}

interface Refused {
  readonly sentence: string;
  readonly exitCode: number;
}

const { buildCommands, buildObstacle, serverProgram, targetFolder } = (await import("./buildLlamaServer.mjs" as string)) as {
  readonly buildCommands: (
    source: string,
    build: string,
    how: { readonly tool: (name: string) => string; readonly jobs: number },
  ) => readonly (readonly string[])[];
  readonly buildObstacle: (host: Host) => string | null;
  readonly serverProgram: (folder: string) => string;
  readonly targetFolder: (
    args: readonly string[],
    places: { readonly repository: string; readonly cwd: string },
  ) => Refused | { readonly folder: string };
};

const places = { repository: "/code/weir", cwd: "/code" };

describe("the folder of the build", () => {
  it("is the only argument, from where the command runs", () => {
    expect(targetFolder(["/opt/llama"], places)).toEqual({ folder: "/opt/llama" });
    expect(targetFolder(["llama"], places)).toEqual({ folder: "/code/llama" });
    expect(targetFolder(["weir-llama"], places)).toEqual({ folder: "/code/weir-llama" });
    expect(targetFolder(["..llama"], { ...places, cwd: "/code/weir/.." })).toEqual({ folder: "/code/..llama" });
  });

  it.each([[[]], [[""]], [["a", "b"]], [["--folder"]]])("is asked for with the usage where it is missing: %j", (args) => {
    expect(targetFolder(args, places)).toMatchObject({ exitCode: 2, sentence: expect.stringContaining("buildLlamaServer.mjs FOLDER") });
  });

  it("is not in the repository", () => {
    for (const inside of ["weir", "weir/llama", "/code/weir/..llama"])
      expect(targetFolder([inside], places)).toMatchObject({ exitCode: 2, sentence: expect.stringMatching(/is in the repository/) });
  });

  it("is not needed for help, which is no failure", () => {
    expect(targetFolder(["--help"], places)).toMatchObject({ exitCode: 0, sentence: expect.stringContaining("WEIR_LLAMA_SERVER") });
  });
});

describe("what is in the way of the build", () => {
  const host = { platform: "linux", python: "python3", compiler: "c++" };

  it("is nothing where Python and a compiler are", () => {
    expect(buildObstacle(host)).toBeNull();
    expect(buildObstacle({ ...host, platform: "darwin" })).toBeNull();
  });

  it.each([
    [{ platform: "win32" }, /on Linux and macOS only\.$/],
    [{ python: null }, /^The download needs Python 3\.10 to 3\.13/],
    [{ compiler: null }, /neither c\+\+, g\+\+ nor clang\+\+ was found: install one\.$/],
  ])("is said in a sentence: %j", (change, sentence) => {
    expect(buildObstacle({ ...host, ...change })).toMatch(sentence);
  });
});

it("builds the server alone, without pages to download, in the folder whose program it names", () => {
  const tool = (name: string): string => `/tools/${name}`;
  const [configure = [], build = []] = buildCommands("/llama/source/llama.cpp", "/llama/build", { tool, jobs: 2 });
  expect(configure.slice(0, 5)).toEqual(["/tools/cmake", "-S", "/llama/source/llama.cpp", "-B", "/llama/build"]);
  expect(configure).toEqual(expect.arrayContaining(["-DLLAMA_BUILD_UI=OFF", "-DLLAMA_CURL=OFF", "-DCMAKE_BUILD_TYPE=Release"]));
  expect(build).toEqual(["/tools/ninja", "-C", "/llama/build", "-j2", "llama-server"]);
  expect(serverProgram("/llama")).toBe("/llama/build/bin/llama-server");
});
