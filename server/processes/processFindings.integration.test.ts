import { expect, it } from "vitest";
import { connectionSchema } from "./processConnection";
import { processFindings, processObstacle } from "./processFindings";

const models = { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B-Instruct" }, "qwen2.5-7b": { source: "/weights/7b.gguf", engine: "llama.cpp" } };

it("names programs and variables of engines that are not on this host, and no fault that would keep one from attaching", async () => {
  const environment = { HF_TOKEN: { fromEnv: "NOT_SET" } };
  const found = await processFindings(connectionSchema.parse({ kind: "processes", models, environment }), { PATH: "/nowhere" });
  expect(found.map(({ level, sentence }) => `${level}: ${sentence}`)).toEqual([
    'warn: The program "vllm" was not found on this host.',
    'warn: The program "llama-server" was not found on this host.',
    "warn: The engines' variable HF_TOKEN refers to the studio's variable NOT_SET, which is not set.",
  ]);
});

it("says with what engines are started where it is there", async () => {
  const templates = { vllm: [process.execPath, "{port}"], "llama.cpp": [process.execPath, "-x", "{port}"] };
  const found = await processFindings(connectionSchema.parse({ kind: "processes", models, templates }), {});
  expect(found).toEqual([{ what: "engines", level: "ok", sentence: `Engines are started with ${process.execPath}.`, next: null }]);
});

it("names the commands that attaching runs on this host", async () => {
  const beside = [{ name: "judge", command: ["/usr/bin/python", "-c", "print(1)"] }];
  const found = await processFindings(connectionSchema.parse({ kind: "processes", models: {}, beside }), {});
  expect(found).toEqual([
    { what: "engines", level: "warn", sentence: 'Attaching runs judge on this host: /usr/bin/python -c "print(1)"', next: null },
  ]);
});

it("says that a host without /proc, ps and lsof cannot have engines as its processes", () => {
  expect(processObstacle({ PATH: "/nowhere" }, { platform: "darwin", proc: "/no/proc" })).toBe(
    "Engines cannot be processes of this computer, for want of ps and lsof: use Linux or macOS.",
  );
  expect(processObstacle({ PATH: "/nowhere" }, { proc: process.execPath })).toBeNull();
});

it("says on Windows that engines are started by hand and attached, whatever programs are there", () => {
  expect(processObstacle({ PATH: "/nowhere" }, { platform: "win32", proc: process.execPath })).toMatch(
    /^Weir cannot start processes on Windows yet\. Start the engine by hand \(`node dist\/engine\.mjs`, .*\) and attach it\.$/,
  );
});
